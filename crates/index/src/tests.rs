//! What the index finds, and what happens to it when others meddle.

use std::{fs, path::Path};

use ai_hist_model::{EventKind, Timestamp};

use crate::{
    Clause, Closeness, Demand, Doc, Filters, Identity, Index, IndexError, Mark, Page, Plan, Writer,
};

const PAGE: Page = Page { limit: 100, offset: 0 };
const WRITER_BYTES: usize = 15_000_000;

fn store(name: &str) -> Identity {
    Identity { store: name.to_owned() }
}

fn open(folder: &Path) -> Index {
    Index::open(folder, &store("a")).expect("opens")
}

fn writer(index: &Index) -> Writer {
    index.writer(WRITER_BYTES, 1).expect("takes the writer's place")
}

fn doc(row: u64, text: &str) -> Doc<'_> {
    Doc {
        row,
        session: row / 10,
        kind: EventKind::Message,
        agent: "claude",
        project: "/home/dev/my-app",
        at: Some(Timestamp(1000 * i64::try_from(row).unwrap())),
        tool: "",
        path: "",
        text,
    }
}

fn filled(folder: &Path, docs: &[Doc<'_>]) -> Index {
    let index = open(folder);
    let mut writer = writer(&index);
    for doc in docs {
        writer.add(doc).expect("adds");
    }
    writer.commit(up_to(docs.iter().map(|it| it.row).max().unwrap_or(0))).expect("commits");
    index
}

fn plan(text: &str) -> Plan {
    let closeness = Closeness::Exact;
    let clause = |it: &str| Clause { text: it.to_owned(), closeness };
    Plan { clauses: text.split(' ').map(clause).collect(), ..Plan::default() }
}

fn rows(index: &Index, plan: &Plan, tail: &[Doc<'_>]) -> Vec<u64> {
    let found =
        index.view().with_tail(tail).expect("takes the tail").search(plan, PAGE).expect("searches");
    assert_eq!(found.total, found.hits.len() as u64);
    found.hits.iter().map(|it| it.row).collect()
}

fn sorted(mut rows: Vec<u64>) -> Vec<u64> {
    rows.sort_unstable();
    rows
}

const TEXTS: &[&str] = &[
    "fn handleUserLogin() { todo!() }",
    "the user must login first",
    "RESTAURANT_SIGNALS = 3",
    "restaurant signals are words",
    "request failed with error-401 at src/auth/login.rs",
    "数据库迁移脚本",
    "İstanbul'da Straße, cafe\u{301}",
    "see CLAUDE.md and std::vector in C++",
    "commit 3f2a9bc1d4 on main",
];

fn up_to(row: u64) -> Mark {
    Mark { row, reindex: 0 }
}

#[test]
fn clauses_find_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let docs: Vec<_> = TEXTS.iter().zip(1..).map(|(text, row)| doc(row, text)).collect();
    let index = filled(dir.path(), &docs[1..]);
    let tail = &docs[..1];
    let all_indexed = tempfile::tempdir().unwrap();
    let index_of_all = filled(all_indexed.path(), &docs);
    let none_indexed = tempfile::tempdir().unwrap();
    let empty = open(none_indexed.path());
    for (text, closeness, expected) in [
        ("login", Closeness::Exact, &[1, 2, 5][..]),
        ("handleuserlogin", Closeness::Exact, &[1]),
        ("user login", Closeness::Exact, &[1]),
        ("UserLogin", Closeness::Exact, &[]),
        ("UserLogin", Closeness::Apart, &[1]),
        ("RESTAURANT_SIGNALS", Closeness::Exact, &[3]),
        ("RESTAURANT_SIGNALS", Closeness::Apart, &[3, 4]),
        ("error-401", Closeness::Exact, &[5]),
        ("401 error", Closeness::Exact, &[]),
        ("auth/login.rs", Closeness::Exact, &[5]),
        ("迁移", Closeness::Exact, &[6]),
        ("数据库迁移", Closeness::Exact, &[6]),
        ("本", Closeness::Exact, &[6]),
        ("据", Closeness::Exact, &[6]),
        ("移迁", Closeness::Exact, &[]),
        ("istanbul", Closeness::Exact, &[7]),
        ("STRASSE", Closeness::Exact, &[7]),
        ("caf\u{e9}", Closeness::Exact, &[7]),
        ("claude.MD", Closeness::Exact, &[8]),
        ("C++", Closeness::Exact, &[8]),
        ("3f2a9bc1d4", Closeness::Exact, &[9]),
        ("3f2a", Closeness::Prefix, &[9]),
        ("handleUs", Closeness::Prefix, &[1]),
        ("error-4", Closeness::Prefix, &[5]),
        ("restaurnt", Closeness::Fuzzy, &[3, 4]),
        ("lgoin", Closeness::Fuzzy, &[1, 2, 5]),
        ("\"*()-", Closeness::Exact, &[]),
        ("nothing_like_it", Closeness::Exact, &[]),
    ] {
        let clause = Clause { text: text.to_owned(), closeness };
        let plan = Plan { clauses: vec![clause], ..Plan::default() };
        assert_eq!(sorted(rows(&index_of_all, &plan, &[])), expected, "`{text}` {closeness:?}");
        assert_eq!(sorted(rows(&empty, &plan, &docs)), expected, "tail: `{text}` {closeness:?}");
        // A row before the watermark is known, so the tail adds nothing.
        let known: Vec<u64> = expected.iter().copied().filter(|it| *it != 1).collect();
        assert_eq!(sorted(rows(&index, &plan, tail)), known, "known: `{text}` {closeness:?}");
    }
}

#[test]
fn all_any_and_none_of_the_clauses() {
    let dir = tempfile::tempdir().unwrap();
    let docs = [doc(1, "alpha beta"), doc(2, "alpha"), doc(3, "beta"), doc(4, "gamma")];
    let index = filled(dir.path(), &docs);
    let all = plan("alpha beta");
    let any = Plan { demand: Demand::Any, ..all.clone() };
    let without = Plan { excluded: vec![Clause::exact("beta")], ..plan("alpha") };
    let rest = Plan { excluded: vec![Clause::exact("alpha")], ..Plan::default() };
    assert_eq!(rows(&index, &all, &[]), [1]);
    assert_eq!(sorted(rows(&index, &any, &[])), [1, 2, 3]);
    assert_eq!(rows(&index, &any, &[])[0], 1);
    assert_eq!(rows(&index, &without, &[]), [2]);
    assert_eq!(rows(&index, &rest, &[]), [4, 3]);
    assert_eq!(rows(&index, &Plan::default(), &[doc(5, "x")]), [5, 4, 3, 2, 1]);
}

#[test]
fn filters_keep_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let docs = [
        Doc { kind: EventKind::Prompt, agent: "codex", ..doc(1, "x") },
        Doc { tool: "mcp__github__create_issue", kind: EventKind::ToolCall, ..doc(12, "x") },
        Doc { path: "src/auth/userLogin.rs", kind: EventKind::FileEdit, ..doc(23, "x") },
        Doc { project: "/srv/other", at: None, ..doc(34, "x") },
    ];
    let index = filled(dir.path(), &docs);
    let none = Filters::default;
    for (filters, expected) in [
        (none(), &[1, 12, 23, 34][..]),
        (Filters { kinds: vec![EventKind::Prompt], ..none() }, &[1]),
        (Filters { kinds: vec![EventKind::Prompt, EventKind::FileEdit], ..none() }, &[1, 23]),
        (Filters { agents: vec!["codex".to_owned()], ..none() }, &[1]),
        (Filters { agents: vec!["nobody".to_owned()], ..none() }, &[]),
        (Filters { sessions: Some(vec![0, 3]), ..none() }, &[1, 34]),
        (Filters { sessions: Some(vec![]), ..none() }, &[]),
        (Filters { projects: vec!["my-app".to_owned()], ..none() }, &[1, 12, 23]),
        (Filters { projects: vec!["/home/dev/my".to_owned()], ..none() }, &[1, 12, 23]),
        (Filters { projects: vec!["oth".to_owned()], ..none() }, &[34]),
        (Filters { projects: vec!["///".to_owned()], ..none() }, &[]),
        (Filters { paths: vec!["userLogin.rs".to_owned()], ..none() }, &[23]),
        (Filters { tools: vec!["github".to_owned()], ..none() }, &[12]),
        (Filters { tools: vec!["MCP__github__create_issue".to_owned()], ..none() }, &[12]),
        (Filters { since: Some(Timestamp(12_000)), ..none() }, &[12, 23]),
        (Filters { until: Some(Timestamp(12_000)), ..none() }, &[1]),
        (Filters { last_row: Some(12), ..none() }, &[1, 12]),
    ] {
        let label = format!("{filters:?}");
        let with_words = Plan { filters: filters.clone(), ..plan("x") };
        assert_eq!(sorted(rows(&index, &with_words, &[])), expected, "{label}");
        let without = Plan { filters, ..Plan::default() };
        assert_eq!(sorted(rows(&index, &without, &[])), expected, "{label}");
    }
}

#[test]
fn what_people_say_comes_before_what_tools_print_and_the_fresh_before_the_old() {
    let dir = tempfile::tempdir().unwrap();
    let day = |n: i64| Some(Timestamp(n * 86_400_000));
    let index = filled(
        dir.path(),
        &[
            Doc { kind: EventKind::ToolResult, at: day(99), ..doc(1, "needle") },
            Doc { kind: EventKind::Prompt, at: day(99), ..doc(2, "needle") },
            Doc { at: day(1), ..doc(3, "needle") },
            Doc { at: day(99), ..doc(4, "needle") },
            Doc { at: day(99), ..doc(5, "needle") },
        ],
    );
    let plan = Plan { now: day(100), ..plan("needle") };
    assert_eq!(rows(&index, &plan, &[]), [2, 5, 4, 3, 1]);
}

#[test]
fn pages_put_together_are_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let docs: Vec<_> = (1..=20).map(|row| doc(row, "same words")).collect();
    let index = filled(dir.path(), &docs[..15]);
    let view = index.view().with_tail(&docs).expect("takes the tail");
    let mut walked = Vec::new();
    for page in 0..7 {
        let page = Page { limit: 3, offset: 3 * page };
        let found = view.search(&plan("words"), page).expect("searches");
        assert_eq!(found.total, 20);
        walked.extend(found.hits.iter().map(|it| it.row));
    }
    assert_eq!(walked, (1..=20).rev().collect::<Vec<u64>>());
    let none = Page { limit: 0, offset: 0 };
    assert_eq!(index.view().search(&plan("words"), none).expect("searches").total, 15);
}

#[test]
fn a_document_added_again_takes_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[doc(1, "old"), doc(2, "other")]);
    let mut writer = writer(&index);
    writer.add(&doc(1, "new")).expect("adds");
    writer.add(&doc(3, "third")).expect("adds");
    writer.add(&doc(3, "third again")).expect("adds");
    writer.remove(2);
    assert_eq!(rows(&index, &plan("old"), &[]), [1], "nothing is seen before the commit");
    writer.commit(up_to(3)).expect("commits");
    assert_eq!(rows(&index, &plan("old"), &[]), [0; 0]);
    assert_eq!(sorted(rows(&index, &Plan::default(), &[])), [1, 3]);
    writer.remove_session(0);
    writer.commit(up_to(3)).expect("commits");
    assert_eq!(rows(&index, &Plan::default(), &[]), [0; 0]);
}

#[test]
fn a_reader_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("index");
    let index = open(&folder);
    assert_eq!((index.mark().row, rows(&index, &plan("x"), &[])), (0, vec![]));
    assert!(!folder.exists());
    drop(filled(&folder, &[doc(7, "x")]));
    let files = || {
        let mut files: Vec<_> = walk(&folder).into_iter().map(|it| it.0).collect();
        files.sort();
        files
    };
    let before = files();
    let reader = open(&folder);
    assert_eq!((reader.mark().row, rows(&reader, &plan("x"), &[])), (7, vec![7]));
    assert_eq!(files(), before);
    assert_eq!(index.mark().row, 7, "a reader sees what another wrote");
}

#[test]
fn nobody_else_may_read_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("index");
    let index = filled(&folder, &[doc(1, "x")]);
    let mut writer = writer(&index);
    writer.add(&doc(2, "y")).expect("adds");
    writer.commit(up_to(2)).expect("commits");
    #[cfg(unix)]
    for (path, metadata) in walk(dir.path()).into_iter().filter(|it| it.0 != dir.path()) {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(metadata.permissions().mode() & 0o077, 0, "`{}`", path.display());
    }
}

#[test]
fn there_is_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path());
    let first = writer(&index);
    assert!(matches!(open(dir.path()).writer(WRITER_BYTES, 1), Err(IndexError::Busy)));
    first.close().expect("closes");
    writer(&index);
}

#[test]
fn a_foreign_or_damaged_index_counts_as_empty_and_is_built_anew() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 5] = [
        ("meta emptied", |it| fs::write(it.join("meta.json"), "").unwrap()),
        ("meta gone", |it| fs::remove_file(it.join("meta.json")).unwrap()),
        ("segments gone", |it| each_segment(it, |file| fs::remove_file(file).unwrap())),
        ("segments emptied", |it| each_segment(it, |file| fs::write(file, "").unwrap())),
        ("everything gone", |it| fs::remove_dir_all(it).unwrap()),
    ];
    for (label, harm) in harms {
        let dir = tempfile::tempdir().unwrap();
        drop(filled(dir.path(), &[doc(1, "x")]));
        harm(&dir.path().join(fs::read_to_string(dir.path().join("CURRENT")).unwrap().trim()));
        let index = open(dir.path());
        assert_eq!((index.mark().row, rows(&index, &plan("x"), &[])), (0, vec![]), "{label}");
        let mut writer = writer(&index);
        assert_eq!(writer.mark().row, 0, "{label}");
        writer.add(&doc(1, "x")).expect("adds");
        writer.commit(up_to(1)).expect("commits");
        assert_eq!((index.mark().row, rows(&index, &plan("x"), &[])), (1, vec![1]), "{label}");
        assert_eq!(index.view().problem(), None, "{label}");
    }
}

#[test]
fn an_index_that_changed_where_nobody_looks_is_found_by_its_checksums() {
    let dir = tempfile::tempdir().unwrap();
    let docs: Vec<_> = TEXTS.iter().zip(1..).map(|(text, row)| doc(row, text)).collect();
    drop(filled(dir.path(), &docs));
    let index = open(dir.path());
    index.check().expect("is whole");
    for (path, _) in walk(dir.path()).iter().filter(|it| it.0.extension() == Some("pos".as_ref())) {
        let mut bytes = fs::read(path).unwrap();
        bytes[1] ^= 0xff;
        fs::write(path, bytes).unwrap();
    }
    let reopened = open(dir.path());
    assert_eq!(reopened.mark().row, 9);
    assert!(matches!(reopened.check(), Err(IndexError::Damaged { .. })));
    assert_eq!((reopened.mark().row, rows(&reopened, &plan("user"), &[])), (0, vec![]));
    assert!(reopened.view().problem().is_some());
    let mut writer = writer(&reopened);
    assert_eq!(writer.mark().row, 0);
    writer.add(&doc(1, "user")).expect("adds");
    writer.commit(up_to(1)).expect("commits");
    assert_eq!(rows(&reopened, &plan("user"), &[]), [1]);
    reopened.check().expect("is whole again");
}

#[test]
fn what_a_killed_writer_left_behind_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path(), &[doc(1, "x")]));
    let generation = fs::read_to_string(dir.path().join("CURRENT")).unwrap();
    let generation = dir.path().join(generation.trim());
    let n_files = walk(&generation).len();
    for orphan in ["0123456789abcdef0123456789abcdef.idx", ".tmpA1b2C3"] {
        fs::write(generation.join(orphan), "x").unwrap();
    }
    let index = open(dir.path());
    drop(writer(&index));
    assert_eq!(walk(&generation).len(), n_files);
    assert_eq!(rows(&index, &plan("x"), &[]), [1]);
}

#[test]
fn an_index_of_another_store_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path(), &[doc(1, "x")]));
    let other = Index::open(dir.path(), &store("b")).expect("opens");
    assert_eq!((other.mark().row, rows(&other, &plan("x"), &[])), (0, vec![]));
    assert!(other.view().problem().is_some());
    let writer = writer(&other);
    assert_eq!(writer.mark().row, 0);
    drop(writer);
    let generations = fs::read_dir(dir.path())
        .unwrap()
        .filter(|it| it.as_ref().unwrap().file_type().unwrap().is_dir());
    assert_eq!(generations.count(), 1, "the old generation is removed");
}

#[test]
fn a_newer_version_s_index_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path(), &[doc(1, "x")]));
    let newer = dir.path().join("9.1.5");
    fs::create_dir(&newer).unwrap();
    fs::write(newer.join("meta.json"), "{}").unwrap();
    fs::write(dir.path().join("CURRENT"), "9.1.5\n").unwrap();
    let index = open(dir.path());
    assert_eq!(index.mark().row, 0);
    assert!(index.view().problem().is_some());
    assert!(matches!(index.writer(WRITER_BYTES, 1), Err(IndexError::TooNew { .. })));
    assert!(newer.exists());
}

#[test]
fn a_view_stays_while_the_index_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[doc(1, "x")]);
    let view = index.view();
    let mut writer = writer(&index);
    writer.add(&doc(2, "x")).expect("adds");
    writer.commit(up_to(2)).expect("commits");
    let count = |it: &crate::View| it.search(&plan("x"), PAGE).expect("searches").total;
    assert_eq!((view.watermark(), count(&view)), (1, 1));
    writer.restart().expect("restarts");
    assert_eq!((view.watermark(), count(&view)), (1, 1));
    assert_eq!((index.mark().row, count(&index.view())), (0, 0));
    writer.add(&doc(1, "x")).expect("adds");
    writer.commit(up_to(1)).expect("commits");
    assert_eq!((index.mark().row, count(&index.view())), (1, 1));
}

fn each_segment(folder: &Path, harm: fn(&Path)) {
    for (path, metadata) in walk(folder) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if metadata.is_file() && !name.starts_with('.') && name != "meta.json" {
            harm(&path);
        }
    }
}

fn walk(folder: &Path) -> Vec<(std::path::PathBuf, fs::Metadata)> {
    let mut found = vec![(folder.to_owned(), fs::metadata(folder).unwrap())];
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push((entry.path(), entry.metadata().unwrap()));
        }
    }
    found
}

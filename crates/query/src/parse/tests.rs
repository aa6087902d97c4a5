//! What a query means.

use ai_hist_model::EventKind;
use proptest::prelude::*;

use super::*;

/// The words, `-` before what must not occur, `*` after a prefix, `'` around what has spaces.
fn words(query: &Query) -> String {
    let show = |sign: &str, it: &Clause| {
        let quote = if it.text.contains(' ') { "'" } else { "" };
        let star = if it.closeness == Closeness::Prefix { "*" } else { "" };
        format!("{sign}{quote}{}{quote}{star}", it.text)
    };
    let wanted = query.words.iter().map(|it| show("", it));
    wanted.chain(query.excluded.iter().map(|it| show("-", it))).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_no_syntax_is_text() {
    for (text, expected) in [
        ("", ""),
        ("fix login fix", "fix login"),
        ("\"connection refused\" now", "'connection refused' now"),
        ("\"a\"b", "a b"),
        ("\"x", "\"x"),
        ("\"x y", "\"x y"),
        ("hand*", "hand*"),
        ("a*b", "a*b"),
        ("* ** \"\" -", ""),
        ("fix -draft -\"not yet\"", "fix -draft -'not yet'"),
        ("fix -\"x", "fix -\"x"),
        ("-draft", "draft"),
        ("-- -x", "-x"),
        ("ls -l", "ls -l"),
        ("cargo --release", "cargo --release"),
        ("status:500 C++ $HOME a.b.c", "status:500 C++ $HOME a.b.c"),
        ("a AND b OR NEAR(a", "a AND b OR NEAR(a"),
        ("std::vector http://a.b/c", "std::vector http://a.b/c"),
        ("{\"a\": 1}", "{\"a\": 1}"),
        ("数据库 İstanbul", "数据库 İstanbul"),
    ] {
        let query = parse(text);
        assert_eq!(words(&query), expected, "`{text}`");
        assert_eq!(query.problems, [], "`{text}`");
        assert_eq!(query.wanted, Wanted::default(), "`{text}`");
    }
    assert!(parse("*** \"").is_wordless);
    assert!(!parse("").is_wordless && !parse("* x").is_wordless);
}

#[test]
fn filters_are_taken() {
    let texts = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let query = parse(
        "source:Codex source:claude project:\"my app\" cwd:/home/a path:b.rs tool:Bash \
         session:codex:3f2a after:1970-01-02 before:1970-01-03 fix",
    );
    assert_eq!((words(&query).as_str(), &query.problems[..]), ("fix", &[][..]));
    let wanted = Wanted {
        sources: texts(&["codex", "claude"]),
        kinds: None,
        projects: texts(&["my app", "/home/a"]),
        paths: texts(&["b.rs"]),
        tools: texts(&["Bash"]),
        sessions: texts(&["codex:3f2a"]),
        after: Some(Timestamp(86_400_000)),
        before: Some(Timestamp(2 * 86_400_000)),
    };
    assert_eq!(query.wanted, wanted);
}

#[test]
fn kinds_add_up_and_roles_narrow_them() {
    use EventKind::{FileEdit, Message, Prompt, ToolCall, ToolResult};
    for (text, expected) in [
        ("kind:prompt", &[Prompt][..]),
        ("kind:prompt,message", &[Prompt, Message]),
        ("kind:prompt kind:tool-call", &[Prompt, ToolCall]),
        ("kind:tool", &[ToolResult, FileEdit]),
        ("role:tool -kind:file_edit", &[ToolResult]),
        ("kind:prompt role:tool", &[]),
    ] {
        let query = parse(text);
        assert_eq!(query.wanted.kinds.as_deref(), Some(expected), "`{text}`");
        assert_eq!((words(&query).as_str(), &query.problems[..]), ("", &[][..]), "`{text}`");
    }
    let rest = parse("-kind:prompt").wanted.kinds.unwrap();
    assert!(!rest.contains(&Prompt) && rest.len() == EventKind::ALL.len() - 1);
}

#[test]
fn a_filter_that_says_nothing_is_text_and_a_problem() {
    for (text, expected) in [
        ("kind:nonsense", "kind:nonsense"),
        ("source: x", "source: x"),
        ("source:a/b", "source:a/b"),
        ("after:yesterday", "after:yesterday"),
        ("before:2026-02-30", "before:2026-02-30"),
        ("model:opus", "model:opus"),
        ("x -source:codex", "x -source:codex"),
    ] {
        let query = parse(text);
        assert_eq!(words(&query), expected, "`{text}`");
        assert_eq!(query.problems.len(), 1, "`{text}`");
        assert_eq!(query.wanted, Wanted::default(), "`{text}`");
    }
}

#[test]
fn a_long_query_is_cut_and_says_so() {
    let text = (0..1_000).map(|it| format!("w{it}")).collect::<Vec<_>>().join(" ");
    let query = parse(&text);
    assert_eq!(query.words.len(), MAX_WORDS);
    assert_eq!(query.problems.len(), 1);
    assert_eq!(parse(&"x".repeat(200)).words.len(), 1);
}

proptest! {
    #[test]
    fn any_text_is_a_query(text in "[ -~\"*:\u{e9}\u{5e93}\\-]{0,60}|(source|kind|after|-|\"|:| |x|,){0,20}") {
        let query = parse(&text);
        for problem in &query.problems {
            prop_assert!(text.get(problem.range.clone()).is_some());
        }
    }

    #[test]
    fn any_character_is_welcome(text in any::<String>()) {
        parse(&text);
    }
}

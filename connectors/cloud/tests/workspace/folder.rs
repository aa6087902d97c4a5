//! What is made where, for whom, and what is refused.

use std::{fs, path::Path};

use ai_hist_connector::{
    ConnectorError,
    model::{Coded as _, ErrorCode},
};

use crate::support::{Member, Place, events, key};

#[test]
fn nothing_is_made_before_the_first_push() {
    let place = Place::new();
    let member = place.member();
    assert_eq!(member.head(&key("s-1")).expect("asks"), None);
    assert!(member.0.locate(&key("s-1")).expect("asks").is_empty());
    assert!(!place.folder.exists());
    member.push(0, &events("a", 0..1)).expect("pushes");
    assert!(place.file().is_file());
}

#[test]
fn an_empty_file_is_a_workspace_that_was_not_finished() {
    let place = Place::new();
    fs::create_dir(&place.folder).expect("makes");
    fs::write(place.file(), "").expect("writes");
    assert_eq!(place.member().head(&key("s-1")).expect("asks"), None);
    place.member().push(0, &events("a", 0..1)).expect("pushes");
    assert_eq!(place.member().read().events(), events("a", 0..1));
}

#[cfg(unix)]
mod modes {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("is there").permissions().mode() & 0o7777
    }

    #[test]
    fn what_is_made_is_the_users_alone() {
        let place = Place::new();
        let member = place.member();
        member.push(0, &events("a", 0..1)).expect("pushes");
        assert_eq!(mode(&place.folder), 0o700);
        for entry in fs::read_dir(&place.folder).expect("lists") {
            let path = entry.expect("lists").path();
            assert_eq!(mode(&path), 0o600, "`{}`", path.display());
        }
    }

    #[test]
    fn a_folder_of_a_group_stays_so_and_the_file_is_the_groups() {
        for (folder, file) in [(0o2770, 0o660), (0o777, 0o660), (0o755, 0o600), (0o700, 0o600)] {
            let place = Place::new();
            fs::create_dir(&place.folder).expect("makes");
            fs::set_permissions(&place.folder, fs::Permissions::from_mode(folder)).expect("sets");
            place.member().push(0, &events("a", 0..1)).expect("pushes");
            assert_eq!(mode(&place.folder), folder);
            assert_eq!(mode(&place.file()), file, "in a folder of {folder:o}");
        }
    }

    #[test]
    fn a_link_in_place_of_the_file_is_refused() {
        let place = Place::new();
        let other = Place::new();
        other.member().push(0, &events("a", 0..1)).expect("pushes");
        fs::create_dir(&place.folder).expect("makes");
        std::os::unix::fs::symlink(other.file(), place.file()).expect("links");
        let refused = place.member().head(&key("s-1"));
        assert!(matches!(refused, Err(ConnectorError::Unreachable { .. })));
        assert!(place.member().push(0, &events("b", 0..1)).is_err());
        assert_eq!(other.member().read().events(), events("a", 0..1));
    }

    #[test]
    fn a_folder_may_be_a_link() {
        let place = Place::new();
        place.member().push(0, &events("a", 0..1)).expect("pushes");
        let link = place.folder.with_file_name("link");
        std::os::unix::fs::symlink(&place.folder, &link).expect("links");
        let member = Member::of(&link, "team");
        assert_eq!(member.read().events(), events("a", 0..1));
    }
}

#[test]
fn a_place_out_of_reach_is_no_empty_workspace() {
    let place = Place::new();
    let root = place.folder.parent().expect("has a parent");
    fs::write(root.join("file"), "").expect("writes");
    fs::create_dir_all(root.join("odd/workspace.db")).expect("makes");
    for folder in ["gone/team", "gone/and/team", "file", "file/team", "odd"] {
        let member = Member::of(&root.join(folder), "team");
        for outcome in [
            member.head(&key("s-1")).map(|_| ()),
            member.0.locate(&key("s-1")).map(|_| ()),
            member.push(0, &events("a", 0..1)).map(|_| ()),
        ] {
            let error = outcome.expect_err("refuses");
            assert!(matches!(error, ConnectorError::Unreachable { .. }), "`{folder}`: {error}");
            assert_eq!(error.code(), ErrorCode::HandoffSourceUnavailable);
            assert!(error.hint().is_some());
        }
    }
    assert!(!root.join("gone").exists());
}

#[test]
fn a_place_that_cannot_be_written_is_out_of_reach() {
    let place = Place::new();
    place.member().push(0, &events("a", 0..3)).expect("pushes");
    // Works for every user, unlike a mode: the log's place is taken by a folder.
    let journal = |kind: &str| place.folder.join(format!("workspace.db-{kind}"));
    for kind in ["wal", "journal"] {
        let _ = fs::remove_file(journal(kind));
        fs::create_dir(journal(kind)).expect("makes");
        fs::write(journal(kind).join("x"), "").expect("writes");
    }
    let refused = place.member().push(3, &events("a", 3..4)).expect_err("refuses");
    assert!(matches!(refused, ConnectorError::Unreachable { .. }), "{refused}");
    for kind in ["wal", "journal"] {
        fs::remove_dir_all(journal(kind)).expect("removes");
    }
    assert_eq!(place.member().read().events(), events("a", 0..3));
}

#[test]
fn a_newer_workspace_and_a_file_of_others_are_refused() {
    for (sql, expected) in [
        (
            "PRAGMA user_version = 9",
            "option `path` names a workspace of schema 9, and this version knows up to 1",
        ),
        (
            "PRAGMA application_id = 7",
            "option `path` names a folder whose `workspace.db` is of another program",
        ),
    ] {
        let place = Place::new();
        let open = place.member();
        open.push(0, &events("a", 0..1)).expect("pushes");
        let db = rusqlite::Connection::open(place.file()).expect("opens");
        db.execute_batch(sql).expect("executes");
        // Also by a member that had it open when it changed.
        for member in [place.member(), open] {
            for outcome in [
                member.head(&key("s-1")).map(|_| ()),
                member.push(1, &events("a", 1..2)).map(|_| ()),
            ] {
                let error = outcome.expect_err("refuses");
                assert_eq!(error.to_string(), expected);
                assert_eq!(error.code(), ErrorCode::ConnectorConfigInvalid);
                assert!(error.hint().is_some());
            }
        }
    }
}

#[test]
fn a_folder_that_was_replaced_is_noticed() {
    let place = Place::new();
    let member = place.member();
    member.push(0, &events("a", 0..5)).expect("pushes");
    let cursor = member.read().cursor().clone();
    fs::remove_dir_all(&place.folder).expect("removes");
    let other = place.member();
    other.push(0, &events("b", 0..8)).expect("pushes");
    member.push(8, &events("b", 8..9)).expect("pushes to the new one");
    assert_eq!(other.read().events(), events("b", 0..9));
    let reading = member.read_from(Some(&cursor), crate::support::EVERYTHING).expect("reads");
    assert_eq!(reading.events(), events("b", 0..9), "a cursor into the old one restarts");
    fs::remove_dir_all(&place.folder).expect("removes");
    assert_eq!(member.head(&key("s-1")).expect("asks"), None);
}

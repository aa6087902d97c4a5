//! A place with no room, or where nothing may be written.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    process::{Command, Output},
    time::SystemTime,
};

use crate::{
    compare,
    machine::{Machine, Place, is_loud, text},
    snapshot::Snapshot,
    transcript::SUBJECTS,
    world::{Size, World},
};

const SIZE: Size = Size { claude: 10, codex: 5, records: 12, long: 1, long_records: 1_500 };

/// The shell of a process that may mount what only it sees, where the system lets us make one.
fn mounting_shell() -> Option<&'static [&'static str]> {
    const SHELLS: [&[&str]; 2] = [&["unshare", "-m", "/bin/sh"], &["unshare", "-rm", "/bin/sh"]];
    SHELLS.into_iter().find(|shell| {
        let mut command = Command::new(shell[0]);
        let made = command.args(&shell[1..]).args(["-c", "mount -t tmpfs tmpfs /mnt"]).output();
        made.is_ok_and(|it| it.status.success())
    })
}

/// A world, and what stands in a state folder that read it in peace.
fn reference(machine: &Machine) -> (World, Snapshot) {
    let world = World::new(&machine.home(), SIZE, 11);
    let place = machine.place("reference");
    place.sync();
    (world, Snapshot::of(place))
}

fn check(place: Place<'_>, world: &World, reference: &Snapshot) {
    let verdict = compare::verdict(&Snapshot::of(place), reference, world);
    let faults = verdict.faults;
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), compare::shown(&faults));
}

#[test]
fn a_file_that_may_not_grow_is_said_and_made_good_once_it_may() {
    let machine = Machine::new();
    let (world, reference) = reference(&machine);
    // In blocks of 512 bytes. A write beyond is refused, as on a disk that is full.
    let tight = ["0", "1", "8", "64", "500", "2000", "20000"];
    let mut n_said = 0;
    for n_blocks in tight {
        let name = format!("tight-{n_blocks}");
        let place = machine.place(&name);
        let before = format!("trap '' XFSZ; ulimit -f {n_blocks}");
        let mut command = place.command_after(&["/bin/sh"], &before, &["sync", "--json"]);
        let output = command.output().expect("runs");
        assert!(
            output.status.success() || is_loud(&output),
            "{n_blocks} blocks: {}\n{}\n{}",
            output.status,
            text(&output.stdout),
            text(&output.stderr)
        );
        n_said += usize::from(!output.status.success());
        place.sync();
        check(place, &world, &reference);
    }
    assert!((1..tight.len()).contains(&n_said), "{n_said} of {tight:?} were too tight");
}

#[test]
fn a_full_disk_is_said_and_made_good_once_there_is_room() {
    let Some(shell) = mounting_shell() else {
        // The limit on a file's size, above, is what can be had here.
        return;
    };
    let machine = Machine::new();
    let (world, reference) = reference(&machine);
    for n_kib in [60, 150, 300, 600] {
        let name = format!("full-{n_kib}");
        let place = machine.place(&name);
        fs::create_dir(place.state()).expect("makes a folder");
        // The disk goes with its process, so what came of it is copied out.
        let before = format!(
            "set -e
            mount -t tmpfs -o size={n_kib}k tmpfs \"$AI_HIST_HOME\"
            if \"$0\" sync --json; then echo all fits; exit 1; fi
            mount -o remount,size=256m \"$AI_HIST_HOME\"
            \"$0\" sync >&2
            cp -a \"$AI_HIST_HOME\" \"$AI_HIST_HOME\"-freed
            exit 0"
        );
        let output = place.command_after(shell, &before, &[]).output().expect("runs");
        let (said, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{n_kib} KiB: {said}\n{errors}");
        assert!(said.contains("\"hint\":\""), "{n_kib} KiB: {said}");
        let name = format!("{name}-freed");
        check(machine.place(&name), &world, &reference);
    }
}

/// Each file of the home, with its content and when it was last written.
fn files(world: &World) -> BTreeMap<PathBuf, (String, SystemTime)> {
    let stated = |(path, content): (PathBuf, String)| {
        let written = fs::metadata(&path).and_then(|it| it.modified()).expect("is there");
        assert_eq!(fs::read_to_string(&path).expect("reads"), content, "{}", path.display());
        (path, (content, written))
    };
    world.files().into_iter().map(stated).collect()
}

/// Runs the program where nothing can be written below `folder`.
fn run_read_only(place: Place<'_>, folder: &str, args: &[&str]) -> Output {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let mut command = match mounting_shell() {
        Some(shell) => {
            let before = format!(
                "set -e
                mount --bind \"${folder}\" \"${folder}\"
                mount -o remount,ro,bind \"${folder}\""
            );
            place.command_after(shell, &before, &args)
        }
        None => {
            let before = format!(
                "chmod -R a-w \"${folder}\"
                \"$0\" \"$@\"
                status=$?
                chmod -R u+w \"${folder}\"
                exit $status"
            );
            place.command_after(&["/bin/sh"], &before, &args)
        }
    };
    command.output().expect("runs")
}

#[test]
fn a_home_that_cannot_be_written_is_read_all_the_same_and_none_ever_is() {
    let machine = Machine::new();
    let (world, reference) = reference(&machine);
    let before = files(&world);
    let place = machine.place("of-read-only");
    let session = world.transcripts[0].name();
    for args in [
        &["sync"][..],
        &["search", SUBJECTS[0]],
        &["events", &session],
        &["handoff", "create", "--session", &session, "go on"],
    ] {
        let output = run_read_only(place, "HOME", args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stdout));
    }
    check(place, &world, &reference);
    assert_eq!(files(&world), before, "what agents wrote was changed");
}

#[test]
fn a_state_folder_that_cannot_be_written_is_said_and_left_as_it_is() {
    if mounting_shell().is_none() && rustix::process::geteuid().is_root() {
        // Permissions do not bind root, and it may not mount here: there is no such folder.
        return;
    }
    let machine = Machine::new();
    let (mut world, _) = reference(&machine);
    let place = machine.place("reference");
    let sought = place.json(&["search", SUBJECTS[0]]);
    for _ in 0..20 {
        world.append_anywhere(1);
    }
    for args in [&["sync"][..], &["search", SUBJECTS[0]], &["sessions"]] {
        let output = run_read_only(place, "AI_HIST_HOME", args);
        let is_answer = args[0] != "sync" && output.status.success();
        assert!(is_answer || is_loud(&output), "{args:?}: {}", text(&output.stdout));
    }
    place.sync();
    let sought_later = place.json(&["search", SUBJECTS[0]]);
    assert!(sought["total"].as_u64() <= sought_later["total"].as_u64());
    let reference = machine.place("later");
    reference.sync();
    check(place, &world, &Snapshot::of(reference));
}

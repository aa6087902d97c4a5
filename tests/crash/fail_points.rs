//! Each step of a pass fails once, in each way: whatever that leaves behind, the next pass in
//! peace makes it what it would have been.
//!
//! Only with the feature `failpoints`; the points stand in the crates that have it.

use std::{fs, os::unix::process::ExitStatusExt as _, process::Output};

use serde_json::Value;

use crate::{
    compare, database,
    machine::{Machine, Place, is_loud, text},
    snapshot::Snapshot,
    transcript::SUBJECTS,
    world::{Size, World},
};

/// Every point that a `sync` passes.
const POINTS: &[&str] = &[
    "store::begin",
    "store::batch",
    "store::archive",
    "store::cursor",
    "store::commit",
    "ingest::open",
    "ingest::batch",
    "ingest::end",
    "ingest::follow",
    "index::add",
    "index::prepare",
    "index::commit",
    "index::publish",
];

/// How a point fails the first time it is passed, and the third. An argument of `exit` ends the
/// process on the spot.
const PANICS: [&str; 2] = ["1*panic->off", "2*off->1*panic->off"];
/// See [`PANICS`].
const ERRORS: [&str; 2] = ["1*return->off", "2*off->1*return->off"];
/// See [`PANICS`].
const ENDS: [&str; 2] = ["1*return(exit)->off", "2*off->1*return(exit)->off"];

/// What is searched for, as each search is a process.
const SOUGHT: &[&str] = &[SUBJECTS[3]];

const SIZE: Size = Size { claude: 8, codex: 5, records: 6, long: 1, long_records: 2_400 };

#[test]
fn what_a_panic_leaves_is_made_good() {
    check(PANICS, |output| {
        // A thread of the index that panics is an error of the index.
        output.status.code() == Some(101) || is_loud(output)
    });
}

#[test]
fn what_an_error_leaves_is_made_good() {
    check(ERRORS, |output| is_loud(output) || is_recorded(output));
}

#[test]
fn what_a_sudden_end_leaves_is_made_good() {
    const ABORTED: i32 = 6;
    check(ENDS, |output| output.status.signal() == Some(ABORTED));
}

/// Whether a transcript could not be read, and the rest was: one that fails stops no other.
fn is_recorded(output: &Output) -> bool {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    output.status.success() && report["n_failed"] == 1
}

/// Makes each point fail in these ways, in a pass over a home that is new and in one over a home
/// that has changed since.
fn check(ways: [&str; 2], is_said: fn(&Output) -> bool) {
    let machine = Machine::new();
    let mut world = World::new(&machine.home(), SIZE, 5);
    let earlier = machine.place("earlier");
    earlier.sync();
    for _ in 0..60 {
        world.change();
    }
    let reference = machine.place("reference");
    reference.sync();
    let reference = Snapshot::of_some(reference, SOUGHT);
    let mut faults = Vec::new();
    for point in POINTS {
        let mut n_said = 0;
        for way in ways {
            for start in [None, Some(earlier)] {
                let place = match start {
                    None => machine.place("failed"),
                    Some(earlier) => earlier.copied("failed"),
                };
                let output = fail(place, point, way);
                let what = format!("{point}={way}, from {}", start.map_or("nothing", |_| "before"));
                if is_said(&output) {
                    n_said += 1;
                } else if !output.status.success() {
                    let (said, errors) = (text(&output.stdout), text(&output.stderr));
                    faults.push(format!("{what}: {} {said} {errors}", output.status));
                }
                place.sync();
                let verdict =
                    compare::verdict(&Snapshot::of_some(place, SOUGHT), &reference, &world);
                faults.extend(verdict.faults.iter().map(|it| format!("{what}: {it}")));
                faults.extend(database::faults_below(&place.state()));
                fs::remove_dir_all(place.state()).expect("removes");
            }
        }
        if n_said == 0 {
            faults.push(format!("{point}: never failed, or not so that anybody was told"));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), compare::shown(&faults));
}

fn fail(place: Place<'_>, point: &str, way: &str) -> Output {
    let mut command = place.command(&["sync", "--json"]);
    command.env("FAILPOINTS", format!("{point}={way}")).output().expect("runs")
}

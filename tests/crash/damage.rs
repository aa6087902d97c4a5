//! Files of a state folder that something else has damaged.
//!
//! The index is derived from the store, so it is made anew, and meanwhile nothing is missing from
//! an answer. The store is the truth, so what is wrong with it is said.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use fastrand::Rng;
use serde_json::Value;

use crate::{
    answers::{self, Hit},
    chance::{any_seed, parameter},
    machine::{Machine, Place, is_loud, text},
    transcript::SUBJECTS,
    world::{Size, World},
};

const SIZE: Size = Size { claude: 10, codex: 5, records: 12, long: 1, long_records: 300 };

/// What is searched for. Three words of twelve: each damage is tried with each.
const SOUGHT: &[&str] = &[SUBJECTS[0], SUBJECTS[5], SUBJECTS[11]];

/// A machine whose state folder `sound` has read everything.
fn machine() -> Machine {
    let machine = Machine::new();
    World::new(&machine.home(), SIZE, 7);
    machine.place("sound").sync();
    machine
}

/// What is found of each word, in order of session and number: how well a hit matches is told from
/// what else there is in its part of the index, and the parts may be others afterwards.
fn found(place: Place<'_>) -> BTreeMap<&'static str, Vec<Hit>> {
    let sorted = |word: &&'static str| {
        let mut hits = answers::hits(place, word);
        hits.sort();
        (*word, hits)
    };
    SOUGHT.iter().map(sorted).collect()
}

/// The folder of the index that is in use.
fn generation(index: &Path) -> PathBuf {
    index.join(fs::read_to_string(index.join("CURRENT")).expect("reads").trim_end())
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("lists a folder");
    let mut files: Vec<PathBuf> = entries.map(|it| it.expect("lists a folder").path()).collect();
    files.sort();
    files
}

/// Turns the bits of `n_bytes` bytes around.
fn flip(path: &Path, at: usize, n_bytes: usize) {
    let mut bytes = fs::read(path).expect("reads");
    for byte in bytes.iter_mut().skip(at).take(n_bytes) {
        *byte ^= 0xff;
    }
    fs::write(path, bytes).expect("writes");
}

type Damage = (&'static str, fn(&Path));

/// Damage to an index of which nothing need be read to see it.
const PLAIN_DAMAGE: &[Damage] = &[
    ("the index is gone", |index| fs::remove_dir_all(index).expect("removes")),
    ("nothing names the one in use", |index| {
        fs::remove_file(index.join("CURRENT")).expect("removes");
    }),
    ("the name of the one in use is empty", |index| {
        fs::write(index.join("CURRENT"), "").expect("writes");
    }),
    ("the name of the one in use is no text", |index| {
        fs::write(index.join("CURRENT"), b"\xff\xfe\x00").expect("writes");
    }),
    ("the one in use is gone", |index| fs::remove_dir_all(generation(index)).expect("removes")),
    ("its list of parts is gone", |index| {
        fs::remove_file(generation(index).join("meta.json")).expect("removes");
    }),
    ("its list of parts is empty", |index| {
        fs::write(generation(index).join("meta.json"), "").expect("writes");
    }),
    ("its list of parts lists nothing", |index| {
        fs::write(generation(index).join("meta.json"), "{}").expect("writes");
    }),
    ("its list of parts is cut", |index| {
        let path = generation(index).join("meta.json");
        let whole = fs::read(&path).expect("reads");
        fs::write(&path, &whole[..whole.len() / 2]).expect("writes");
    }),
];

fn check_index(sound: Place<'_>, what: &str, damage: impl Fn(&Path)) {
    let wanted = found(sound);
    let place = sound.copied("damaged");
    damage(&place.state().join("index"));
    assert_eq!(found(place), wanted, "{what}: before it is made anew");
    place.sync();
    assert_eq!(found(place), wanted, "{what}: after it was made anew");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.status.success(), "{what}: {}", text(&doctor.stdout));
}

#[test]
fn an_index_that_is_gone_or_says_nothing_is_made_anew() {
    let machine = machine();
    for (what, damage) in PLAIN_DAMAGE {
        check_index(machine.place("sound"), what, damage);
    }
}

#[test]
fn an_index_with_a_part_gone_or_cut_is_made_anew() {
    let machine = machine();
    let sound = machine.place("sound");
    let index = sound.state().join("index");
    for path in files_of(&generation(&index)) {
        let name = path.file_name().expect("has a name").to_owned();
        // Hidden ones are locks.
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let name = Path::new(&name);
        check_index(sound, &format!("{} is gone", name.display()), |index| {
            fs::remove_file(generation(index).join(name)).expect("removes");
        });
        check_index(sound, &format!("{} is cut", name.display()), |index| {
            let path = generation(index).join(name);
            let whole = fs::read(&path).expect("reads");
            fs::write(&path, &whole[..whole.len() / 2]).expect("writes");
        });
    }
}

#[test]
fn a_question_to_an_index_with_flipped_bits_is_answered_and_doctor_says_so() {
    let machine = machine();
    let sound = machine.place("sound");
    for path in files_of(&generation(&sound.state().join("index"))) {
        let name = path.file_name().expect("has a name");
        let n_bytes = fs::metadata(&path).expect("is there").len();
        for part in 0..4 {
            let place = sound.copied("damaged");
            let damaged = generation(&place.state().join("index")).join(name);
            flip(&damaged, usize::try_from(n_bytes * part / 4).expect("is small"), 8);
            let what = format!("{} at {part}/4", damaged.display());
            for word in SOUGHT {
                let answer = place.run(&["search", word]);
                assert!(answer.status.success(), "{what}: {}", text(&answer.stdout));
            }
            // It was noticed by a question and made anew, or it is said now.
            let doctor = place.run(&["doctor"]);
            let said = text(&doctor.stdout);
            let is_made_anew = doctor.status.success() && found(place) == found(sound);
            assert!(is_made_anew || said.contains("INDEX_UNAVAILABLE"), "{what}: {said}");
        }
    }
}

/// The commands that are run on a damaged store.
const QUESTIONS: &[&[&str]] = &[
    &["search", SUBJECTS[0]],
    &["sessions", "--all", "-n", "200"],
    &["events", "claude:00000000"],
    &["events", "codex:019b0000-000a"],
    &["sync"],
];

/// What was said, without what depends on the time of day: newer hits count for more.
fn timeless(said: &[u8]) -> String {
    let said = text(said);
    let Ok(mut value) = serde_json::from_str::<Value>(&said) else { return said };
    let Some(hits) = value.get_mut("hits").and_then(Value::as_array_mut) else { return said };
    for hit in hits {
        hit["score"].take();
    }
    value["next_cursor"].take();
    value.to_string()
}

/// Where two answers part.
fn difference(said: &str, wanted: &str) -> String {
    let at = said.bytes().zip(wanted.bytes()).take_while(|it| it.0 == it.1).count();
    let around = |it: &str| it.chars().skip(at.saturating_sub(80)).take(240).collect::<String>();
    format!("…{}…\n  and not …{}…", around(said), around(wanted))
}

const PAGE_BYTES: usize = 4096;

/// Asks everything of the store `sound` once for each of its pages, after `damage` to that page.
/// `check` is told of each answer that is another one than before.
fn ask_about_each_page(
    sound: Place<'_>,
    mut damage: impl FnMut(&mut [u8]),
    check: impl Fn(usize, &[&str], &Output, &str),
) {
    let wanted: Vec<String> = QUESTIONS.iter().map(|it| timeless(&sound.run(it).stdout)).collect();
    let whole = fs::read(sound.state().join("store.db")).expect("reads");
    let mut n_others = 0;
    for page in 0..whole.len() / PAGE_BYTES {
        let mut bytes = whole.clone();
        damage(&mut bytes[page * PAGE_BYTES..][..PAGE_BYTES]);
        let place = sound.copied("damaged");
        fs::write(place.state().join("store.db"), bytes).expect("writes");
        for (question, wanted) in QUESTIONS.iter().zip(&wanted) {
            let output = place.run(question);
            let said = timeless(&output.stdout);
            if !output.status.success() || said != *wanted {
                n_others += 1;
                check(page, question, &output, &difference(&said, wanted));
            }
        }
    }
    assert!(0 < n_others, "no damage was seen");
}

#[test]
fn a_store_with_a_lost_page_gives_the_right_answer_or_says_that_it_is_damaged() {
    let machine = machine();
    let lose = |page: &mut [u8]| page.fill(0);
    ask_about_each_page(machine.place("sound"), lose, |page, question, output, difference| {
        let errors = text(&output.stderr);
        let status = output.status;
        assert!(is_loud(output), "page {page}, {question:?}: {status}\n{difference}\n{errors}");
    });
}

/// What a row says cannot be checked, so that some of it is answered wrongly is not seen here.
#[test]
fn a_store_with_flipped_bits_ends_no_command_but_by_its_own_words() {
    let seed = parameter("AI_HIST_DAMAGE_SEED", any_seed());
    let mut rng = Rng::with_seed(seed);
    let machine = machine();
    let flip = |page: &mut [u8]| {
        let at = rng.usize(..PAGE_BYTES - 64);
        page[at..][..64].iter_mut().for_each(|it| *it ^= 0xff);
    };
    ask_about_each_page(machine.place("sound"), flip, |page, question, output, difference| {
        let errors = text(&output.stderr);
        // Also that a session is not known, if its name was hit.
        let is_its_own = [0, 2, 65, 75].map(Some).contains(&output.status.code());
        assert!(
            is_its_own && !errors.contains("panicked"),
            "AI_HIST_DAMAGE_SEED={seed}: page {page}, {question:?}: {}\n{difference}\n{errors}",
            output.status
        );
    });
}

#[test]
fn a_store_that_is_none_is_said_and_left_alone() {
    let machine = machine();
    for content in ["", "no database at all, but a text that is long enough to be looked at"] {
        let place = machine.place("sound").copied("damaged");
        let path = place.state().join("store.db");
        fs::write(&path, content.repeat(100)).expect("writes");
        let output = place.run(&["sync"]);
        if content.is_empty() && output.status.success() {
            // A file in which nothing is may be taken for a store that is new, if it is made whole.
            assert_eq!(found(place), found(machine.place("sound")));
        } else {
            assert!(is_loud(&output), "{}", text(&output.stdout));
            assert_eq!(fs::read_to_string(&path).expect("reads"), content.repeat(100));
        }
    }
}

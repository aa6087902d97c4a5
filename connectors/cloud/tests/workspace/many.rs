//! Many members at once.

use std::{sync::Barrier, thread};

use crate::support::{EVERYTHING, Place, events, key};

const N_MEMBERS: usize = 6;

#[test]
fn members_who_push_one_session_at_once_make_one_chain() {
    let place = Place::new();
    let all = events("a", 0..400);
    let barrier = Barrier::new(N_MEMBERS);
    thread::scope(|scope| {
        for i in 0..N_MEMBERS {
            let (place, all, barrier) = (&place, &all, &barrier);
            scope.spawn(move || {
                let member = place.member();
                barrier.wait();
                // Each in stretches of its own size, from where the workspace is by then.
                let mut first = 0;
                while first < all.len() {
                    let end = all.len().min(first + 11 + 7 * i);
                    let head = member.push(first as u64, &all[first..end]).expect("pushes");
                    first = usize::try_from(head.n_events).expect("fits").min(end);
                }
            });
        }
    });
    let head = place.member().head(&key("s-1")).expect("asks").expect("is there");
    assert!(head.revision.starts_with("g1-400-"), "{}", head.revision);
    assert_eq!(place.member().read().events(), all);
}

#[test]
fn a_reader_sees_whole_pushes_while_others_write() {
    let place = Place::new();
    let all = events("a", 0..300);
    place.member().push(0, &all[..10]).expect("pushes");
    thread::scope(|scope| {
        scope.spawn(|| {
            let member = place.member();
            for first in (10..300).step_by(10) {
                member.push(first as u64, &all[first..first + 10]).expect("pushes");
            }
        });
        let member = place.member();
        let mut read = Vec::new();
        let mut cursor = None;
        while read.len() < all.len() {
            let reading = member.read_from(cursor.as_ref(), EVERYTHING).expect("reads");
            let new = reading.events();
            assert_eq!(new.len() % 10, 0);
            read.extend(new);
            if let Some(batch) = reading.batches.last() {
                cursor = Some(batch.cursor.clone());
            }
        }
        assert_eq!(read, all);
    });
}

#[test]
fn members_of_two_minds_leave_one_of_two_sessions() {
    let place = Place::new();
    let branches = [events("a", 0..250), events("b", 0..250)];
    let barrier = Barrier::new(branches.len());
    thread::scope(|scope| {
        for branch in &branches {
            let (place, barrier) = (&place, &barrier);
            scope.spawn(move || {
                let member = place.member();
                barrier.wait();
                for _ in 0..10 {
                    member.push(0, branch).expect("pushes");
                }
            });
        }
    });
    let read = place.member().read().events();
    assert!(branches.contains(&read), "{} events", read.len());
}

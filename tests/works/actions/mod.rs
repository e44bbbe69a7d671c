//! Every action through compiled policies, on the Work door: a revision can be repeated, changed and undone.
//!
//! * `policies`: random policies of all actions. `objects`: random objects for them.
//! * `door`: passes a Work through the door and Karmada's webhook, keeping the spelling of numbers.

mod door;
mod objects;
mod policies;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use door::{Door, labelled, rewritten_by_karmada, work, written};
use objects::any_manifest;
use policies::{any_documents, compiled};

/// The default of `REVISER_TEST_HISTORIES`, the number of cases.
const CASES: u32 = 200;

fn cases() -> u32 {
    std::env::var("REVISER_TEST_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

/// Counts the outcomes, to check that the cases vary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Seen {
    Refused,
    Unchanged,
    Revised,
    RevisedOtherwise,
    Skipped,
}

/// f(f(x)) = f(x). Other policies revise the manifest that Karmada wrote. Without policies that manifest is
/// restored, including the spelling of numbers. Karmada's webhook runs after every write.
#[test]
fn every_action_can_be_repeated_changed_and_undone() {
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let seen = std::cell::RefCell::new(BTreeSet::new());
    let strategy = (any_manifest(), any_documents(), any_documents());
    let outcome = runner.run(&strategy, |(manifest, first, second)| {
        let (first, second) = (Door::new(&compiled(&first)), Door::new(&compiled(&second)));
        let none = Door::new(&compiled(&[]));
        let new = work(&manifest);
        let stored = none.admit(&new, None).unwrap();
        prop_assert_eq!(&stored, &written(&new));
        let revised = match first.admit(&new, None) {
            Ok(revised) => revised,
            Err(refusal) => {
                // A refusal is repeated with the same message.
                prop_assert_eq!(first.admit(&stored, Some(&stored)), Err(refusal));
                seen.borrow_mut().insert(Seen::Refused);
                return Ok(());
            }
        };
        seen.borrow_mut().insert(if revised == stored { Seen::Unchanged } else { Seen::Revised });
        if first.skipped() {
            seen.borrow_mut().insert(Seen::Skipped);
        }
        // Repeated: by a touch, by a label, by a write of Karmada.
        prop_assert_eq!(&first.admit(&revised, Some(&revised)).unwrap(), &revised);
        let label = labelled(&revised);
        prop_assert_eq!(&first.admit(&label, Some(&revised)).unwrap(), &label);
        prop_assert_eq!(
            &first.admit(&rewritten_by_karmada(&new, &revised), Some(&revised)).unwrap(),
            &revised
        );
        // Changed: other policies.
        let otherwise = second.admit(&revised, Some(&revised));
        prop_assert_eq!(&otherwise, &second.admit(&new, None));
        if let Ok(otherwise) = otherwise
            && otherwise != revised
        {
            seen.borrow_mut().insert(Seen::RevisedOtherwise);
            prop_assert_eq!(&none.admit(&otherwise, Some(&otherwise)).unwrap(), &stored);
        }
        // Undone: no policies.
        prop_assert_eq!(&none.admit(&revised, Some(&revised)).unwrap(), &stored);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let all = [Seen::Refused, Seen::Unchanged, Seen::Revised, Seen::RevisedOtherwise, Seen::Skipped];
    assert!(cases() < CASES || seen.borrow().iter().copied().eq(all), "{seen:?}");
}

/// The result is the same, byte for byte.
#[test]
fn order_of_documents_thread_and_repetition_change_nothing() {
    let mut runner =
        TestRunner::new(Config { cases: cases() / 4, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&(any_manifest(), any_documents().prop_shuffle()), |(manifest, documents)| {
        let mut turned = documents.clone();
        turned.reverse();
        let patch = |documents: &[String]| {
            let door = Door::new(&compiled(documents));
            let new = work(&manifest);
            (door.patch(&new, None), door.patch(&new, None))
        };
        let (once, again) = patch(&documents);
        prop_assert_eq!(&once, &again);
        let others = std::thread::scope(|scope| {
            let threads =
                [&documents, &turned, &documents].map(|documents| scope.spawn(|| patch(documents).0));
            threads.map(|thread| thread.join().unwrap())
        });
        for other in others {
            prop_assert_eq!(&other, &once);
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

//! Repetition of runs for which the machine was late.
#![allow(clippy::print_stdout, reason = "the summary of a program of tests")]

use crate::test::Test;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Maximum number of attempts at a punctual run.
const ATTEMPTS: usize = 9;

static REPEATED: AtomicUsize = AtomicUsize::new(0);
/// Tests without a punctual run, with the reasons.
static IGNORED: Mutex<Vec<(&str, String)>> = Mutex::new(Vec::new());

const REPEATED_RUNS: &str = "runs repeated: ";
const REASON: &str = "reason: ";

/// Panic value that ends a test without a punctual run, with the reason.
struct NeverPunctual(String);

/// Returns the first punctual result of `run`. `late` returns the reason if the machine was late for a result. After
/// nine late attempts the test ends and is ignored with the last reason.
pub fn punctual<T>(mut run: impl FnMut() -> T, late: impl Fn(&T) -> Option<String>) -> T {
    let mut attempt = 1;
    loop {
        let result = run();
        let Some(why) = late(&result) else { return result };
        if attempt == ATTEMPTS {
            let why = format!("no punctual run on this machine in {ATTEMPTS} attempts: {why}");
            resume_unwind(Box::new(NeverPunctual(why)));
        }
        attempt += 1;
        REPEATED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a test. Returns the reason if the test ends without a punctual run and is ignored.
pub(crate) fn or_ignored((name, test): Test) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(test)) {
        Ok(()) => None,
        Err(panic) => match panic.downcast::<NeverPunctual>() {
            Ok(never) => Some(ignored(name, never.0)),
            Err(panic) => resume_unwind(panic),
        },
    }
}

fn ignored(name: &'static str, why: String) -> String {
    IGNORED.lock().unwrap_or_else(PoisonError::into_inner).push((name, why.clone()));
    why
}

/// Prints the ignored tests and the number of repeated runs at the end.
pub(crate) fn summarize() {
    for (name, why) in IGNORED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("ignored: {name}: {why}");
    }
    match REPEATED.load(Ordering::Relaxed) {
        0 => {}
        1 => println!("1 run was repeated: the machine was late\n"),
        repeated => println!("{repeated} runs were repeated: the machine was late\n"),
    }
}

/// Reports these results to the parent process, which reads them with [`hear`].
pub(crate) fn tell() {
    println!("{REPEATED_RUNS}{}", REPEATED.load(Ordering::Relaxed));
    for (_, why) in IGNORED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("{REASON}{why}");
    }
}

/// Reads the report of a test's process ([`tell`]): the number of repeated runs, and the reason if the test is ignored.
pub(crate) fn hear(name: &'static str, said: &str) -> Option<String> {
    let after = |start: &str| said.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned);
    let repeated = after(REPEATED_RUNS).and_then(|number| number.parse().ok()).unwrap_or(0);
    REPEATED.fetch_add(repeated, Ordering::Relaxed);
    after(REASON).map(|why| ignored(name, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_is_repeated_until_it_is_not() {
        let mut attempts = 0;
        let run = || {
            attempts += 1;
            attempts
        };
        assert_eq!(punctual(run, |&attempt| (attempt < 4).then(|| "late".to_owned())), 4);
    }

    #[test]
    fn a_test_without_a_punctual_run_is_ignored_with_the_last_reason() {
        let never = || punctual(|| (), |&()| Some("late by 7 ms".to_owned()));
        let why = or_ignored(("it", never)).unwrap();
        assert_eq!(why, "no punctual run on this machine in 9 attempts: late by 7 ms");
        assert_eq!(or_ignored(("it", || ())), None);
    }

    #[test]
    fn another_process_is_heard() {
        let why = hear("it", "running 1 test\n\nruns repeated: 8\nreason: no punctual run: late\n");
        assert_eq!(why.unwrap(), "no punctual run: late");
        assert_eq!(hear("it", "runs repeated: 2\n"), None);
    }
}

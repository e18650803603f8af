//! Test programs whose tests need resources that some machines lack: real logs, network namespaces, a kernel with BPF.
//! On such machines the tests are ignored, counted as ignored, and report the reason. A program lists its tests in
//! `main` (its target has `harness = false`). It runs them one after another ([`run`]) or several in parallel
//! ([`run_apart`]):
//!
//! ```text
//! fn main() -> ExitCode {
//!     needs::run(vec![(missing, needs::tests![one_test, module::another])])
//! }
//! ```
//!
//! A test with real packets makes its runs with [`punctual`], which repeats runs for which the machine was late.

mod events;
mod punctual;
mod test;

pub use events::wait_for;
pub use punctual::punctual;
pub use test::{Missing, Test};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::process::{Command, ExitCode, Stdio};
use std::sync::RwLock;

/// Makes a list of [`Test`]s from the named functions.
#[macro_export]
macro_rules! tests {
    ($($test:path),* $(,)?) => {
        vec![$((stringify!($test), $test as fn())),*]
    };
}

/// Runs the tests that the process's arguments select, one at a time, as Rust's own test programs do. Before each test,
/// its group reports what is missing.
pub fn run(groups: Vec<(Missing, Vec<Test>)>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let trials = trials(groups, |test| Ok(punctual::or_ignored(test)));
    let conclusion = libtest_mimic::run(&arguments, trials);
    if is_apart() {
        punctual::tell();
    } else {
        punctual::summarize();
    }
    conclusion.exit_code()
}

/// Environment variable that marks a process for a single test.
const APART: &str = "DUMBBELL_TEST_APART";

/// Lock for tests that inspect the whole machine; they run alone.
static MACHINE: RwLock<()> = RwLock::new(());

/// Works like [`run`], but runs up to `at_once` tests in parallel, for tests that mostly wait.
///
/// Each test has its own process and its own directory for temporary files, and does not wait for the emulation lock of
/// others. Thus tests share neither locks nor open files. Tests of the groups `alone` run alone.
pub fn run_apart(
    at_once: usize,
    groups: Vec<(Missing, Vec<Test>)>,
    alone: Vec<(Missing, Vec<Test>)>,
) -> ExitCode {
    if is_apart() {
        return run(groups.into_iter().chain(alone).collect());
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(arguments.test_threads.map_or(at_once, |wanted| wanted.min(at_once)));
    let mut trials = trials(groups, |test| {
        let _shared = MACHINE.read();
        apart(test)
    });
    trials.extend(self::trials(alone, |test| {
        let _all = MACHINE.write();
        apart(test)
    }));
    let conclusion = libtest_mimic::run(&arguments, trials);
    punctual::summarize();
    conclusion.exit_code()
}

/// Returns true if this process runs a single test of [`run_apart`].
#[allow(clippy::disallowed_methods, reason = "the process that started this one has set it")]
pub fn is_apart() -> bool {
    std::env::var_os(APART).is_some()
}

/// Runs a test in its own process. Returns the reason if the test is ignored.
fn apart((name, _): Test) -> Result<Option<String>, Failed> {
    let directory = std::env::temp_dir().join(format!("dumbbell-test-{}-{name}", std::process::id()));
    std::fs::create_dir(&directory)?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--exact", name])
        .env(APART, "1")
        .env("TMPDIR", &directory)
        .env("DUMBBELL_TURN", format!("{}-{name}", std::process::id()))
        .stdin(Stdio::null())
        .output();
    let left: Vec<_> = std::fs::read_dir(&directory)?.flatten().map(|entry| entry.file_name()).collect();
    std::fs::remove_dir_all(&directory)?;
    let output = output?;
    let [said, complained] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let ignored = punctual::hear(name, &said);
    if !output.status.success() {
        return Err(format!("{}\n{said}{complained}", output.status).into());
    }
    if !left.is_empty() {
        return Err(format!("it left files: {left:?}").into());
    }
    Ok(ignored)
}

fn trials(groups: Vec<(Missing, Vec<Test>)>, run: fn(Test) -> Result<Option<String>, Failed>) -> Vec<Trial> {
    let trial = |missing: Missing, test: Test| {
        Trial::ignorable_test(test.0, move || {
            if let Some(why) = missing() {
                return Ok(Completion::ignored_with(why));
            }
            Ok(run(test)?.map_or(Completion::Completed, Completion::ignored_with))
        })
    };
    let of_group =
        |(missing, tests): (Missing, Vec<Test>)| tests.into_iter().map(move |test| trial(missing, test));
    groups.into_iter().flat_map(of_group).collect()
}

/// Returns the directory in the environment variable `name`, or the reason why it is missing.
pub fn folder(name: &str) -> Result<std::path::PathBuf, String> {
    #[allow(clippy::disallowed_methods, reason = "tests are configured by their environment")]
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = std::path::PathBuf::from(value.ok_or(format!("{name} is not set"))?);
    if folder.is_dir() { Ok(folder) } else { Err(format!("{name}: {} is no folder", folder.display())) }
}

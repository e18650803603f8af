//! Test programs whose tests need what not every machine has: real logs, network namespaces, a kernel with BPF. Where it
//! is missing they are ignored, counted as ignored, and say why. A program lists its tests in `main` (its target has
//! `harness = false`), and runs them one after another ([`run`]) or a few side by side ([`run_apart`]):
//!
//! ```text
//! fn main() -> ExitCode {
//!     needs::run(vec![(missing, needs::tests![one_test, module::another])])
//! }
//! ```
//!
//! A test with real packets makes its runs by [`punctual`], which repeats those for which the machine was late.

mod events;
mod punctual;
mod test;

pub use events::wait_for;
pub use punctual::punctual;
pub use test::{Missing, Test};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::process::{Command, ExitCode, Stdio};
use std::sync::RwLock;

/// The named functions as a list of [`Test`]s.
#[macro_export]
macro_rules! tests {
    ($($test:path),* $(,)?) => {
        vec![$((stringify!($test), $test as fn())),*]
    };
}

/// Runs the tests that the arguments of the process select, one at a time, as Rust's own test programs would. Before each
/// its group is asked for what is missing.
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

/// Says to a program of tests that it was started for one of them.
const APART: &str = "DUMBBELL_TEST_APART";

/// Tests that look at the whole machine have it for themselves.
static MACHINE: RwLock<()> = RwLock::new(());

/// Like [`run`], but as many tests as `at_once` side by side, for tests that mostly wait. Each is run by a process of its
/// own, with a directory of its own for temporary files, and does not wait for the emulation lock of the others: they share
/// nothing, neither a lock nor what a process has open.
/// Those of the groups `alone` have nothing beside them.
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

/// Whether this is the process of a single test of [`run_apart`].
#[allow(clippy::disallowed_methods, reason = "the process that started this one has set it")]
pub fn is_apart() -> bool {
    std::env::var_os(APART).is_some()
}

/// Runs a test in a process of its own. Returns why it is ignored, if it is.
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

/// The folder that the environment variable `name` names. Without it, or without the folder, why not.
pub fn folder(name: &str) -> Result<std::path::PathBuf, String> {
    #[allow(clippy::disallowed_methods, reason = "tests are configured by their environment")]
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = std::path::PathBuf::from(value.ok_or(format!("{name} is not set"))?);
    if folder.is_dir() { Ok(folder) } else { Err(format!("{name}: {} is no folder", folder.display())) }
}

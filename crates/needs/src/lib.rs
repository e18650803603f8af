//! Test programs whose tests need what not every machine has: real logs, network namespaces, a kernel with BPF. Where it
//! is missing they are ignored, counted as ignored, and say why. A program lists its tests in `main` (its target has
//! `harness = false`), and runs them one after another:
//!
//! ```text
//! fn main() -> ExitCode {
//!     needs::run(vec![(missing, needs::tests![one_test, module::another])])
//! }
//! ```

use libtest_mimic::{Arguments, Completion, Trial};
use std::process::ExitCode;

/// What is missing on this machine, if anything is: the reason for which tests are ignored.
pub type Missing = fn() -> Option<String>;

/// A test with its name; it fails by panicking.
pub type Test = (&'static str, fn());

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
    let trial = |missing: Missing, (name, test): Test| {
        Trial::ignorable_test(name, move || {
            if let Some(why) = missing() {
                return Ok(Completion::ignored_with(why));
            }
            test();
            Ok(Completion::Completed)
        })
    };
    let trials = groups
        .into_iter()
        .flat_map(|(missing, tests)| tests.into_iter().map(move |test| trial(missing, test)));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The folder that the environment variable `name` names. Without it, or without the folder, why not.
pub fn folder(name: &str) -> Result<std::path::PathBuf, String> {
    #[allow(clippy::disallowed_methods, reason = "tests are configured by their environment")]
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = std::path::PathBuf::from(value.ok_or(format!("{name} is not set: no real logs"))?);
    if folder.is_dir() { Ok(folder) } else { Err(format!("{name}: {} is no folder", folder.display())) }
}

//! Tables trained by other projects, which may not be shipped: contents of their files, and published figures.
#![allow(clippy::disallowed_methods, reason = "reads tables")]

mod files;
mod shell;
mod training;

use congestion::remy::Table;
use std::process::ExitCode;

/// Returns the reason why there are no tables, or `None`.
fn missing() -> Option<String> {
    needs::folder("LEARNED_WEIGHTS").err()
}

/// Returns the contents of a file in the directory `remy`.
fn contents(name: &str) -> Vec<u8> {
    let folder = needs::folder("LEARNED_WEIGHTS").expect("asked before");
    std::fs::read(folder.join("remy").join(name)).expect("a table")
}

/// Returns the table in a file.
fn table(name: &str) -> Table {
    Table::read(&contents(name)).expect("a table")
}

fn main() -> ExitCode {
    let tests = needs::tests![
        files::published_files_have_their_rules,
        files::signals_fall_into_the_rules_they_should,
        files::a_file_that_is_cut_anywhere_is_refused,
        shell::one_flow_through_the_program_has_its_throughput_and_delay,
        shell::a_slow_start_traps_a_flow_at_13_mbps,
        shell::random_loss_changes_nothing,
        training::two_senders_get_what_was_published_of_the_100x_table,
        training::eight_senders_get_what_was_published_of_the_tables_of_2013,
        training::outside_of_their_range_tables_do_as_an_independent_simulator_says,
    ];
    needs::run(vec![(missing, tests)])
}

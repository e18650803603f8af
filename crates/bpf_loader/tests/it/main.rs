//! Controllers in the real kernel.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests of the real kernel: clock, files and sockets"
)]
#![allow(clippy::print_stderr, reason = "a failed test shows what was measured")]

mod behaviour;
mod registration;
mod support;

use std::process::ExitCode;

fn main() -> ExitCode {
    let tests = needs::tests![
        behaviour::delay_based_controllers_keep_the_queue_short_where_reno_fills_it,
        behaviour::losses_at_a_short_queue_do_not_stop_anyone,
        behaviour::the_module_of_2017_waits_for_a_delayed_ack_with_every_segment,
        registration::a_held_controller_carries_data_in_a_new_namespace_and_is_gone_afterwards,
        registration::a_killed_hold_leaves_nothing_registered,
        registration::two_holds_share_a_registration_until_the_last_one_ends,
        registration::an_open_connection_outlives_the_registration_and_the_name_is_free_again,
        registration::a_loaded_controller_stays_until_it_is_unloaded,
        registration::an_unknown_name_is_refused_with_the_known_ones,
    ];
    let without_rights = needs::tests![registration::without_the_rights_of_root_one_line_says_so];
    needs::run(vec![(support::missing, tests), (support::missing_or_no_user_namespaces, without_rights)])
}

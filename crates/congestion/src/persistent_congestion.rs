//! Tests of the window after persistent congestion (RFC 9002 7.6.2, B.8), for every controller with a window for
//! timeouts.

use crate::Registry;
use crate::testing::Driver;

/// Controllers whose window falls with a timeout, without controllers whose transport has no persistent congestion.
const CONTROLLERS: [&str; 9] =
    ["reno", "cubic", "gquic_cubic", "prague", "vegas", "dctcp", "ledbat", "ledbat-plus-plus", "hybla"];

/// Controllers with a slow start threshold that a loss sets.
const WITH_THRESHOLD: [&str; 7] = ["reno", "cubic", "gquic_cubic", "prague", "vegas", "dctcp", "hybla"];

fn at_work(name: &str) -> Driver {
    let registry = Registry::builtin();
    let mut driver = Driver::new(registry.find(name).expect("it is registered"), &[]);
    (0..3).for_each(|_| driver.ack_window());
    driver
}

#[test]
fn the_threshold_is_reduced_once_by_the_losses_and_not_again() {
    for name in WITH_THRESHOLD {
        let mut lossy = at_work(name);
        lossy.lose(3, true);
        let mut persistent = at_work(name);
        persistent.persist(true);
        assert_eq!(persistent.field("ssthresh"), lossy.field("ssthresh"), "{name}");
        if name == "prague" {
            // gQUIC's CUBIC detects episodes by packet numbers, which continue in the driver.
            continue;
        }
        persistent.persist(false);
        assert_eq!(persistent.field("ssthresh"), lossy.field("ssthresh"), "{name}: within the episode");
    }
}

#[test]
fn two_packets_are_left_of_the_window_and_one_after_a_retransmission_timeout() {
    for name in CONTROLLERS {
        let mut persistent = at_work(name);
        persistent.persist(true);
        assert_eq!(persistent.field("cwnd"), 2.0, "{name}");
        let mut timed_out = at_work(name);
        timed_out.timeout(false);
        // gQUIC keeps two packets, RFC 5681 one.
        let least = if name == "gquic_cubic" { 2.0 } else { 1.0 };
        assert_eq!(timed_out.field("cwnd"), least, "{name}");
    }
}

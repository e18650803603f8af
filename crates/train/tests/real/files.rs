//! Contents of the files (tcpexmachina/remy@1c3579b, `tests`; pratiksha/learnability-reproduce@d43afba).

use crate::{contents, table};
use congestion::remy::{Action, Table};

const HUNDREDFOLD: &str = "RemyCC-2014-100x.dna";

pub(crate) fn published_files_have_their_rules() {
    for (name, rules, domain) in [
        (HUNDREDFOLD, 91, 163_840.0),
        ("learnability/tao-1000x.dna", 91, 163_840.0),
        ("learnability/tao-2x.dna", 91, 163_840.0),
        ("learnability/tao-10x.dna", 76, 163_840.0),
        ("RemyCC-2013-delta0.1.dna", 162, 16_384.0),
        ("RemyCC-2013-delta1.dna", 190, 16_384.0),
        ("RemyCC-2013-delta10.dna", 197, 16_384.0),
    ] {
        let table = table(name);
        assert_eq!(table.rules().len(), rules, "{name}");
        assert!(table.rules().iter().all(|rule| rule.upper[0] <= domain), "{name}");
        assert!(table.rules().iter().any(|rule| rule.upper[0] == domain), "{name}");
    }
}

/// Signals, rule, increment, multiple, time between packets, and the window after a window of 100.
type Vector = ([f64; 4], usize, i32, f64, f64, u32);

pub(crate) fn signals_fall_into_the_rules_they_should() {
    let table = table(HUNDREDFOLD);
    let vectors: [Vector; 9] = [
        ([0.0, 0.0, 0.0, 0.0], 0, 60, 0.01, 0.292, 61),
        ([0.1, 0.1, 1.0, 0.01], 14, 179, 0.0699, 0.1512, 185),
        ([0.3, 0.3, 1.005, 0.3], 30, 255, 0.5198, 0.3572, 306),
        ([0.05, 0.09, 1.1, 0.09], 5, 87, 0.95, 0.0716, 182),
        ([0.3, 0.35, 1.2, 0.3], 45, 212, 0.9, 0.4044, 302),
        ([0.9, 0.9, 1.05, 0.9], 60, 124, 0.07, 1.1234, 131),
        ([1.0, 1.2, 1.4, 1.2], 75, 91, 0.79, 1.7898, 170),
        ([2.2, 2.2, 1.05, 2.2], 73, 52, 0.1199, 2.2365, 63),
        ([5.0, 12.0, 2.5, 12.0], 90, 33, 0.06, 4.7964, 39),
    ];
    for (signals, rule, increment, multiple, intersend_ms, window) in vectors {
        assert_eq!(table.find(&signals, 0), rule, "{signals:?}");
        let action @ Action { window_increment, window_multiple, .. } = table.rules()[rule].action;
        assert_eq!(window_increment, increment);
        assert!(
            (window_multiple - multiple).abs() < 5e-5 && (action.intersend_ms - intersend_ms).abs() < 5e-5
        );
        assert_eq!(action.window_after(100), window, "{signals:?}");
    }
}

pub(crate) fn a_file_that_is_cut_anywhere_is_refused() {
    let whole = contents(HUNDREDFOLD);
    // The last message of the file is the optimizer's input: without it the rules are complete.
    let (mut refusals, mut complete) = (0, 0);
    for length in (0..whole.len()).step_by(37) {
        match Table::read(&whole[..length]) {
            Ok(table) => {
                assert_eq!(table.rules().len(), 91);
                complete += 1;
            }
            Err(why) => {
                assert!(!why.to_string().contains('\n'));
                refusals += 1;
            }
        }
    }
    assert!(refusals > 500 && complete < 10, "{refusals} refused, {complete} complete");
}

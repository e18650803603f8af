//! Tests of the runtime and its files. `crates/train/tests/real` tests the answers of original tables with
//! `LEARNED_WEIGHTS`.

use super::*;
use crate::testing::Driver;
use units::Span;

/// Returns two rules that differ in the ratio of RTTs.
fn table() -> Table {
    let rule = |from: f64, to: f64, action| Rule {
        lower: [0.0, 0.0, from, 0.0],
        upper: [DOMAIN, DOMAIN, to, DOMAIN],
        action,
    };
    let first = Action { window_increment: 60, window_multiple: 0.01, intersend_ms: 0.292 };
    let second = Action { window_increment: -3, window_multiple: 0.5, intersend_ms: 2.0 };
    Table::new(vec![rule(0.0, 1.5, first), rule(1.5, DOMAIN, second)]).unwrap()
}

fn start() -> Start {
    Start { now: Time::ZERO, mss_bytes: 1000, initial_window_bytes: 10_000, seed: 1 }
}

#[test]
fn a_rule_multiplies_the_window_adds_and_cuts() {
    let action = Action { window_increment: -3, window_multiple: 0.5, intersend_ms: 2.0 };
    assert_eq!([100, 7, 6, 3].map(|window| action.window_after(window)), [47, 0, 0, 0]);
    let growth = Action { window_increment: 1, window_multiple: 1.0, ..action };
    assert_eq!(growth.window_after(MAX_WINDOW), MAX_WINDOW);
}

#[test]
fn in_training_the_first_rule_holds_from_the_start_and_in_the_program_from_the_first_ack() {
    let training = Remy::new(Arc::new(table()), Shell::Training, (), &start());
    assert_eq!(training.control().window_bytes, 60_000);
    // 1000 bytes every 0.292 ms.
    assert_eq!(training.control().pacing.unwrap().bps(), 27_397_260);
    let program = Remy::new(Arc::new(table()), Shell::GenericCc, (), &start());
    assert_eq!((program.control().window_bytes, program.control().pacing), (3000, None));
}

#[test]
fn a_new_flow_remembers_nothing_and_ignores_acks_of_the_one_before() {
    const NEXT: u64 = 10;
    let mut driver = Driver::new(&crate::schemes::reno::ENTRY, &[]);
    driver.controller = Box::new(Remy::new(Arc::new(table()), Shell::Training, (), &start()));
    let window_after = |driver: &mut Driver, rtt_ms| {
        driver.rtt = Span::from_ms(rtt_ms);
        driver.ack(1);
        driver.controller.control().window_bytes
    };
    assert_eq!([100, 200].map(|rtt_ms| window_after(&mut driver, rtt_ms)), [60_000, 27_000]);
    driver.controller.on_anew(driver.now, NEXT);
    assert_eq!(driver.controller.control().window_bytes, 60_000);
    assert_eq!([100, 200, 200].map(|rtt_ms| window_after(&mut driver, rtt_ms)), [60_000; 3]);
    driver.next_acked = NEXT;
    assert_eq!([100, 200].map(|rtt_ms| window_after(&mut driver, rtt_ms)), [60_000, 27_000]);
}

#[test]
fn a_table_is_written_and_read_again() {
    let written = Written { table: table(), training: serde_json::json!({"epoch": 3}) };
    let text = written.to_text();
    let again = Written::read(text.as_bytes()).unwrap();
    assert_eq!(again.table.rules(), written.table.rules());
    assert_eq!((again.training, again.table.rules().len()), (written.training, 2));
    assert_eq!(Table::read(text.as_bytes()).unwrap().rules(), written.table.rules());
}

#[test]
fn beyond_its_end_a_table_has_its_last_rule() {
    let table = table();
    assert_eq!(table.find(&[1e9, 1e9, 1e9, 1e9], 0), 1);
    assert_eq!(table.find(&[1e9, 1e9, 1.0, 1e9], 1), 0);
}

/// Returns the refusal of the rules of [`table`] after `change` of the second rule.
fn refused(change: impl FnOnce(&mut Rule)) -> String {
    let mut rules = table().rules().to_vec();
    change(&mut rules[1]);
    Table::new(rules).unwrap_err().to_string()
}

#[test]
fn a_table_that_does_not_have_one_rule_everywhere_is_refused() {
    assert!(refused(|rule| rule.lower[2] = 1.6).contains("no rule for signals from [0.0, 0.0, 1.5, 0.0]"));
    assert!(refused(|rule| rule.lower[0] = 1.0).contains("no rule for signals"));
    assert_eq!(
        refused(|rule| rule.lower[2] = 1.4),
        "rules 0 and 1 are both for signals from [0.0, 0.0, 1.4, 0.0]"
    );
    assert!(refused(|rule| rule.upper[2] = 2.0).starts_with("no rule for signals from 2 on"));
    assert!(Table::new(Vec::new()).unwrap_err().to_string().starts_with("0 rules"));
}

#[test]
fn a_number_that_cannot_be_is_refused() {
    assert!(refused(|rule| rule.action.intersend_ms = f64::NAN).starts_with("rule 1: intersend_ms = NaN"));
    assert!(refused(|rule| rule.action.window_multiple = -1.0).starts_with("rule 1: window_multiple = -1"));
    assert!(refused(|rule| rule.lower[1] = f64::NAN).starts_with("rule 1: signals from NaN to 163840"));
    assert!(refused(|rule| rule.upper[1] = f64::INFINITY).starts_with("rule 1: signals from 0 to inf"));
}

#[test]
fn a_file_that_is_no_table_is_refused_in_one_line() {
    for (contents, said) in [
        (&b""[..], "it is empty"),
        (b"\x0a\xff", "it ends in the middle"),
        (b"\x08\x01", "is no table of rules"),
        (b"hello, world", "allowed are tables of"),
        (b"{\"format\": \"other\", \"rules\": []}", "format = \"other\""),
        (b"{\"rules\": 3}", "invalid type"),
        (b"{\"a\\u202e\\n\\\"b\": 3}", "unknown field `a\\u{202e}\\n\"b`"),
    ] {
        let why = Table::read(contents).unwrap_err().to_string();
        assert!(why.contains(said) && !why.contains('\n'), "{why}");
    }
}

/// Returns a field with bytes; numbers and lengths are below 128 * 128.
fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let varint = |value: u32| {
        if value < 128 { vec![value as u8] } else { vec![value as u8 | 0x80, (value >> 7) as u8] }
    };
    [varint(number << 3 | 2), varint(content.len() as u32), content.to_vec()].concat()
}

/// Returns a field with a number.
fn double(number: u8, value: f64) -> Vec<u8> {
    let key = u32::from(number) << 3 | 1;
    [&[key as u8 | 0x80, (key >> 7) as u8][..], &value.to_le_bytes()].concat()
}

/// Returns a leaf of a tree in Remy's format, for ratios from `from` to `to` and any other signals.
fn leaf(from: f64, to: f64, zigzag_increment: u8, multiple: f64, intersend_ms: f64) -> Vec<u8> {
    let range = [field(11, &double(23, from)), field(12, &double(23, to)), vec![13 << 3, 2]].concat();
    let increment = [0xf8, 1, zigzag_increment];
    let action =
        [&increment[..], &double(32, multiple), &double(33, intersend_ms), &field(34, &range)].concat();
    [field(1, &range), field(3, &action)].concat()
}

#[test]
fn a_file_of_remy_is_read() {
    let leaves = [leaf(0.0, 1.5, 120, 0.01, 0.292), leaf(1.5, DOMAIN, 5, 0.5, 2.0)];
    // The optimizer's settings (4) are skipped. Bounds that are missing in a range are the ends of the space.
    let tree =
        [field(1, &[]), field(2, &leaves[0]), field(2, &leaves[1]), field(4, &double(71, 3.0))].concat();
    assert_eq!(Table::read(&tree).unwrap().rules(), table().rules());
    for length in 1..tree.len() {
        let cut = Table::read(&tree[..length]);
        let is_complete = cut.as_ref().is_ok_and(|table| table.rules().len() == 2);
        assert!(is_complete || !cut.unwrap_err().to_string().contains('\n'), "{length}");
    }
    let hole = [field(1, &[]), field(2, &leaves[0])].concat();
    assert!(Table::read(&hole).unwrap_err().to_string().contains("no rule for signals"));
    let later = field(1, &[13 << 3, 4]);
    assert!(Table::read(&later).unwrap_err().to_string().starts_with("signal 4 of later versions of Remy"));
    let deep = (0..100).fold(leaves[0].clone(), |tree, _| [field(1, &[]), field(2, &tree)].concat());
    assert!(Table::read(&deep).unwrap_err().to_string().starts_with("its tree is deeper than 64 levels"));
}

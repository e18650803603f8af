//! Lines that Pantheon does not write but its analysis accepts: fields with any blanks between them, numbers as
//! Python's `float` and `int` parse them (StanfordSNR/pantheon@23e738c, `src/analysis/tunnel_graph.py`).

use super::direction::Direction;
use super::lines::MAX_MS;
use super::oddities::Kind;
use record::Record;

/// Decimals that Pantheon writes, and decimals of a time in ns.
const WRITTEN_DECIMALS: usize = 3;
const KEPT_DECIMALS: usize = 6;

/// Event and the oddities of its line.
pub(super) struct LooseLine {
    /// Time, ns; may be negative.
    pub(super) at_ns: i64,
    /// Event without its time.
    pub(super) record: Record,
    pub(super) odd: Vec<Kind>,
}

/// Parses a line; `None` if Pantheon's analysis would fail on it.
#[cold]
pub(super) fn event_line(line: &[u8], direction: Direction) -> Option<LooseLine> {
    let text = std::str::from_utf8(line).ok()?;
    let mut odd = Vec::new();
    if text.starts_with(|first: char| first.is_ascii_whitespace()) {
        odd.push(Kind::Blank);
    }
    let fields: Vec<_> = text.split_ascii_whitespace().collect();
    let [time, sign, size, rest @ ..] = &fields[..] else { return None };
    let at_ns = ms_as_ns(time, &mut odd)?;
    let (event, delay, flow) = match (*sign, rest) {
        ("+", []) => (direction.send(), None, None),
        ("+", [flow]) => (direction.send(), None, Some(flow)),
        ("-", [delay]) => (direction.deliver(), Some(delay), None),
        ("-", [delay, flow]) => (direction.deliver(), Some(delay), Some(flow)),
        ("#", []) => (direction.opportunity(), None, None),
        _ => return None,
    };
    let one_way_delay_ns = match delay {
        Some(delay) => ms_as_ns(delay, &mut odd)?,
        None => 0,
    };
    let record = Record {
        time_ns: 0,
        flow: flow.map_or(Some(0), |flow| flow.parse().ok())?,
        event,
        seq: 0,
        size_bytes: size.parse().ok()?,
        data_bytes: 0,
        one_way_delay_ns,
    };
    if odd.is_empty() && at_ns >= 0 {
        odd.push(Kind::Notation);
    }
    Some(LooseLine { at_ns, record, odd })
}

/// Converts a time since 1970 from ms to us.
pub(super) fn timestamp(text: &[u8]) -> Option<u64> {
    let ns = ms_as_ns(std::str::from_utf8(text).ok()?.trim(), &mut Vec::new())?;
    u64::try_from(ns).ok().map(|ns| ns / 1_000)
}

/// Converts milliseconds to ns, rounded to the nearest.
fn ms_as_ns(text: &str, odd: &mut Vec<Kind>) -> Option<i64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "000"));
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_plain(whole) || !is_plain(decimals) {
        odd.push(Kind::Notation);
        let value: f64 = text.parse().ok()?;
        return (value.abs() <= MAX_MS as f64).then(|| (value * 1e6).round() as i64);
    }
    if decimals.len() > WRITTEN_DECIMALS {
        odd.push(Kind::Decimals);
    }
    let whole: i64 = whole.parse().ok().filter(|&whole| whole <= MAX_MS as i64)?;
    let digit = |at: usize| i64::from(decimals.as_bytes().get(at).map_or(0, |digit| digit - b'0'));
    let kept = (0..KEPT_DECIMALS).fold(0, |sum, at| sum * 10 + digit(at));
    let ns = whole * 1_000_000 + kept + i64::from(digit(KEPT_DECIMALS) >= 5);
    Some(if unsigned.len() < text.len() { -ns } else { ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> Option<(i64, usize)> {
        let mut odd = Vec::new();
        ms_as_ns(text, &mut odd).map(|ns| (ns, odd.len()))
    }

    #[test]
    fn numbers_of_milliseconds_are_read_as_python_reads_them() {
        let cases = [
            ("5.5", Some((5_500_000, 0))),
            ("-0.25", Some((-250_000, 0))),
            ("1.2345", Some((1_234_500, 1))),
            ("1.2345678", Some((1_234_568, 1))),
            ("-1.2345675", Some((-1_234_568, 1))),
            ("1e3", Some((1_000_000_000, 1))),
            ("+5", Some((5_000_000, 1))),
            (".5", Some((500_000, 1))),
            ("5.", Some((5_000_000, 1))),
            ("nan", None),
            ("inf", None),
            ("1e99", None),
            ("4000000000001", None),
            ("--5", None),
            ("1_000", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(ns(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_needs_the_fields_that_its_event_has() {
        let odd = |line: &str| event_line(line.as_bytes(), Direction::Data).map(|line| line.odd.len());
        assert_eq!(odd(" 1.000 + 1500 1"), Some(1));
        assert_eq!(odd(" 1.0000 - 1500 2.0000 1"), Some(3));
        assert_eq!(odd("1.000 + +1500 1"), Some(1));
        assert_eq!(odd("-1.000 + 1500 1"), Some(0));
        for line in
            ["", " ", "1 +", "1 ! 1500", "1 - 1500", "1 + 1500 1 1", "1 # 1500 1", "1 + 1.5", "x + 1500"]
        {
            assert_eq!(odd(line), None, "{line}");
        }
    }
}

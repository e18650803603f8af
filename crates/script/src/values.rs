//! Text forms of values: times, packet numbers, whole numbers, bytes.

use core::fmt::Write;
use serde_json::Value as Json;
use units::{Span, Time};

/// Ranges of packet numbers, first and last, in written order.
pub(crate) type Numbers = Vec<(u64, u64)>;

/// Maximum packets of one event.
pub(crate) const MAX_PACKETS: u64 = 100_000;
/// Maximum number of bytes or of bit/s, and maximum packet number.
const MAX_WHOLE: u64 = 1_000_000_000_000_000;
/// Maximum time, s.
const MAX_SECONDS: u64 = 1_000_000;

/// Reads seconds with at most nine decimals, exactly.
pub(crate) fn parse_span(text: &str) -> Option<Span> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 9 {
        return None;
    }
    let whole = whole.parse::<u64>().ok().filter(|whole| *whole <= MAX_SECONDS)?;
    let ns = format!("{decimals:0<9}").parse::<u64>().ok()?;
    Some(Span::from_ns(whole * 1_000_000_000 + ns))
}

/// Writes a duration in s, exactly.
pub(crate) fn span_text(span: Span) -> String {
    let ns = span.as_ns();
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Writes a time in s, exactly.
pub(crate) fn time_text(time: Time) -> String {
    span_text(time - Time::ZERO)
}

/// Reads a whole number that leaves room for sums.
pub(crate) fn parse_whole(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= MAX_WHOLE)
}

/// Reads `4`, `0..9` or `0..3,5`. The ranges contain at most [`MAX_PACKETS`] numbers.
pub(crate) fn parse_numbers(text: &str) -> Option<Numbers> {
    let ranges: Option<Numbers> = text
        .split(',')
        .map(|part| {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            let (first, last) = (parse_whole(first)?, parse_whole(last)?);
            (first <= last && last - first < MAX_PACKETS).then_some((first, last))
        })
        .collect();
    ranges.filter(|ranges| count(ranges) <= MAX_PACKETS)
}

/// Returns the count of numbers in `ranges`.
fn count(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|(first, last)| last - first + 1).sum()
}

/// Returns every number in `ranges`.
pub(crate) fn all_numbers(ranges: &[(u64, u64)]) -> impl Iterator<Item = u64> {
    ranges.iter().flat_map(|(first, last)| *first..=*last)
}

/// Joins ascending numbers to ranges.
pub(crate) fn join_ranges(numbers: impl Iterator<Item = u64>) -> Numbers {
    let mut ranges = Numbers::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// Writes packet numbers.
pub(crate) fn numbers_text(ranges: &[(u64, u64)]) -> String {
    let part = |&(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}..{last}") }
    };
    if ranges.is_empty() { "none".to_owned() } else { ranges.iter().map(part).collect::<Vec<_>>().join(",") }
}

/// Returns packet numbers as JSON: first and last of each range.
pub(crate) fn numbers_json(ranges: &[(u64, u64)]) -> Json {
    ranges.iter().map(|(first, last)| Json::from(vec![*first, *last])).collect()
}

/// Reads bytes in hexadecimal digits.
pub(crate) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// Writes bytes in hexadecimal digits.
pub(crate) fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_and_written_exactly() {
        for (text, ns) in [("0", 0), ("0.1", 100_000_000), ("12.000000001", 12_000_000_001)] {
            let span = parse_span(text).unwrap();
            assert_eq!((span.as_ns(), span_text(span)), (ns, text.to_owned()));
        }
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e3", "0.1234567891", "2000000", "nan"] {
            assert!(parse_span(text).is_none(), "{text}");
        }
    }

    #[test]
    fn packet_numbers_are_ranges_with_both_ends() {
        assert_eq!(parse_numbers("0..3,5"), Some(vec![(0, 3), (5, 5)]));
        assert_eq!(numbers_text(&join_ranges([0, 1, 2, 3, 5].into_iter())), "0..3,5");
        for text in ["", "..", "3..1", "a", "0..999999999", "1,,2", "18446744073709551615"] {
            assert!(parse_numbers(text).is_none(), "{text}");
        }
    }

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(parse_hex("00ff"), Some(vec![0, 255]));
        assert_eq!(hex_text(&[0, 255]), "00ff");
        assert!(["f", "0g", "éé"].iter().all(|text| parse_hex(text).is_none()));
    }
}

//! Numbers in words.

/// Formats a time since the start of the run.
pub(super) fn at(time_ns: u64) -> String {
    let s = time_ns as f64 / 1e9;
    if s < 10.0 { format!("{s:.3} s") } else { format!("{s:.2} s") }
}

/// Formats a duration.
pub(super) fn span(ns: f64) -> String {
    let (value, unit) = match ns {
        _ if ns < 1e6 => (ns / 1e3, "µs"),
        _ if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    if value < 10.0 {
        format!("{value:.2} {unit}")
    } else if value < 100.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}

/// Formats an amount of data.
pub(super) fn bytes(bytes: f64) -> String {
    match bytes {
        _ if bytes < 1e4 => format!("{bytes:.0} bytes"),
        _ if bytes < 1e6 => format!("{:.1} kB", bytes / 1e3),
        _ => format!("{:.2} MB", bytes / 1e6),
    }
}

/// Formats a count: `1 packet`, `2 packets`.
pub(super) fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Formats a part of a whole.
pub(super) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent > 0.0 && percent < 1.0 { "less than 1 %".to_owned() } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_no_more_digits_than_say_something() {
        assert_eq!([at(1_234_567_890), at(12_345_678_901)], ["1.235 s", "12.35 s"]);
        assert_eq!([4_500.0, 12.34e6, 2.5e9].map(span), ["4.50 µs", "12.3 ms", "2.50 s"]);
        assert_eq!([1_500.0, 25_000.0, 2.5e6].map(bytes), ["1500 bytes", "25.0 kB", "2.50 MB"]);
        assert_eq!((count(1, "packet"), count(7, "packet")), ("1 packet".into(), "7 packets".into()));
        assert_eq!([0.004, 0.5].map(percent), ["less than 1 %", "50 %"]);
    }
}

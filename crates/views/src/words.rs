//! Times and durations as text.

/// Returns a time since the start of the run: `12.345678 s`.
pub(crate) fn at(time_ns: u64) -> String {
    format!("{}.{:06} s", time_ns / 1_000_000_000, time_ns % 1_000_000_000 / 1_000)
}

/// Returns a duration with a unit: `450 ns`, `12.3 µs`, `45.6 ms`, `7.8 s`.
pub(crate) fn span(ns: u64) -> String {
    let ns = ns as f64;
    let (value, unit) = match ns {
        _ if ns < 1e3 => return format!("{ns} ns"),
        _ if ns < 1e6 => (ns / 1e3, "µs"),
        _ if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    if value < 100.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!(at(12_345_678_901), "12.345678 s");
        assert_eq!(
            [450, 12_340, 456_700_000, 7_810_000_000].map(span),
            ["450 ns", "12.3 µs", "457 ms", "7.8 s"]
        );
    }
}

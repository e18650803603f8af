//! Modes of controllers by name.

use std::collections::BTreeMap;

/// Maximum number of changes kept per field.
const MOST_CHANGES: usize = 1 << 16;

/// Returns the names that a unit like `0 startup, 1 drain` lists; `None` for other units.
pub fn enumerated(unit: &str) -> Option<Vec<&str>> {
    let names: Option<Vec<&str>> = unit
        .split(", ")
        .enumerate()
        .map(|(number, part)| {
            let (digits, name) = part.split_once(' ')?;
            (digits.parse() == Ok(number) && !name.is_empty()).then_some(name)
        })
        .collect();
    names.filter(|names| names.len() > 1)
}

/// Field that tells the mode of a controller.
#[derive(Clone, Debug)]
pub(super) struct Mode {
    pub(super) field: String,
    pub(super) names: Vec<String>,
    /// Times of changes, ns, with the new modes. The first is the first value.
    pub(super) changes: Vec<(u64, usize)>,
    /// Time of the latest value, ns.
    pub(super) told_ns: u64,
    /// For each change, the time of the last value with the old mode, ns: a sampled mode changed between the two.
    pub(super) since: Vec<u64>,
}

impl Mode {
    pub(super) fn new(field: &str, unit: &str) -> Option<Self> {
        let names: Vec<String> = enumerated(unit)?.into_iter().map(str::to_owned).collect();
        Some(Self { field: field.to_owned(), names, changes: Vec::new(), told_ns: 0, since: Vec::new() })
    }

    pub(super) fn value(&mut self, time_ns: u64, value: f64) {
        let mode = value as usize;
        let is_new = self.changes.last().is_none_or(|&(_, last)| last != mode);
        if is_new && mode < self.names.len() && self.changes.len() < MOST_CHANGES {
            self.since.push(if self.changes.is_empty() { time_ns } else { self.told_ns });
            self.changes.push((time_ns, mode));
        }
        self.told_ns = time_ns;
    }

    /// Returns the time spent in each mode, ns, by name.
    pub(super) fn times(&self, end_ns: u64) -> BTreeMap<&str, u64> {
        let mut times = BTreeMap::new();
        let ends = self.changes.iter().skip(1).map(|&(time_ns, _)| time_ns).chain([end_ns]);
        for (&(from_ns, mode), to_ns) in self.changes.iter().zip(ends) {
            *times.entry(self.names[mode].as_str()).or_default() += to_ns.saturating_sub(from_ns);
        }
        times
    }

    /// Returns true if the field is a switch.
    pub(super) fn is_switch(&self) -> bool {
        self.names == ["no", "yes"]
    }

    /// Returns the mode in which a flow probes the capacity at first, if this field names one.
    pub(super) fn start(&self) -> Option<usize> {
        if self.is_switch() {
            return matches!(self.field.as_str(), "slow_start" | "fast_start").then_some(1);
        }
        self.names.iter().position(|name| matches!(name.as_str(), "slow start" | "startup" | "starting"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_list_names_are_read() {
        assert_eq!(enumerated("0 startup, 1 drain, 2 probe_bw"), Some(vec!["startup", "drain", "probe_bw"]));
        assert_eq!(enumerated("0 slow start, 1 avoidance"), Some(vec!["slow start", "avoidance"]));
        for other in ["", "ms", "0 one", "1 a, 2 b", "0 a, 2 b", "0 a,1 b", "Mbit/s"] {
            assert_eq!(enumerated(other), None, "{other}");
        }
    }

    #[test]
    fn times_in_modes_add_up() {
        let mut mode = Mode::new("mode", "0 startup, 1 drain").unwrap();
        for (at, value) in [(10, 0.0), (20, 0.0), (30, 1.0), (50, 0.0), (60, 9.0)] {
            mode.value(at, value);
        }
        assert_eq!(mode.changes, [(10, 0), (30, 1), (50, 0)]);
        assert_eq!(mode.since, [10, 20, 30]);
        let times = mode.times(100);
        assert_eq!((times["startup"], times["drain"]), (70, 20));
    }
}

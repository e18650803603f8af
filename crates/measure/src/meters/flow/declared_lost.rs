//! Packets that a sender declared lost and that were never acknowledged.

use std::collections::BTreeMap;

/// Packets declared lost, by number; true if the declaration is within the corrected convention's time.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeclaredLost {
    lost: BTreeMap<u64, bool>,
}

impl DeclaredLost {
    /// Records that packet `number` was declared lost; the first of several declarations counts.
    pub(crate) fn lost(&mut self, number: u64, is_measured: bool) {
        self.lost.entry(number).or_insert(is_measured);
    }

    /// Records that packet `number` was acknowledged: an earlier declaration was a false alarm.
    pub(crate) fn arrived(&mut self, number: u64) {
        self.lost.remove(&number);
    }

    /// Returns the number of packets declared lost.
    pub(crate) fn open(&self) -> u64 {
        self.lost.len() as u64
    }

    /// Returns the number of packets that the corrected convention counts.
    pub(crate) fn measured_losses(&self) -> u64 {
        self.lost.values().filter(|is_measured| **is_measured).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_alarms_and_repetitions_do_not_count() {
        let mut declared = DeclaredLost::default();
        for (number, is_measured) in [(1, false), (1, true), (2, true), (3, true), (4, true), (4, true)] {
            declared.lost(number, is_measured);
        }
        declared.arrived(3);
        declared.arrived(9);
        assert_eq!((declared.open(), declared.measured_losses()), (3, 2));
    }
}

//! Ledger of sent and delivered packets by sending time, from which packets in flight are estimated.

/// Maximum number of time slices; beyond that neighbours are joined, so memory does not grow with the run.
const MAX_SLICES: usize = 1_024;
/// Length of the first slices: 2^20 ns, about a millisecond.
const FIRST_SHIFT: u32 = 20;

/// Packets sent, and packets of these delivered, per slice of sending time.
///
/// Used for logs that do not tell drops. A packet without delivery is lost if it was sent longer ago than any delay of
/// its flow; a younger one may be in flight. A slice is at most `run length / 512` long. The slice that contains the
/// limit counts as young.
#[derive(Clone, Debug)]
pub(crate) struct SendLedger {
    shift: u32,
    slices: Vec<Slice>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    sent: u64,
    delivered: u64,
}

/// Fate of the packets that a flow sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) lost: u64,
    pub(crate) delivered: u64,
    pub(crate) under_way: u64,
}

impl Fate {
    /// Returns the lost share of the packets with a known fate; `None` if there are no such packets.
    pub(crate) fn loss_rate(self) -> Option<f64> {
        let decided = self.lost + self.delivered;
        (decided > 0).then(|| self.lost as f64 / decided as f64)
    }
}

impl Default for SendLedger {
    fn default() -> Self {
        Self { shift: FIRST_SHIFT, slices: Vec::new() }
    }
}

impl SendLedger {
    #[inline]
    pub(crate) fn sent(&mut self, sent_ns: u64) {
        self.slice(sent_ns).sent += 1;
    }

    #[inline]
    pub(crate) fn delivered(&mut self, sent_ns: u64) {
        self.slice(sent_ns).delivered += 1;
    }

    /// Counts the packets sent before `limit_ns` as lost or delivered, and the others as delivered or in flight.
    pub(crate) fn fate(&self, limit_ns: u64) -> Fate {
        self.fate_from(0, limit_ns)
    }

    /// Counts only packets sent at `from_ns` or later, as in [`Self::fate`]; the slice that contains `from_ns` is left
    /// out.
    pub(crate) fn fate_from(&self, from_ns: u64, limit_ns: u64) -> Fate {
        let index = |time_ns: u64| ((time_ns >> self.shift) as usize).min(self.slices.len());
        let first = index(from_ns.saturating_add((1 << self.shift) - 1));
        let (old, young) = self.slices.split_at(index(limit_ns));
        let old = old.get(first..).unwrap_or_default();
        let sum = |slices: &[Slice]| {
            slices.iter().fold((0, 0), |sum, slice| (sum.0 + slice.sent, sum.1 + slice.delivered))
        };
        let ((old_sent, old_delivered), (young_sent, young_delivered)) = (sum(old), sum(young));
        Fate {
            // Duplicates can make more packets arrive than were sent.
            lost: old_sent.saturating_sub(old_delivered),
            delivered: old_delivered,
            under_way: young_sent.saturating_sub(young_delivered),
        }
    }

    #[inline]
    fn slice(&mut self, sent_ns: u64) -> &mut Slice {
        let index = (sent_ns >> self.shift) as usize;
        if index < self.slices.len() {
            return &mut self.slices[index];
        }
        self.grow(sent_ns)
    }

    #[cold]
    fn grow(&mut self, sent_ns: u64) -> &mut Slice {
        while sent_ns >> self.shift >= MAX_SLICES as u64 {
            self.shift += 1;
            let join = |pair: &[Slice]| {
                pair.iter().fold(Slice::default(), |sum, slice| Slice {
                    sent: sum.sent + slice.sent,
                    delivered: sum.delivered + slice.delivered,
                })
            };
            self.slices = self.slices.chunks(2).map(join).collect();
        }
        let index = (sent_ns >> self.shift) as usize;
        if index >= self.slices.len() {
            self.slices.resize(index + 1, Slice::default());
        }
        &mut self.slices[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn old_packets_that_never_arrived_are_lost_and_young_ones_are_under_way() {
        let mut ledger = SendLedger::default();
        // A packet every 10 ms for 1 s; the packets of 100, 200, 300 ms are lost, the last five have not arrived.
        for i in 0..100 {
            ledger.sent(i * 10 * MS);
            if ![10, 20, 30].contains(&i) && i < 95 {
                ledger.delivered(i * 10 * MS);
            }
        }
        let fate = ledger.fate(940 * MS);
        // Slice 896 (939.5 to 940.6 ms) contains the limit and is young: packets 0..=93 are old.
        assert_eq!(fate, Fate { lost: 3, delivered: 91, under_way: 5 });
    }

    #[test]
    fn packets_sent_before_a_time_can_be_left_out() {
        let mut ledger = SendLedger::default();
        // A packet every 10 ms; the first 20 are lost, and every fifth of the others.
        for i in 0..100 {
            ledger.sent(i * 10 * MS);
            if i >= 20 && i % 5 != 0 {
                ledger.delivered(i * 10 * MS);
            }
        }
        // From the slice after 299 ms to the slice of 500 ms: 20 packets, 4 of them lost.
        let fate = ledger.fate_from(299 * MS, 500 * MS);
        assert_eq!((fate.lost, fate.delivered), (4, 16));
        assert_eq!(ledger.fate_from(700 * MS, 600 * MS).loss_rate(), None);
    }

    #[test]
    fn memory_stays_bounded_over_an_hour_and_nothing_is_forgotten() {
        let mut ledger = SendLedger::default();
        for second in 0..3_600 {
            ledger.sent(second * 1_000 * MS);
            if second % 4 != 0 {
                ledger.delivered(second * 1_000 * MS);
            }
        }
        assert!(ledger.slices.len() <= MAX_SLICES);
        assert_eq!(ledger.fate(u64::MAX), Fate { lost: 900, delivered: 2_700, under_way: 0 });
        assert_eq!(ledger.fate(0), Fate { lost: 0, delivered: 0, under_way: 900 });
    }

    #[test]
    fn duplicates_never_make_packets_appear() {
        let mut ledger = SendLedger::default();
        ledger.sent(5);
        ledger.delivered(5);
        ledger.delivered(5);
        assert_eq!(ledger.fate(u64::MAX), Fate { lost: 0, delivered: 2, under_way: 0 });
    }

    #[test]
    fn the_latest_possible_time_is_a_time() {
        let mut ledger = SendLedger::default();
        ledger.sent(3);
        ledger.sent(u64::MAX);
        assert_eq!(ledger.fate(0).under_way, 2);
    }
}

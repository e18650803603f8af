//! Checkpoints of a flow's packet numbers, to find a packet in a log.

/// Maximum checkpoints of a flow.
const MAX_CHECKPOINTS: usize = 1 << 11;

/// Times with the highest packet number sent until then, every `stride` packets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Checkpoints {
    /// Time, ns, and the highest number of all packets sent until then.
    pub(crate) at: Vec<(u64, u64)>,
    /// Packets between two checkpoints.
    pub(crate) stride: u64,
    /// Packets until the next checkpoint.
    left: u64,
    /// Highest number so far.
    highest: u64,
    /// True if the packet numbers never decreased.
    pub(crate) ascends: bool,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self { at: Vec::new(), stride: 1, left: 0, highest: 0, ascends: true }
    }
}

impl Checkpoints {
    pub(crate) fn of(at: Vec<(u64, u64)>, stride: u64, ascends: bool) -> Self {
        let highest = at.last().map_or(0, |&(_, seq)| seq);
        Self { at, stride, left: stride, highest, ascends }
    }

    /// Returns the maximum number of checkpoints.
    pub(crate) const fn most() -> usize {
        MAX_CHECKPOINTS
    }

    /// Adds a sent packet.
    #[inline]
    pub(crate) fn add(&mut self, time_ns: u64, seq: u64) {
        self.ascends &= seq >= self.highest;
        self.highest = self.highest.max(seq);
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        self.note(time_ns);
    }

    fn note(&mut self, time_ns: u64) {
        let time_ns = self.at.last().map_or(time_ns, |&(last_ns, _)| last_ns.max(time_ns));
        self.at.push((time_ns, self.highest));
        if self.at.len() > MAX_CHECKPOINTS {
            self.stride *= 2;
            let mut place = 0;
            self.at.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        self.left = self.stride - 1;
    }

    /// Returns the times, ns, between which the packet with this number was sent. Requires ascending numbers.
    pub(crate) fn around(&self, seq: u64) -> (u64, u64) {
        let place = self.at.partition_point(|&(_, highest)| highest < seq);
        let from_ns = place.checked_sub(1).map_or(0, |before| self.at[before].0);
        let to_ns = self.at.get(place).map_or(u64::MAX, |&(time_ns, _)| time_ns);
        (from_ns, to_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_is_found_between_two_of_them() {
        let mut checkpoints = Checkpoints::default();
        let sent = |seq: u64| seq * 7 + seq % 3;
        (0..100_000).for_each(|seq| checkpoints.add(sent(seq), seq));
        assert!(checkpoints.at.len() <= MAX_CHECKPOINTS && checkpoints.ascends);
        for seq in [0, 1, 2, 77, 4_095, 4_096, 50_001, 99_999] {
            let (from_ns, to_ns) = checkpoints.around(seq);
            assert!(from_ns <= sent(seq) && sent(seq) <= to_ns, "{seq}");
            assert!(to_ns == u64::MAX || to_ns - from_ns <= 8 * checkpoints.stride + 8);
        }
    }
}

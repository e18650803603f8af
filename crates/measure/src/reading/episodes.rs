//! Loss episodes: losses close to each other.

/// Maximum number of episodes per flow: beyond it, neighbouring episodes are joined.
const MOST: usize = 1 << 14;
/// Minimum distance of two episodes, ns, however short the round trip.
const LEAST_GAP_NS: u64 = 1_000_000;

/// One loss episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Episode {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) packets: u64,
    /// Packets that arrived although they were sent between the episode's first and last loss.
    pub(super) survivors: u64,
}

/// Episodes of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Episodes {
    pub(super) list: Vec<Episode>,
    factor: u64,
}

impl Episodes {
    /// Adds a lost packet. A packet lost a round trip or more after the previous loss begins another episode.
    pub(super) fn lost(&mut self, time_ns: u64, round_trip_ns: u64) {
        let gap_ns = round_trip_ns.max(LEAST_GAP_NS).saturating_mul(self.factor.max(1));
        match self.list.last_mut() {
            Some(last) if time_ns.saturating_sub(last.to_ns) < gap_ns => {
                last.to_ns = last.to_ns.max(time_ns);
                last.packets += 1;
            }
            _ => {
                self.list.push(Episode { from_ns: time_ns, to_ns: time_ns, packets: 1, survivors: 0 });
                if self.list.len() > MOST {
                    self.join();
                }
            }
        }
    }

    /// Counts the arrival of a packet that was sent at this time.
    pub(super) fn arrived(&mut self, sent_ns: u64) {
        if let Some(last) = self.list.last_mut()
            && last.from_ns < sent_ns
            && sent_ns < last.to_ns
        {
            last.survivors += 1;
        }
    }

    #[cold]
    fn join(&mut self) {
        self.factor = self.factor.max(1) * 2;
        let mut joined: Vec<Episode> = Vec::with_capacity(MOST);
        for pair in self.list.chunks(2) {
            let (first, last) = (pair[0], pair[pair.len() - 1]);
            let packets = pair.iter().map(|one| one.packets).sum();
            let survivors = pair.iter().map(|one| one.survivors).sum();
            joined.push(Episode { from_ns: first.from_ns, to_ns: last.to_ns, packets, survivors });
        }
        self.list = joined;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_within_a_round_trip_are_one_episode() {
        let mut episodes = Episodes::default();
        for at in [0, 10, 20, 100, 101, 500] {
            episodes.lost(at * 1_000_000, 40_000_000);
        }
        let ranges: Vec<_> = episodes
            .list
            .iter()
            .map(|one| (one.from_ns / 1_000_000, one.to_ns / 1_000_000, one.packets))
            .collect();
        assert_eq!(ranges, [(0, 20, 3), (100, 101, 2), (500, 500, 1)]);
    }

    #[test]
    fn memory_is_bounded_and_no_loss_is_forgotten() {
        let mut episodes = Episodes::default();
        (0..100_000).for_each(|at| episodes.lost(at * 10_000_000, 0));
        assert!(episodes.list.len() <= MOST);
        assert_eq!(episodes.list.iter().map(|one| one.packets).sum::<u64>(), 100_000);
    }
}

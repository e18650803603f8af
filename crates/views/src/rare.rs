//! Events that are rare enough to be kept one by one.

use record::Event;
use std::collections::HashMap;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RareKind {
    /// A data packet was dropped inside the path.
    Drop = 0,
    /// A data packet was marked.
    Mark = 1,
    /// The sender declared a data packet lost.
    Lost = 2,
    /// A packet of the return direction was dropped.
    AckDrop = 3,
    /// The controller changed its mode.
    Mode = 4,
}

impl RareKind {
    /// All of them; the position is the code.
    pub const ALL: [Self; 5] = [Self::Drop, Self::Mark, Self::Lost, Self::AckDrop, Self::Mode];
    /// Their names.
    pub const NAMES: [&'static str; 5] = ["drop", "mark", "lost", "ack_drop", "mode"];

    /// What a packet event is, if it is rare.
    pub(crate) const fn of(event: Event) -> Option<Self> {
        match event {
            Event::Drop => Some(Self::Drop),
            Event::Mark => Some(Self::Mark),
            Event::Lost => Some(Self::Lost),
            Event::AckDrop => Some(Self::AckDrop),
            _ => None,
        }
    }
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rare {
    pub(crate) time_ns: u64,
    pub(crate) flow: u32,
    /// Number of the packet; of a mode its text, as a position in the list of texts.
    pub(crate) what: u64,
}

/// The events of one kind, in order of time once the run is over.
///
/// When there are too many, of each flow the first in each cell of time is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rares {
    pub(crate) kept: Vec<Rare>,
    /// How many there were.
    pub(crate) total: u64,
    /// 0 as long as all are kept.
    pub(crate) cell_ns: u64,
    /// The latest cell of each flow of which something is kept.
    latest: HashMap<u32, u64>,
}

impl Rares {
    pub(crate) fn of(kept: Vec<Rare>, total: u64, cell_ns: u64) -> Self {
        Self { kept, total, cell_ns, latest: HashMap::new() }
    }

    /// Whether some are left out.
    pub(crate) const fn is_thinned(&self) -> bool {
        self.cell_ns > 0
    }

    #[inline]
    pub(crate) fn add(&mut self, event: Rare, most: usize) {
        self.total += 1;
        if let Some(cell) = event.time_ns.checked_div(self.cell_ns)
            && self.latest.insert(event.flow, cell) == Some(cell)
        {
            return;
        }
        self.kept.push(event);
        if self.kept.len() > most {
            self.thin(most);
        }
    }

    #[cold]
    fn thin(&mut self, most: usize) {
        self.sort();
        let (Some(first), Some(last)) = (self.kept.first(), self.kept.last()) else { return };
        let span_ns = (last.time_ns - first.time_ns).saturating_add(1);
        let first_ns = (span_ns / most as u64).max(1).next_power_of_two();
        self.cell_ns = self.cell_ns.saturating_mul(2).max(first_ns);
        loop {
            let cell_ns = self.cell_ns;
            let latest = &mut self.latest;
            latest.clear();
            self.kept.retain(|event| {
                let cell = event.time_ns / cell_ns;
                latest.insert(event.flow, cell) != Some(cell)
            });
            if self.kept.len() <= most / 2 || cell_ns >= u64::MAX / 2 {
                // more flows than that: only the first of them are kept
                self.kept.truncate(most / 2);
                return;
            }
            self.cell_ns *= 2;
        }
    }

    /// Puts them in order of time.
    pub(crate) fn sort(&mut self) {
        self.kept.sort_by_key(|event| event.time_ns);
    }

    /// Those that are kept of this time.
    pub(crate) fn within(&self, from_ns: u64, to_ns: u64) -> &[Rare] {
        let from = self.kept.partition_point(|event| event.time_ns < from_ns);
        let to = self.kept.partition_point(|event| event.time_ns < to_ns);
        &self.kept[from..to.max(from)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_are_thinned_evenly_over_time_and_flow() {
        let mut rares = Rares::default();
        for at in 0..100_000u64 {
            rares.add(Rare { time_ns: at * 1_000, flow: (at % 2) as u32 + 1, what: at }, 1_000);
        }
        rares.sort();
        assert!(rares.is_thinned() && rares.total == 100_000);
        assert!((250..=1_000).contains(&rares.kept.len()), "{}", rares.kept.len());
        for flow in [1, 2] {
            let times: Vec<_> =
                rares.kept.iter().filter(|event| event.flow == flow).map(|event| event.time_ns).collect();
            assert!(times.windows(2).all(|pair| pair[1] - pair[0] <= 2 * rares.cell_ns));
            assert!(times[0] < 2 * rares.cell_ns && 100_000_000 - times.last().unwrap() <= 2 * rares.cell_ns);
        }
    }

    #[test]
    fn few_are_all_kept() {
        let mut rares = Rares::default();
        (0..1_000).for_each(|at| rares.add(Rare { time_ns: at, flow: 1, what: at }, 1_000));
        assert!(!rares.is_thinned());
        assert_eq!(rares.within(10, 20).len(), 10);
    }
}

//! Rare events, stored one by one.

use record::Event;
use std::collections::HashMap;

/// Kind of a rare event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RareKind {
    /// The path dropped a data packet.
    Drop = 0,
    /// The path marked a data packet.
    Mark = 1,
    /// The sender declared a data packet lost.
    Lost = 2,
    /// The path dropped a packet of the ACK direction.
    AckDrop = 3,
    /// The controller changed its mode.
    Mode = 4,
}

impl RareKind {
    /// All kinds; the position is the code.
    pub const ALL: [Self; 5] = [Self::Drop, Self::Mark, Self::Lost, Self::AckDrop, Self::Mode];
    /// Names of the kinds.
    pub const NAMES: [&'static str; 5] = ["drop", "mark", "lost", "ack_drop", "mode"];

    /// Returns the kind of a packet event, or `None` if the event is not rare.
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

/// Rare event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rare {
    pub(crate) time_ns: u64,
    pub(crate) flow: u32,
    /// Number of the packet; for a mode, the position of its name in the list of texts.
    pub(crate) detail: u64,
}

/// Events of one kind, in order of time at the end of the run.
///
/// If there are too many events, only the first of each flow in each cell of time is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rares {
    pub(crate) events: Vec<Rare>,
    /// Number of events that happened.
    pub(crate) total: u64,
    /// Width of a cell, ns; 0 as long as all events are stored.
    pub(crate) cell_ns: u64,
    /// Latest cell with a stored event, by flow.
    latest: HashMap<u32, u64>,
}

impl Rares {
    pub(crate) fn of(events: Vec<Rare>, total: u64, cell_ns: u64) -> Self {
        Self { events, total, cell_ns, latest: HashMap::new() }
    }

    /// Returns true if some events are left out.
    pub(crate) const fn is_thinned(&self) -> bool {
        self.cell_ns > 0
    }

    #[inline]
    pub(crate) fn add(&mut self, event: Rare, max: usize) {
        self.total += 1;
        if let Some(cell) = event.time_ns.checked_div(self.cell_ns)
            && self.latest.insert(event.flow, cell) == Some(cell)
        {
            return;
        }
        self.events.push(event);
        if self.events.len() > max {
            self.thin(max);
        }
    }

    #[cold]
    fn thin(&mut self, max: usize) {
        self.sort();
        let (Some(first), Some(last)) = (self.events.first(), self.events.last()) else { return };
        let span_ns = (last.time_ns - first.time_ns).saturating_add(1);
        let first_ns = (span_ns / max as u64).max(1).next_power_of_two();
        self.cell_ns = self.cell_ns.saturating_mul(2).max(first_ns);
        loop {
            let cell_ns = self.cell_ns;
            let latest = &mut self.latest;
            latest.clear();
            self.events.retain(|event| {
                let cell = event.time_ns / cell_ns;
                latest.insert(event.flow, cell) != Some(cell)
            });
            if self.events.len() <= max / 2 || cell_ns >= u64::MAX / 2 {
                // There are more flows than events allowed: only the first events stay.
                self.events.truncate(max / 2);
                return;
            }
            self.cell_ns *= 2;
        }
    }

    /// Sorts the events by time.
    pub(crate) fn sort(&mut self) {
        self.events.sort_by_key(|event| event.time_ns);
    }

    /// Returns the stored events of this time.
    pub(crate) fn within(&self, from_ns: u64, to_ns: u64) -> &[Rare] {
        let from = self.events.partition_point(|event| event.time_ns < from_ns);
        let to = self.events.partition_point(|event| event.time_ns < to_ns);
        &self.events[from..to.max(from)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_are_thinned_evenly_over_time_and_flow() {
        let mut rares = Rares::default();
        for at in 0..100_000u64 {
            rares.add(Rare { time_ns: at * 1_000, flow: (at % 2) as u32 + 1, detail: at }, 1_000);
        }
        rares.sort();
        assert!(rares.is_thinned() && rares.total == 100_000);
        assert!((250..=1_000).contains(&rares.events.len()), "{}", rares.events.len());
        for flow in [1, 2] {
            let times: Vec<_> =
                rares.events.iter().filter(|event| event.flow == flow).map(|event| event.time_ns).collect();
            assert!(times.windows(2).all(|pair| pair[1] - pair[0] <= 2 * rares.cell_ns));
            assert!(times[0] < 2 * rares.cell_ns && 100_000_000 - times.last().unwrap() <= 2 * rares.cell_ns);
        }
    }

    #[test]
    fn few_are_all_kept() {
        let mut rares = Rares::default();
        (0..1_000).for_each(|at| rares.add(Rare { time_ns: at, flow: 1, detail: at }, 1_000));
        assert!(!rares.is_thinned());
        assert_eq!(rares.within(10, 20).len(), 10);
    }
}

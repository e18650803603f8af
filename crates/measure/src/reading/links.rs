//! Samples of links and the values derived from them.

/// Maximum number of samples kept per link.
const MOST: usize = 1 << 18;
/// Minimum delivered share of a full link's capacity.
const FULL: f64 = 0.95;

/// State of a link at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LinkSample {
    pub(super) time_ns: u64,
    pub(super) queue_packets: f64,
    pub(super) queue_bytes: f64,
    pub(super) dropped: f64,
    pub(super) delivered: f64,
    pub(super) offered: Option<f64>,
}

/// One link with its samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) samples: Vec<LinkSample>,
}

/// Links of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    pub(super) list: Vec<Link>,
    is_thinned: bool,
}

impl Links {
    pub(super) fn value(&mut self, time_ns: u64, name: &str, field: &str, value: f64) {
        let place = match self.list.iter().position(|link| link.name == name) {
            Some(place) => place,
            None if self.list.len() >= 256 => return,
            None => {
                self.list.push(Link { name: name.to_owned(), ..Link::default() });
                self.list.len() - 1
            }
        };
        let samples = &mut self.list[place].samples;
        if samples.last().is_some_and(|last| last.time_ns > time_ns) {
            return;
        }
        if samples.last().is_none_or(|last| last.time_ns != time_ns) {
            if samples.len() >= MOST {
                self.is_thinned = true;
                return;
            }
            samples.push(LinkSample { time_ns, ..LinkSample::default() });
        }
        let Some(last) = samples.last_mut() else { return };
        match field {
            "queue" => last.queue_packets = value,
            "queue_bytes" => last.queue_bytes = value,
            "dropped" => last.dropped = value,
            "delivered" => last.delivered = value,
            "offered" => last.offered = Some(value),
            _ => {}
        }
    }

    /// Returns the links of the data direction, if their samples are complete.
    pub(super) fn of_data(&self) -> Option<impl Iterator<Item = &Link>> {
        let mut links = self.list.iter().filter(|link| link.name.starts_with("data/")).peekable();
        (links.peek().is_some() && !self.is_thinned).then_some(links)
    }
}

impl Link {
    /// Returns the last sample at or before the first time, and the first sample at or after the second time.
    fn around(&self, from_ns: u64, to_ns: u64) -> Option<(LinkSample, LinkSample)> {
        // a drop at the instant of a sample may or may not be in the sample
        let before = self.samples.partition_point(|sample| sample.time_ns < from_ns);
        let after = self.samples.partition_point(|sample| sample.time_ns <= to_ns);
        let first = before.checked_sub(1).map_or(LinkSample::default(), |place| self.samples[place]);
        Some((first, *self.samples.get(after).or(self.samples.last().filter(|last| last.time_ns >= to_ns))?))
    }

    /// Returns the number of packets that the link's queue dropped around a time, and the exact interval of the count.
    pub(super) fn dropped(&self, from_ns: u64, to_ns: u64) -> Option<(u64, (u64, u64))> {
        let (before, after) = self.around(from_ns, to_ns)?;
        Some(((after.dropped - before.dropped).max(0.0) as u64, (before.time_ns, after.time_ns)))
    }

    /// Returns the largest sampled queue around a time, bytes.
    pub(super) fn queue_bytes(&self, from_ns: u64, to_ns: u64) -> Option<f64> {
        let (before, after) = self.around(from_ns, to_ns)?;
        let inside =
            self.samples.iter().filter(|one| (before.time_ns..=after.time_ns).contains(&one.time_ns));
        inside.map(|one| one.queue_bytes).max_by(f64::total_cmp)
    }

    /// Returns the intervals in which the link delivered almost its full capacity.
    pub(super) fn full(&self) -> Vec<(u64, u64)> {
        let mut intervals: Vec<(u64, u64)> = Vec::new();
        let mut before = LinkSample { offered: Some(0.0), ..LinkSample::default() };
        for sample in &self.samples {
            if let (Some(offered), Some(already)) = (sample.offered, before.offered)
                && offered > already
                && sample.delivered - before.delivered >= FULL * (offered - already)
            {
                match intervals.last_mut() {
                    Some(last) if last.1 == before.time_ns => last.1 = sample.time_ns,
                    _ => intervals.push((before.time_ns, sample.time_ns)),
                }
            }
            before = *sample;
        }
        intervals
    }

    /// Returns the capacity of the link around a time, Mbit/s.
    pub(super) fn rate_mbps(&self, at_ns: u64) -> Option<f64> {
        let (before, after) = self.around(at_ns, at_ns)?;
        let bytes = after.offered? - before.offered.unwrap_or(0.0);
        let ns = (after.time_ns - before.time_ns) as f64;
        (bytes > 0.0 && ns > 0.0).then(|| bytes * 8.0 * 1e3 / ns)
    }
}

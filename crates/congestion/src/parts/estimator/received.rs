//! Packets that arrived in each of the last fifty intervals of 60 ms, and the features computed from them.

use crate::Arrived;

/// Number of features, and of intervals for each feature.
const FEATURES: usize = 15;
const INTERVALS: usize = 10;
pub(super) const INPUTS: usize = FEATURES * INTERVALS;
/// Number of 60 ms intervals that are remembered: five times 600 ms.
const REMEMBERED: usize = 50;
/// Number of intervals of each length, and of short intervals in a long one.
const SHOWN: usize = INTERVALS / 2;
const LONG: usize = 10;
const STEP_S: f64 = 0.06;
/// Delay of the first packet, ms. It is arbitrary: two clocks only show differences of delays.
const BASE_DELAY_MS: f64 = 200.0;

/// Sums over the packets of an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    packets: f64,
    bytes: f64,
    /// Sum of one-way delays, ms.
    delay: f64,
    min_delay: Option<f64>,
    /// Number and sum of the gaps between packets, ms, and the sum of their squares.
    gaps: f64,
    gap: f64,
    gap_squares: f64,
    /// Number of packets missing before packets that arrived, and number of such gaps.
    lost: f64,
    loss_events: f64,
}

impl Sums {
    fn join(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.delay += other.delay;
        self.min_delay = match (self.min_delay, other.min_delay) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        self.gaps += other.gaps;
        self.gap += other.gap;
        self.gap_squares += other.gap_squares;
        self.lost += other.lost;
        self.loss_events += other.loss_events;
    }

    /// Returns the features, in the challenge's order: receive rate, packets, bytes, queueing delay, delay less its
    /// base, minimum delay, mean over minimum delay and their difference, mean and deviation of the gaps between
    /// packets, loss ratio, packets lost at a time, shares of video, audio and probes.
    fn features(&self, seconds: f64, least: f64, audio: f64) -> [f64; FEATURES] {
        let per = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        let Some(min) = self.min_delay else {
            let mut none = [0.0; FEATURES];
            none[5] = least;
            return none;
        };
        let mean = self.delay / self.packets;
        let gap = per(self.gap, self.gaps);
        let variance = per(self.gap_squares, self.gaps) - gap * gap;
        [
            self.bytes * 8.0 / seconds,
            self.packets,
            self.bytes,
            mean - least,
            mean - BASE_DELAY_MS,
            least,
            if min > 0.0 { mean / min } else { 1.0 },
            mean - min,
            gap,
            variance.max(0.0).sqrt(),
            self.lost / (self.lost + self.packets),
            per(self.lost, self.loss_events),
            1.0 - audio,
            audio,
            0.0,
        ]
    }
}

/// Statistics of the packets that arrived.
#[derive(Debug)]
pub(super) struct Received {
    /// Fraction of packets that count as audio.
    audio: f64,
    /// Finished intervals, newest last; `now` is the present interval.
    intervals: [Sums; REMEMBERED],
    now: Sums,
    /// Delay of the first packet by both clocks, ns, and the minimum delay, ms.
    base_ns: Option<i64>,
    least: Option<f64>,
    /// Arrival time of the newest packet, ms, and the number after the largest one.
    last_ms: Option<f64>,
    next_number: u64,
    payload_bytes: f64,
    datagram_bytes: f64,
    observation: [f32; INPUTS],
}

impl Received {
    pub(super) fn new(audio: f64) -> Self {
        Self {
            audio,
            intervals: [Sums::default(); REMEMBERED],
            now: Sums::default(),
            base_ns: None,
            least: None,
            last_ms: None,
            next_number: 0,
            payload_bytes: 0.0,
            datagram_bytes: 0.0,
            observation: [0.0; INPUTS],
        }
    }

    pub(super) fn add(&mut self, event: &Arrived) {
        let by_clocks = event.now.as_ns() as i64 - event.sent_at.as_ns() as i64;
        let base = *self.base_ns.get_or_insert(by_clocks);
        let delay = BASE_DELAY_MS + by_clocks.saturating_sub(base) as f64 / 1e6;
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        let now_ms = event.now.as_ns() as f64 / 1e6;
        if let Some(last) = self.last_ms.replace(now_ms) {
            let gap = now_ms - last;
            self.now.gaps += 1.0;
            self.now.gap += gap;
            self.now.gap_squares += gap * gap;
        }
        if event.number > self.next_number {
            self.now.lost += (event.number - self.next_number) as f64;
            self.now.loss_events += 1.0;
        }
        self.next_number = self.next_number.max(event.number + 1);
        self.now.packets += 1.0;
        self.now.bytes += f64::from(event.datagram_bytes);
        self.now.delay += delay;
        self.now.min_delay = Some(self.now.min_delay.map_or(delay, |least| least.min(delay)));
        self.payload_bytes += f64::from(event.bytes);
        self.datagram_bytes += f64::from(event.datagram_bytes);
    }

    /// Returns payload over whole datagrams, for all packets.
    pub(super) fn payload_share(&self) -> f32 {
        if self.datagram_bytes > 0.0 { (self.payload_bytes / self.datagram_bytes) as f32 } else { 1.0 }
    }

    /// Ends an interval and returns the features.
    pub(super) fn observation(&mut self) -> &[f32] {
        self.intervals.copy_within(1.., 0);
        self.intervals[REMEMBERED - 1] = core::mem::take(&mut self.now);
        let least = self.least.unwrap_or(0.0);
        for back in 0..SHOWN {
            let short = &self.intervals[REMEMBERED - 1 - back];
            let end = REMEMBERED - LONG * back;
            let mut long = Sums::default();
            self.intervals[end - LONG..end].iter().for_each(|interval| long.join(interval));
            let features = [
                short.features(STEP_S, least, self.audio),
                long.features(STEP_S * LONG as f64, least, self.audio),
            ];
            for (place, (short, long)) in self
                .observation
                .as_chunks_mut::<INTERVALS>()
                .0
                .iter_mut()
                .zip(features[0].iter().zip(&features[1]))
            {
                (place[back], place[SHOWN + back]) = (*short as f32, *long as f32);
            }
        }
        &self.observation
    }
}

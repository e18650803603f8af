//! Queueing delay: the one-way delay above its base, its average for reactions, and the detection of a standing queue.

use super::jitter::Jitter;
use crate::AckedPacket;
use crate::parts::BaseDelay;
use units::{Span, Time};

/// History of the base delay, minutes (libwebrtc: 10 entries of one minute; the authors' program: 50 of 10 s).
const BASE_MINUTES: usize = 10;
/// Weight of a sample above the average (`QDELAY_AVG_G`); smaller samples replace it.
const AVERAGE_GAIN: f64 = 0.25;
/// Fraction of the target above which a queue counts as standing.
const STANDING_SHARE: f64 = 0.25;
/// Constants of the slow average of minima (authors' program: `kQueueDelayMinSlowAvg...`, `getTargetBitrate`): RTTs
/// over which a minimum is taken, weight of a larger minimum in the average, fraction of the target above which the
/// average causes a drain, and minimum time between two drains.
const MINIMUM_RTTS: u64 = 100;
const MINIMUM_GAIN: f64 = 1.0 / 8.0;
const MINIMUM_SHARE: f64 = 1.0 / 8.0;
const MINIMUM_DRAIN_INTERVAL: Span = Span::from_secs(60);

/// Units of an arrival time in a report, per second (RFC 8888 3.1: `Arrival time offset`).
const REPORTED_PER_S: u64 = 1024;
const NS_PER_S: u64 = 1_000_000_000;

/// Returns the rounding error of an arrival time that a report gives as its `age`. Ages are rounded down to 1/1024 s,
/// so arrivals seem later.
fn rounded_off_ns(age: Span) -> i64 {
    let part = age.as_ns() % NS_PER_S * REPORTED_PER_S % NS_PER_S / REPORTED_PER_S;
    i64::try_from(part).unwrap_or(0)
}

/// Slow average of the minimum queueing delays: it detects clock drift, or a standing queue.
#[derive(Clone, Copy, Debug)]
struct SlowMinimum {
    average_s: f64,
    minimum_s: f64,
    updated_at: Time,
    drained_at: Time,
}

impl SlowMinimum {
    const fn new(now: Time) -> Self {
        Self { average_s: 0.0, minimum_s: f64::INFINITY, updated_at: now, drained_at: now }
    }

    fn add(&mut self, now: Time, delay_s: f64, srtt: Span) {
        self.minimum_s = self.minimum_s.min(delay_s);
        if now - self.updated_at > srtt * MINIMUM_RTTS {
            self.average_s = if self.minimum_s < self.average_s {
                self.minimum_s
            } else {
                self.average_s + MINIMUM_GAIN * (self.minimum_s - self.average_s)
            };
            (self.minimum_s, self.updated_at) = (f64::INFINITY, now);
        }
    }
}

/// Queueing delay of one flow.
#[derive(Clone, Debug)]
pub(crate) struct QueueDelay {
    base: BaseDelay,
    target_s: f64,
    latest_s: f64,
    average_s: f64,
    averaged_at: Option<Time>,
    slow_minimum: Option<SlowMinimum>,
    jitter: Option<Jitter>,
    rounds_arrivals: bool,
    drain_after: Option<Span>,
    /// Time when the queue was last (nearly) empty.
    empty_at: Option<Time>,
    newest_ns: i64,
}

/// Options of [`QueueDelay`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayOptions {
    /// Delay target, s.
    pub(crate) target_s: f64,
    /// Time after which a standing queue causes a drain, s; 0 for no drain.
    pub(crate) drain_after_s: f64,
    /// True if a slow average of minima is subtracted from the average.
    pub(crate) slow_minimum: bool,
    /// True if the variation of the delay is measured.
    pub(crate) jitter: bool,
    /// True if arrival times are known in the units of a report.
    pub(crate) rounds_arrivals: bool,
}

impl QueueDelay {
    pub(crate) fn new(options: DelayOptions, now: Time) -> Self {
        let drain_after_s = options.drain_after_s;
        Self {
            base: BaseDelay::new(BASE_MINUTES),
            target_s: options.target_s,
            latest_s: 0.0,
            average_s: 0.0,
            averaged_at: None,
            slow_minimum: options.slow_minimum.then(|| SlowMinimum::new(now)),
            jitter: options.jitter.then(Jitter::new),
            rounds_arrivals: options.rounds_arrivals,
            drain_after: (drain_after_s > 0.0).then(|| Span::from_secs_f64(drain_after_s)),
            empty_at: None,
            newest_ns: 0,
        }
    }

    /// Adds the one-way delays of a report (any clock offset), which the receiver held for `held`; averages every
    /// `interval`.
    pub(crate) fn add(&mut self, now: Time, packets: &[AckedPacket], held: Span, interval: Span, srtt: Span) {
        let Some(newest) = packets.last() else { return };
        let is_rounded = self.rounds_arrivals;
        let delay_ns = |packet: &AckedPacket| {
            let age = (newest.received_at - packet.received_at) + held;
            packet.one_way_delay_ns() + if is_rounded { rounded_off_ns(age) } else { 0 }
        };
        for packet in packets {
            self.base.add(now, delay_ns(packet));
        }
        self.newest_ns = delay_ns(newest);
        let base_ns = self.base.get().unwrap_or(self.newest_ns);
        let above_base_s = |ns: i64| ns.saturating_sub(base_ns).max(0) as f64 / 1e9;
        self.latest_s = above_base_s(self.newest_ns);
        if let Some(jitter) = &mut self.jitter {
            for packet in packets {
                jitter.add(above_base_s(delay_ns(packet)), self.target_s);
            }
        }
        if self.averaged_at.is_none_or(|at| now - at >= interval) {
            self.averaged_at = Some(now);
            self.average(now, srtt);
        }
        if self.empty_at.is_none() || self.latest_s <= self.target_s * STANDING_SHARE {
            self.empty_at = Some(now);
        }
    }

    fn average(&mut self, now: Time, srtt: Span) {
        let mut delay_s = self.latest_s;
        if let Some(minimum) = &mut self.slow_minimum {
            minimum.add(now, delay_s, srtt);
            delay_s -= minimum.average_s;
        }
        self.average_s = if delay_s < self.average_s {
            delay_s
        } else {
            self.average_s + AVERAGE_GAIN * (delay_s - self.average_s)
        };
        if let Some(jitter) = &mut self.jitter {
            jitter.average();
        }
    }

    /// Returns true if the queue has been standing for so long that it must be drained to measure its base again. Then
    /// the base is forgotten.
    pub(crate) fn take_drain(&mut self, now: Time) -> bool {
        let is_standing = matches!((self.drain_after, self.empty_at), (Some(after), Some(empty_at)) if now - empty_at > after);
        let is_slow = self.slow_minimum.is_some_and(|minimum| {
            minimum.average_s > self.target_s * MINIMUM_SHARE
                && now - minimum.drained_at > MINIMUM_DRAIN_INTERVAL
        });
        if !is_standing && !is_slow {
            return false;
        }
        self.base = BaseDelay::new(BASE_MINUTES);
        self.base.add(now, self.newest_ns);
        self.empty_at = Some(now);
        if let Some(minimum) = &mut self.slow_minimum {
            *minimum = SlowMinimum::new(now);
        }
        true
    }

    /// Returns the queueing delay of the newest packet, s.
    pub(crate) const fn latest_s(&self) -> f64 {
        self.latest_s
    }

    /// Returns the averaged queueing delay, s.
    pub(crate) const fn average_s(&self) -> f64 {
        self.average_s
    }

    /// Returns 1 if the delay hardly varies, and 0 from 10 ms of variation on; 1 if variation is not measured.
    pub(crate) fn jitter_scale(&self) -> f64 {
        self.jitter.as_ref().map_or(1.0, Jitter::scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_were_known_to_the_nanosecond_where_reports_have_1024ths_of_a_second() {
        for (age_us, rounded_off_us) in [(0, 0), (976, 976), (977, 0), (1500, 523), (2_000_000, 0)] {
            assert_eq!(rounded_off_ns(Span::from_us(age_us)) / 1000, rounded_off_us, "{age_us}");
        }
    }
}

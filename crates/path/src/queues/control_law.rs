//! CoDel's estimator and control law (RFC 8289 sections 3 to 5) for one queue, shared by CoDel and FQ-CoDel.
//!
//! The estimator checks whether the leaving packets have waited at least `target` for a whole `interval`. If so, one
//! packet is dropped at entry and then one after each `interval / sqrt(count)`; `count` is the number of drops since
//! entry.

use super::fifo::{Fifo, mark};
use super::settings::milliseconds;
use crate::{Packet, PacketEvent, Tap};
use strict_input::Refusal;
use units::{Span, Time};

/// Number of intervals after the last planned drop within which a new dropping state resumes near the old drop rate
/// (RFC 8289 section 5.4).
const MEMORY_INTERVALS: u64 = 16;

/// Settings of the control law, common for all flows of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Acceptable standing delay.
    pub(super) target: Span,
    /// Width of the estimator's window; near the longest usual round-trip time.
    pub(super) interval: Span,
    /// Granularity of the clock: 1 ns, or Mahimahi's 1 ms.
    pub(super) tick: Span,
    /// Backlogs up to this size, bytes, never count as standing: one packet of the link.
    pub(super) one_packet_bytes: u64,
    /// Mark ECN-capable packets instead of dropping them.
    pub(super) ecn: bool,
}

impl Settings {
    /// Returns checked settings, on a clock of nanoseconds.
    pub(super) fn new(target_ms: f64, interval_ms: f64, ecn: bool) -> Result<Self, Refusal> {
        Ok(Self {
            target: milliseconds("target_ms", target_ms)?,
            interval: milliseconds("interval_ms", interval_ms)?,
            tick: Span::from_ns(1),
            one_packet_bytes: 0,
            ecn,
        })
    }

    /// Returns `time` rounded down to this clock.
    #[inline]
    pub(super) fn clock(&self, time: Time) -> Time {
        if self.tick.as_ns() == 1 {
            return time;
        }
        Time::from_ns(time.as_ns() / self.tick.as_ns() * self.tick.as_ns())
    }

    /// Returns `interval / sqrt(count)` in whole ticks.
    pub(super) fn spacing(&self, count: u32) -> Span {
        let ticks = (self.interval / self.tick.as_ns()).as_ns() as f64 / f64::from(count).sqrt();
        self.tick * (ticks as u64)
    }
}

/// State of one queue; names as in RFC 8289.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Law {
    /// Time at which the delay will have been above target for an interval; `None` while the delay is below target.
    first_above: Option<Time>,
    pub(super) drop_next: Time,
    /// Drops since the dropping state was entered.
    pub(super) count: u32,
    /// `count` at the last entry.
    last_count: u32,
    pub(super) dropping: bool,
}

impl Law {
    /// Takes the next packet and returns true if the delay allows dropping it. `now` is the clock's time.
    pub(super) fn take(&mut self, now: Time, settings: &Settings, fifo: &mut Fifo) -> Option<(Packet, bool)> {
        let Some(packet) = fifo.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        let sojourn = now - settings.clock(packet.queued);
        if sojourn < settings.target || fifo.bytes() <= settings.one_packet_bytes {
            self.first_above = None;
            return Some((packet, false));
        }
        let first_above = *self.first_above.get_or_insert(now + settings.interval);
        Some((packet, now >= first_above))
    }

    /// Enters the dropping state after its first drop.
    pub(super) fn enter(&mut self, now: Time, settings: &Settings) {
        let drops = self.count - self.last_count;
        let recent = now - self.drop_next < settings.interval * MEMORY_INTERVALS;
        self.count = if drops > 1 && recent { drops } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = now + settings.spacing(self.count);
    }

    /// Returns the next packet to send, after the due drops and marks. Returns `None` only if `fifo` is empty.
    pub(super) fn dequeue<T: Tap>(
        &mut self,
        now: Time,
        settings: &Settings,
        fifo: &mut Fifo,
        tap: &mut T,
    ) -> Option<Packet> {
        let (mut packet, mut droppable) = self.take(now, settings, fifo)?;
        if self.dropping {
            self.dropping = droppable;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if settings.ecn && packet.ecn.is_capable() {
                    mark(now, &mut packet, tap);
                    self.drop_next += settings.spacing(self.count);
                    break;
                }
                tap.packet(now, PacketEvent::Dropped, &packet);
                (packet, droppable) = self.take(now, settings, fifo)?;
                self.dropping = droppable;
                if droppable {
                    self.drop_next += settings.spacing(self.count);
                }
            }
        } else if droppable {
            if settings.ecn && packet.ecn.is_capable() {
                mark(now, &mut packet, tap);
                self.enter(now, settings);
            } else {
                tap.packet(now, PacketEvent::Dropped, &packet);
                self.enter(now, settings);
                // The packet may not be droppable any more: the next packet to leave then ends the state.
                (packet, _) = self.take(now, settings, fifo)?;
            }
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            tick: Span::from_ns(1),
            one_packet_bytes: 1500,
            ecn: false,
        }
    }

    #[test]
    fn drops_are_spaced_by_the_interval_over_the_root_of_the_count() {
        let ns: Vec<u64> = (1..=5).map(|count| settings().spacing(count).as_ns()).collect();
        // 100 ms / 1, / 1.41421356, / 1.73205081, / 2, / 2.23606798
        assert_eq!(ns, [100_000_000, 70_710_678, 57_735_026, 50_000_000, 44_721_359]);
    }

    #[test]
    fn on_a_millisecond_clock_spacings_and_times_are_truncated() {
        let coarse = Settings { tick: Span::from_ms(1), ..settings() };
        let ms: Vec<u64> = (1..=5).map(|count| coarse.spacing(count).as_ns() / 1_000_000).collect();
        assert_eq!(ms, [100, 70, 57, 50, 44]);
        assert_eq!(coarse.clock(Time::from_ns(1_999_999)), Time::from_ns(1_000_000));
    }

    #[test]
    fn a_soon_repeated_entry_resumes_with_the_drops_of_the_last_state() {
        let settings = settings();
        let at_ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut law = Law { count: 8, last_count: 3, drop_next: at_ms(1000), ..Law::default() };
        // 8 - 3 = 5 drops in the last state and 1500 - 1000 < 16 x 100 ms: resume with 5.
        law.enter(at_ms(1500), &settings);
        assert_eq!((law.count, law.last_count), (5, 5));
        assert_eq!(law.drop_next, at_ms(1500) + Span::from_ns(44_721_359));
        // 5 - 5 = 0 drops since: count restarts at 1, spacing 100 ms.
        law.enter(at_ms(1600), &settings);
        assert_eq!((law.count, law.drop_next), (1, at_ms(1700)));
        // Exactly 16 intervals later is too late to resume.
        law.count = 9;
        law.enter(at_ms(1700 + 1600), &settings);
        assert_eq!(law.count, 1);
    }

    #[test]
    fn below_target_the_estimator_starts_over() {
        let settings = settings();
        let at_ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut law = Law::default();
        let mut fifo = Fifo::default();
        for (number, queued_ms) in [0, 40, 96, 100, 101, 102, 103].into_iter().enumerate() {
            fifo.push(Packet::new(0, number as u64, 1500, 0, at_ms(queued_ms)));
        }
        let mut take = |now_ms| law.take(at_ms(now_ms), &settings, &mut fifo).unwrap().1;
        assert!(!take(50)); // waited 50 ms: above from now on, droppable at 150 ms
        assert!(!take(60)); // 20 ms
        assert!(!take(100)); // 4 ms: below target, start over
        assert!(!take(155)); // 55 ms, 155 >= 150 but the window starts only now
        assert!(take(255)); // 154 ms, a whole interval later
        assert!(!take(256)); // one packet is left: no standing queue
    }
}

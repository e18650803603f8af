//! PIE as in Mahimahi (quirk `mahimahi`), for comparison with published results; not RFC 8033.
//!
//! The code is `src/packet/pie_packet_queue.cc` of ravinet/mahimahi@ae477d4, after draft-09 of the RFC. Delays are
//! whole ms, but the RFC uses seconds, and the gain is divided only by 128, 32 or 16. So the controller is far more
//! aggressive. Rates are whole bytes/ms. The burst allowance starts at zero and shrinks both with updates and with
//! measurements. No ECN.

use super::spec::Settings;
use crate::queues::discipline::Discipline;
use crate::queues::fifo::{Fifo, Limits};
use crate::queues::quirk::{MAHIMAHI_PACKET_BYTES, QueueQuirk};
use crate::queues::settings::{milliseconds, milliseconds_or_zero, unknown};
use crate::{Packet, PacketEvent, Tap};
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Weights of deviation and change, 1/ms.
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Bytes of one measurement of the departure rate.
const DEPARTURE_BYTES: u64 = 16_384;

#[derive(Clone, Debug)]
pub(crate) struct Mahimahi {
    fifo: Fifo,
    limits: Limits,
    rng: Rng,
    /// Times, ms.
    target: u64,
    t_update: u64,
    max_burst: u64,
    last_update: u64,
    state: State,
    /// Start, ms, and bytes of the current measurement.
    measuring: Option<(u64, u64)>,
}

/// State that an update changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct State {
    drop_probability: f64,
    /// Queueing delays at the last two updates, ms.
    delay: u64,
    delay_old: u64,
    /// Bytes/ms; zero if unknown.
    departure_rate: u64,
    /// ms.
    burst_allowance: u64,
}

/// Returns the whole ms of a span or, since the start of the run, of a time.
fn ms(span: Span) -> u64 {
    span.as_ns() / 1_000_000
}

impl Mahimahi {
    /// Returns a queue with `settings`; their `ecn` must be off and their times whole ms.
    pub(super) fn new(limits: Limits, settings: &Settings, rng: Rng) -> Self {
        Self {
            fifo: Fifo::default(),
            limits,
            rng,
            target: ms(settings.target),
            t_update: ms(settings.t_update),
            max_burst: ms(settings.max_burst),
            last_update: 0,
            state: State::default(),
            measuring: None,
        }
    }

    fn catch_up(&mut self, now_ms: u64) {
        while now_ms - self.last_update > self.t_update {
            let before = self.state;
            self.update();
            self.last_update += self.t_update;
            if self.state == before {
                // Settled: the updates still due change nothing.
                let missed = (now_ms - self.last_update).saturating_sub(1) / self.t_update;
                self.last_update += missed * self.t_update;
            }
        }
    }

    fn update(&mut self) {
        let state = &mut self.state;
        let bytes = self.fifo.bytes();
        state.delay_old = state.delay;
        state.delay = bytes.checked_div(state.departure_rate).unwrap_or(0);
        let mut may_decay = state.delay != 0 || bytes == 0;
        let (delay, old) = (state.delay as f64, state.delay_old as f64);
        let step = ALPHA * (delay - self.target as f64) + BETA * (delay - old);
        let divisor = match state.drop_probability {
            p if p < 0.01 => 128.0,
            p if p < 0.1 => 32.0,
            _ => 16.0,
        };
        state.drop_probability = (state.drop_probability + step / divisor).clamp(0.0, 1.0);
        may_decay &= state.drop_probability < 1.0;
        if state.delay == 0 && state.delay_old == 0 && may_decay {
            state.drop_probability *= 0.98;
        }
        state.burst_allowance = state.burst_allowance.saturating_sub(self.t_update);
        let half = self.target / 2;
        if state.drop_probability == 0.0
            && state.delay < half
            && state.delay_old < half
            && state.departure_rate > 0
        {
            self.measuring = None;
            state.departure_rate = 0;
            state.burst_allowance = self.max_burst;
        }
    }

    fn drops_early(&mut self) -> bool {
        let state = &self.state;
        if state.burst_allowance > 0
            || (state.delay_old < self.target / 2 && state.drop_probability < 0.2)
            || self.fifo.bytes() < 2 * MAHIMAHI_PACKET_BYTES
        {
            return false;
        }
        self.rng.uniform() < state.drop_probability
    }

    fn measure(&mut self, now_ms: u64, size_bytes: u32) {
        let busy = self.fifo.bytes() >= DEPARTURE_BYTES;
        if busy && self.measuring.is_none() {
            self.measuring = Some((now_ms, 0));
        }
        let Some((start, bytes)) = &mut self.measuring else { return };
        *bytes += u64::from(size_bytes);
        let elapsed = now_ms - *start;
        if *bytes <= DEPARTURE_BYTES || elapsed == 0 {
            return;
        }
        let (sample, average) = (*bytes / elapsed, self.state.departure_rate);
        self.state.departure_rate = if average == 0 { sample } else { average - average / 8 + sample / 8 };
        self.measuring = busy.then_some((now_ms, 0));
        self.state.burst_allowance = self.state.burst_allowance.saturating_sub(elapsed);
    }
}

impl Discipline for Mahimahi {
    fn enqueue<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        self.catch_up(ms(now - Time::ZERO));
        if !self.limits.admit(&self.fifo, packet.size_bytes) || self.drops_early() {
            tap.packet(now, PacketEvent::Dropped, &packet);
            return;
        }
        tap.packet(now, PacketEvent::Enqueued, &packet);
        self.fifo.push(packet);
    }

    fn dequeue<T: Tap>(&mut self, now: Time, _tap: &mut T) -> Option<Packet> {
        let now_ms = ms(now - Time::ZERO);
        let packet = self.fifo.pop()?;
        self.measure(now_ms, packet.size_bytes);
        self.catch_up(now_ms);
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.fifo.packets()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        if name.ends_with("_ms") {
            QueueQuirk::Mahimahi.check_time(name, value)?;
        }
        match name {
            "packets" | "bytes" => self.limits.set(name, value)?,
            "target_ms" => self.target = ms(milliseconds(name, value)?),
            "t_update_ms" => self.t_update = ms(milliseconds(name, value)?),
            "max_burst_ms" => self.max_burst = ms(milliseconds_or_zero(name, value)?),
            _ => return Err(unknown(name, "packets, bytes, target_ms, t_update_ms, max_burst_ms")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoTap;
    use crate::queues::testing::Recorder;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Returns a queue with 20 ms target, 100 ms burst, and `packets` packets of 1500 bytes queued at time 0.
    fn pie(packets: u64) -> Mahimahi {
        let settings = Settings {
            target: Span::from_ms(20),
            t_update: Span::from_ms(30),
            max_burst: Span::from_ms(100),
            ecn: false,
        };
        let mut pie = Mahimahi::new(Limits::new(None, None).unwrap(), &settings, Rng::new(1, "pie"));
        for number in 0..packets {
            pie.enqueue(Time::ZERO, Packet::new(0, number, 1500, 0, Time::ZERO), &mut NoTap);
        }
        pie
    }

    #[test]
    fn the_probability_moves_in_milliseconds_and_saturates_at_once() {
        let mut pie = pie(60);
        pie.state.departure_rate = 1500;
        // 60 ms: 0.125 x (60 - 20) + 1.25 x (60 - 0) = 5 + 75 = 80; / 128 = 0.625. In the RFC's seconds: 0.08 / 2048.
        pie.catch_up(31);
        assert_eq!((pie.state.delay, pie.state.drop_probability), (60, 0.625));
        // The probability rises by 5 / 16 = 0.3125.
        pie.catch_up(61);
        assert_eq!(pie.state.drop_probability, 0.9375);
        pie.catch_up(91);
        assert_eq!(pie.state.drop_probability, 1.0);
    }

    #[test]
    fn updates_come_only_after_more_than_a_period() {
        let mut pie = pie(60);
        pie.state.departure_rate = 1500;
        pie.catch_up(30);
        assert_eq!(pie.state.delay, 0);
        pie.catch_up(31);
        assert_eq!((pie.state.delay, pie.last_update), (60, 30));
    }

    #[test]
    fn the_departure_rate_is_in_whole_bytes_per_millisecond() {
        let mut pie = pie(60);
        // The first departure starts the measurement and counts: 11 x 1500 = 16500 > 16384 after 10 ms.
        for departure in 0..11 {
            assert_eq!(pie.state.departure_rate, 0);
            pie.dequeue(at_ms(1 + departure), &mut NoTap).unwrap();
        }
        assert_eq!(pie.state.departure_rate, 1650);
        // The second measurement counts 11 x 1500 in 11 ms = 1500: 1650 - 1650/8 + 1500/8 = 1650 - 206 + 187 = 1631.
        for departure in 11..22 {
            pie.dequeue(at_ms(1 + departure), &mut NoTap).unwrap();
        }
        assert_eq!(pie.state.departure_rate, 1631);
    }

    #[test]
    fn there_is_no_burst_allowance_at_the_start() {
        let mut pie = pie(0);
        let mut tap = Recorder::default();
        for ms in 1..120 {
            for number in 0..3 {
                pie.enqueue(at_ms(ms), Packet::new(0, number, 1500, 0, at_ms(ms)), &mut tap);
            }
            pie.dequeue(at_ms(ms), &mut NoTap);
        }
        // The update due at 30 ms, made after the rate is first known, sees a delay. The next update sees a high enough
        // old delay. So drops begin within 100 ms, the max_burst that RFC 8033 would start with.
        assert!(tap.dropped[0].0 < at_ms(100), "{:?}", tap.dropped[0].0);
    }

    #[test]
    fn a_calm_update_forgets_the_rate_and_grants_the_burst() {
        let mut pie = pie(1);
        pie.state.departure_rate = 1500;
        pie.catch_up(31);
        assert_eq!((pie.state.departure_rate, pie.state.burst_allowance), (0, 100));
        // A long idle time is handled at once: allowance gone, grid kept.
        pie.catch_up(3_600_000);
        assert_eq!((pie.state.burst_allowance, pie.last_update), (0, 3_599_970));
    }

    #[test]
    fn without_delay_the_probability_decays() {
        let mut pie = pie(0);
        pie.state.drop_probability = 0.5;
        pie.catch_up(31);
        // (0.5 - 0.125 x 20 / 16) x 0.98 = 0.34375 x 0.98
        assert_eq!(pie.state.drop_probability, 0.343_75 * 0.98);
    }

    #[test]
    fn measurements_use_up_the_burst_allowance_too() {
        let mut pie = pie(60);
        pie.state.burst_allowance = 100;
        for departure in 0..11 {
            pie.dequeue(at_ms(1 + departure), &mut NoTap).unwrap();
        }
        // No update before 31 ms; the measurement took 10 ms.
        assert_eq!(pie.state.burst_allowance, 90);
    }

    #[test]
    fn two_packets_a_burst_or_a_relaxed_controller_keep_arrivals_from_being_dropped() {
        let drops = |packets, drop_probability, delay_old, burst_allowance| {
            let mut pie = pie(packets);
            pie.state = State { drop_probability, delay_old, burst_allowance, ..State::default() };
            (0..200).any(|_| pie.drops_early())
        };
        // 2 x 1500 < 2 x 1504 <= 3 x 1500
        assert!(!drops(2, 1.0, 100, 0) && drops(3, 1.0, 100, 0));
        assert!(!drops(30, 1.0, 100, 1));
        assert!(!drops(30, 0.19, 9, 0) && drops(30, 0.2, 9, 0) && drops(30, 0.19, 10, 0));
    }
}

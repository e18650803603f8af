//! `FillP`, second generation, and FillP-Sheep: BBR's model fed by the received rate of every PACK.
//!
//! Source: `fillp_alg2_*` of the binaries of 28 October (`FillP` 2.0) and 10 November 2018 (FillP-Sheep), which
//! Pantheon ran (fillthepipe/fill-the-pipe@d6da145 and fillthepipe/fillp-sheep@0e5bb72, executables with symbols).
//! There is one evaluation per PACK (`parts/pack.rs`). Bandwidth is the maximum of 21 PACKs' received rates, `MID`
//! their 14th.
//!
//! Both bound the flight, Sheep no more than `FillP`, though their README of 2023 says otherwise. If more than the
//! bound is in flight at a PACK, the excess bytes are skipped in the following sending (`fillp_alg2_analyse_pack`,
//! `fillp_alg2_spunge_do_send_cycle`). With `sheep` the queue is drained every 10 s instead of 60 s, and bandwidth
//! samples are means of two PACKs.
//!
//! Choices without a source:
//!
//! - The minimum PACK interval is the first generation's 20 ms.
//! - The start of the cycle is drawn when STARTUP ends.
//! - The rate never falls below 350 kbit/s.
//! - Retransmissions also wait while sending is skipped.
//!
//! Expected: a lone flow fills the link; the cycle's mean gain is 1. The queue of a lone flow is at most 0.28 times the
//! rate of the link times the sum of RTT and PACK interval.

use crate::parts::{Pack, PackHalf, WindowedMin, interval_message};
use crate::{
    Ack, Build, Control, Controller, Entry, FieldSink, Loss, Message, Parameter, Parameters, Sent, Start,
};
use units::{Rate, Rng, Span, Time};

/// Minimum received rate that the start assumes, kbit/s.
const INIT_RATE: f64 = 2000.0;
/// Number of PACKs after which INIT ends even if nothing arrived.
const INIT_PACKS: u32 = 4;
/// Minimum received rate that counts in STARTUP, and minimum sending rate, kbit/s.
const MIN_RATE: f64 = 350.0;
/// Growth of the received rate that continues STARTUP, and number of PACKs without it that end STARTUP.
const STARTUP_GROWTH: f64 = 1.25;
const STARTUP_PACKS: u32 = 7;
/// Smoothed RTT at which STARTUP ends, as a multiple of the first RTT.
const STARTUP_RTTS: u64 = 5;
/// Sending rate in DRAIN as a fraction of the maximum received rate, and its maximum duration in PACKs. It lasts three,
/// of which the one that ends STARTUP counts.
const DRAIN_GAIN: f64 = 0.25;
const DRAIN_PACKS: u32 = 2;
/// Number of slots of the gain cycle, one per PACK.
const CYCLE_SLOTS: u64 = 16;
/// Maximum factor by which a sample raises the bandwidth.
const JUMP_LIMIT: f64 = 1.25;
/// Position of `MID` in the sorted rates: the 14th of 21.
const MID_SHARE: f64 = 14.0 / 21.0;
/// Rate of `PROBE_RTT`, kbit/s, and its minimum duration.
const PROBE_RTT_RATE: f64 = 2000.0;
const PROBE_RTT_SPAN: Span = Span::from_ms(200);
/// Loss rate of a PACK from which Sheep falls back to `MID`, percent.
const SHEEP_LOSS_PERCENT: u8 = 30;
/// Gain of the bound on the flight over the received rate until STARTUP is over, its minimum rate (kbit/s) and its
/// minimum (packets).
const STARTUP_CAP_GAIN: f64 = 3.0;
const MIN_CAP_RATE: f64 = 2000.0;
const MIN_CAP_PACKETS: u64 = 5;
/// Window of the minimum RTT (`fillp_udpate_sample_rtt`).
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
/// Number of PACKs per round trip of the set-up (TACK's beta), and their interval while no round trip is known.
const PACKS_PER_RTT: u64 = 4;
const UNKNOWN_INTERVAL: Span = Span::from_ms(30);

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "fillp2",
    summary: "FillP, second generation (2018), and FillP-Sheep: BBR's model on the received rate of every PACK",
    parameters: &[
        Parameter::flag("sheep", false, "FillP-Sheep: samples are means of two PACKs, PROBE_RTT every 10 s."),
        Parameter::number(
            "startup_gain",
            "",
            3.0,
            (1.1, 10.0),
            "Sent over received rate until STARTUP ends.",
        ),
        Parameter::number("probe_up_gain", "", 1.25, (1.0, 4.0), "Gain of two of the cycle's 16 slots."),
        Parameter::number("probe_down_gain", "", 0.5, (0.05, 1.0), "Gain of the slot after them."),
        Parameter::integer("filter_packs", "PACKs", 21, (1, 1000), "Window of the bandwidth maximum."),
        Parameter::number(
            "queue_rtts",
            "",
            0.0,
            (0.0, 1000.0),
            "Smoothed over smallest RTT above which the rate falls back to MID; 0: 3 (FillP) or 5 (Sheep).",
        ),
        Parameter::number(
            "probe_rtt_interval_s",
            "s",
            0.0,
            (0.0, 3600.0),
            "Time from one PROBE_RTT to the next; 0: 60 (FillP) or 10 (Sheep).",
        ),
        Parameter::number(
            "cap_gain",
            "",
            1.0,
            (0.1, 100.0),
            "In flight above which sending is skipped, over bandwidth times the smallest RTT and the PACK interval.",
        ),
        Parameter::flag("jump_limit", true, "FillP: a sample raises the bandwidth by a quarter at most."),
        Parameter::number("pack_floor_ms", "ms", 20.0, (1.0, 1000.0), "Shortest interval of PACKs."),
    ],
    receiver: Some(|_, _| Ok(Box::new(PackHalf::new()))),
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Fillp2::new(parameters, start))),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Init,
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Last received rates in their order, and sorted, largest first; kbit/s.
#[derive(Debug)]
struct RateFilter {
    recent: Vec<f64>,
    oldest: usize,
    sorted: Vec<f64>,
    capacity: usize,
}

impl RateFilter {
    fn new(capacity: usize) -> Self {
        Self {
            recent: Vec::with_capacity(capacity),
            oldest: 0,
            sorted: Vec::with_capacity(capacity),
            capacity,
        }
    }

    fn push(&mut self, rate: f64) {
        if self.recent.len() < self.capacity {
            self.recent.push(rate);
        } else {
            let expired = std::mem::replace(&mut self.recent[self.oldest], rate);
            self.oldest = (self.oldest + 1) % self.capacity;
            let place = self.sorted.partition_point(|held| *held > expired);
            self.sorted.remove(place);
        }
        let place = self.sorted.partition_point(|held| *held > rate);
        self.sorted.insert(place, rate);
    }

    fn largest(&self) -> f64 {
        self.sorted.first().copied().unwrap_or(0.0)
    }

    /// Returns the rate at the position `MID_SHARE`; zero if there are too few rates.
    fn middle(&self) -> f64 {
        let rank = (MID_SHARE * self.capacity as f64).ceil() as usize;
        self.sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
    }
}

#[derive(Debug)]
struct Fillp2 {
    sheep: bool,
    startup_gain: f64,
    probe_gains: (f64, f64),
    queue_rtts: f64,
    probe_rtt_interval: Span,
    cap_gain: f64,
    jump_limit: bool,
    interval_floor: Span,
    mss_bytes: u64,
    /// Number of packets sent, and their total bytes.
    sent: (u64, u64),
    rng: Rng,
    state: State,
    /// Beginning of the state, and number of PACKs since then.
    entered: Time,
    packs: u32,
    /// Sending rate, kbit/s.
    rate: f64,
    filter: RateFilter,
    /// Maximum received rate so far, and the latest one, kbit/s.
    max_rate: f64,
    received: f64,
    /// State of STARTUP: mean rate of the latest two PACKs, number of PACKs since it grew, and true if a packet was
    /// lost.
    mean: f64,
    plateau: u32,
    lost_in_startup: bool,
    /// Slot of the cycle, first slot of the cycle's raised slots, and true if a cycle ended.
    slot: u64,
    raised: u64,
    cycled: bool,
    first_rtt: Option<Span>,
    rtt: Span,
    srtt: Span,
    /// Minimum RTT of the latest [`MIN_RTT_WINDOW`].
    min_rtt: WindowedMin<Span>,
    probe_rtt_until: Time,
    /// Loss rate in the latest PACK, percent.
    loss_percent: u8,
    skip: Skip,
    is_skipping: bool,
}

/// Skipped sending while more is in flight than the bound.
#[derive(Clone, Copy, Debug)]
struct Skip {
    /// Bytes to skip, at `counted_at`.
    bytes: f64,
    counted_at: Time,
    until: Time,
}

impl Skip {
    /// Subtracts the bytes that would have been sent at `rate` (kbit/s).
    fn count(&mut self, now: Time, rate: f64) {
        let passed = rate * 1e3 / 8.0 * (now - self.counted_at).as_secs_f64();
        (self.bytes, self.counted_at) = ((self.bytes - passed).max(0.0), now);
    }

    /// Skips `bytes` from now on.
    fn set(&mut self, bytes: u64) {
        self.bytes = bytes as f64;
    }

    /// Sets the end of the skip at `rate`.
    fn aim(&mut self, rate: f64) {
        self.until = self.counted_at + Span::from_secs_f64(self.bytes * 8.0 / (rate * 1e3));
    }
}

impl Fillp2 {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let sheep = parameters.flag("sheep");
        let or_own = |name, fillp, own| match parameters.number(name) {
            0.0 if sheep => own,
            0.0 => fillp,
            value => value,
        };
        let startup_gain = parameters.number("startup_gain");
        Self {
            sheep,
            startup_gain,
            probe_gains: (parameters.number("probe_up_gain"), parameters.number("probe_down_gain")),
            queue_rtts: or_own("queue_rtts", 3.0, 5.0),
            probe_rtt_interval: Span::from_secs_f64(or_own("probe_rtt_interval_s", 60.0, 10.0)),
            cap_gain: parameters.number("cap_gain"),
            jump_limit: parameters.flag("jump_limit") && !sheep,
            interval_floor: Span::from_secs_f64(parameters.number("pack_floor_ms") / 1e3),
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            sent: (0, 0),
            rng: Rng::new(start.seed, "fillp2"),
            state: State::Init,
            entered: start.now,
            packs: 0,
            rate: startup_gain * INIT_RATE,
            filter: RateFilter::new(parameters.integer("filter_packs") as usize),
            max_rate: 0.0,
            received: 0.0,
            mean: 0.0,
            plateau: 0,
            lost_in_startup: false,
            slot: 0,
            raised: 0,
            cycled: false,
            first_rtt: None,
            rtt: Span::ZERO,
            srtt: Span::ZERO,
            min_rtt: WindowedMin::new(MIN_RTT_WINDOW.as_ns()),
            probe_rtt_until: Time::NEVER,
            loss_percent: 0,
            skip: Skip { bytes: 0.0, counted_at: start.now, until: start.now },
            is_skipping: false,
        }
    }

    /// Returns the estimated bandwidth, kbit/s.
    fn bandwidth(&self) -> f64 {
        self.filter.largest().max(MIN_RATE)
    }

    /// Returns the interval of PACKs, which follows from the RTT of connection set-up and does not change later.
    fn interval(&self) -> Span {
        self.first_rtt.map_or(UNKNOWN_INTERVAL, |rtt| (rtt / PACKS_PER_RTT).max(self.interval_floor))
    }

    /// Returns the maximum bytes in flight; PACKs come `interval` late. The program counts packets: the bound in full
    /// packets, the flight in packets of any size. So the bound in bytes uses the mean size of the packets sent.
    fn cap_bytes(&self) -> u64 {
        let Some(min_rtt) = self.min_rtt.get() else { return u64::MAX };
        let rate = match self.state {
            State::Init => STARTUP_CAP_GAIN * self.startup_cap_rate(),
            State::Startup => self.startup_cap_rate(),
            _ => self.cap_gain * self.filter.largest().max(MIN_CAP_RATE),
        };
        let bytes = Rate::from_bps_f64(rate * 1e3).bytes_in(min_rtt + self.interval());
        let bytes = bytes.max(MIN_CAP_PACKETS * self.mss_bytes);
        match self.sent {
            (0, _) => bytes,
            (packets, sent_bytes) => {
                (bytes as f64 * sent_bytes as f64 / (packets * self.mss_bytes) as f64) as u64
            }
        }
    }

    /// Returns the rate of the cap during STARTUP, kbit/s: the sending rate or three times the received rate, whichever
    /// is larger.
    fn startup_cap_rate(&self) -> f64 {
        self.rate.max(STARTUP_CAP_GAIN * self.received).max(MIN_CAP_RATE)
    }

    fn on_rtt(&mut self, now: Time, rtt: Span, srtt: Span) {
        self.first_rtt.get_or_insert(rtt);
        self.min_rtt.push(now.as_ns(), rtt);
        (self.rtt, self.srtt) = (rtt, srtt);
    }

    fn enter(&mut self, now: Time, state: State) {
        (self.state, self.entered, self.packs) = (state, now, 0);
    }

    fn on_pack(&mut self, now: Time, pack: Pack, app_limited: bool, in_flight_bytes: u64) {
        self.skip.count(now, self.rate);
        self.packs += 1;
        self.loss_percent = pack.loss_percent;
        let last = std::mem::replace(&mut self.received, f64::from(pack.rate_kbps));
        let above = in_flight_bytes.saturating_sub(self.cap_bytes());
        if matches!(self.state, State::ProbeBw | State::ProbeRtt) {
            self.skip.set(above);
        }
        match self.state {
            State::Init => self.on_init(now),
            State::Startup => self.on_startup(now, last, app_limited, above),
            State::Drain => self.on_drain(now, above),
            State::ProbeBw => self.on_probe_bw(now, last, app_limited),
            State::ProbeRtt if now >= self.probe_rtt_until => {
                self.enter(now, State::ProbeBw);
                self.rate = self.bandwidth();
            }
            State::ProbeRtt => self.rate = MIN_RATE,
        }
        self.rate = self.rate.max(MIN_RATE);
        self.skip.aim(self.rate);
    }

    fn on_init(&mut self, now: Time) {
        self.max_rate = self.max_rate.max(self.received);
        self.rate = self.startup_gain * self.max_rate.max(INIT_RATE);
        if self.received > 0.0 || self.packs >= INIT_PACKS {
            self.enter(now, State::Startup);
            self.lost_in_startup = false;
        }
    }

    fn on_startup(&mut self, now: Time, last: f64, app_limited: bool, above: u64) {
        if app_limited || self.received < MIN_RATE {
            return;
        }
        self.max_rate = self.max_rate.max(self.received);
        self.rate = self.startup_gain * self.max_rate;
        if last > 0.0 {
            let mean = f64::midpoint(self.received, last);
            if mean > STARTUP_GROWTH * self.mean {
                self.plateau = 1;
            } else {
                self.plateau += 1;
                self.skip.set(above);
            }
            self.mean = mean;
        }
        let is_queue_long = self.first_rtt.is_some_and(|first| self.srtt > first * STARTUP_RTTS);
        if self.plateau >= STARTUP_PACKS || self.lost_in_startup || is_queue_long {
            self.rate = DRAIN_GAIN * self.max_rate;
            self.filter.push(self.max_rate);
            self.raised = self.rng.below(CYCLE_SLOTS);
            self.enter(now, State::Drain);
        }
    }

    fn on_drain(&mut self, now: Time, above: u64) {
        if self.received > self.filter.largest() {
            self.filter.push(self.received);
        }
        self.rate = DRAIN_GAIN * self.max_rate;
        if self.packs >= DRAIN_PACKS || above == 0 {
            self.enter(now, State::ProbeBw);
        }
    }

    /// Returns the gain of the slot: two slots up, one down, the rest level, with a mean of 1.
    fn cycle_gain(&self) -> f64 {
        match (self.slot + CYCLE_SLOTS - self.raised) % CYCLE_SLOTS {
            0 | 1 => self.probe_gains.0,
            2 => self.probe_gains.1,
            _ => 1.0,
        }
    }

    fn on_probe_bw(&mut self, now: Time, last: f64, app_limited: bool) {
        if now - self.entered >= self.probe_rtt_interval {
            let span = if self.sheep { self.srtt } else { self.rtt };
            self.probe_rtt_until = now + span.max(PROBE_RTT_SPAN);
            self.rate = PROBE_RTT_RATE;
            return self.enter(now, State::ProbeRtt);
        }
        if app_limited || self.received < MIN_RATE {
            return;
        }
        let mut sample = if self.sheep { f64::midpoint(self.received, last) } else { self.received };
        if self.jump_limit && self.cycled {
            sample = sample.min(JUMP_LIMIT * self.filter.largest());
        }
        self.filter.push(sample);
        self.rate = self.base() * self.cycle_gain();
        self.slot = (self.slot + 1) % CYCLE_SLOTS;
        self.cycled |= self.slot == 0;
    }

    /// Returns the bandwidth, or less if the queue is long.
    fn base(&self) -> f64 {
        let bandwidth = self.bandwidth();
        let is_queue_long =
            self.min_rtt.get().is_some_and(|least| self.srtt > least.mul_f64(self.queue_rtts));
        let is_lossy = self.sheep && self.loss_percent >= SHEEP_LOSS_PERCENT;
        if !is_queue_long && !is_lossy {
            return bandwidth;
        }
        let middle = self.filter.middle();
        // If the rates are far apart, deliveries come in bursts: the middle rate is then not useful.
        if bandwidth > 5.0 * middle { 0.9 * bandwidth } else { middle }
    }
}

impl Controller for Fillp2 {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.on_rtt(now, rtt, rtt);
    }

    fn message(&mut self, event: &Sent) -> Message {
        self.sent.0 += 1;
        self.sent.1 += u64::from(event.bytes);
        interval_message(self.interval())
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some(rtt) = ack.rtt {
            self.on_rtt(ack.now, rtt, ack.srtt);
        }
        if let Some(pack) = Pack::read(ack.feedback) {
            self.on_pack(ack.now, pack, ack.app_limited, ack.in_flight_bytes);
            self.is_skipping = self.skip.until > ack.now;
        }
    }

    fn on_wake(&mut self, now: Time) {
        self.is_skipping = self.skip.until > now;
    }

    fn on_loss(&mut self, _event: &Loss<'_>) {
        self.lost_in_startup = true;
    }

    fn control(&self) -> Control {
        let pacing = Some(Rate::from_bps_f64(self.rate * 1e3));
        // The flight is above one packet then.
        let window = if self.is_skipping { self.mss_bytes } else { u64::MAX };
        let wake_at = if self.is_skipping { self.skip.until } else { Time::NEVER };
        Control { pacing, wake_at, ..Control::window(window) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("rate", "Mbit/s", self.rate / 1e3);
        sink.put("bandwidth", "Mbit/s", self.filter.largest() / 1e3);
        sink.put("middle", "Mbit/s", self.filter.middle() / 1e3);
        sink.put("min_rtt", "ms", self.min_rtt.get().map_or(f64::NAN, Span::as_ms_f64));
        sink.put("pack_loss", "%", f64::from(self.loss_percent));
        sink.put("skipping", "0 no, 1 yes", f64::from(u8::from(self.is_skipping)));
        sink.put(
            "state",
            "0 init, 1 startup, 2 drain, 3 probe bandwidth, 4 probe rtt",
            f64::from(self.state as u8),
        );
    }
}

#[cfg(test)]
mod tests;

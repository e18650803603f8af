//! `FillP`, first generation: a rate that climbs on multiples of the received rate and falls only on persistent loss.
//!
//! Source: the rule `fillp_rate_self_adaption` in the executable of 28 December 2017
//! (fillthepipe/fill-the-pipe@ec95853, with symbols; no source was published), which Pantheon ran in January 2018.
//! Every PACK (`parts/pack.rs`) brings the received rate and the loss rate of one interval. The sender compares them
//! with its sent bytes of the same interval. There is no window and no delay signal.
//!
//! Expected (`docs/evidence/derivations.md`, `FillP`): at least 0.9 of the link within 1 s and 99 % of it afterwards,
//! with a full buffer. On a smooth link 7 to 10 % are lost with any buffer, because raises are relative to the received
//! rate and loss reports a queue late. On a link that delivers in bursts the rate follows the maximum interval: 28 to
//! 45 % loss. Two flows do not converge.

use crate::parts::{Pack, PackHalf, interval_message, kbps};
use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Message, Parameter, Parameters, Sent, Start};
use units::{Rate, Span, Time};

/// Initial and minimum rate, kbit/s.
const MIN_RATE: f64 = 400.0;
/// Growth of the factor on the received rate with every clean PACK.
const GAIN_STEP: f64 = 0.2;
/// Factor after a received rate above the sending rate.
const FOLLOW_GAIN: f64 = 2.0;
/// Number of PACKs far above the loss limit that cause a cut.
const HEAVY_PACKS: u32 = 3;
/// Number of consecutive PACKs above the loss limit, with a matching received rate, that cause a cut.
const LOSSY_PACKS: u32 = 2;
/// Number of PACKs per round trip, by round trip: up to 200 ms, up to 400 ms, longer.
const PACKS_PER_RTT: [(Span, u64); 3] = [(Span::from_ms(200), 3), (Span::from_ms(400), 4), (Span::MAX, 5)];
/// Interval of PACKs while no round trip is known.
const UNKNOWN_INTERVAL: Span = Span::from_ms(30);

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "fillp",
    summary: "FillP, first generation (binary of December 2017): a multiple of the received rate, cut on persistent loss",
    parameters: &[
        Parameter::integer(
            "loss_limit",
            "%",
            10,
            (0, 100),
            "Loss of a PACK that still counts as clean: 10 is built in, the shipped ft.ini says 5.",
        ),
        Parameter::number("initial_gain", "", 2.4, (1.0, 10.0), "Factor on the received rate at the start."),
        Parameter::number("max_gain", "", 2.885, (1.0, 10.0), "Largest factor (2 / ln 2)."),
        Parameter::number(
            "cut_factor",
            "",
            0.9,
            (0.1, 1.0),
            "What a cut leaves of the largest received rate.",
        ),
        Parameter::number(
            "max_rate_mbps",
            "Mbit/s",
            950.0,
            (0.4, 100_000.0),
            "Largest rate, payload; the shipped ft.ini says 999.",
        ),
        Parameter::number("pack_floor_ms", "ms", 20.0, (1.0, 1000.0), "Shortest interval of PACKs."),
    ],
    receiver: Some(|_, _| Ok(Box::new(PackHalf::new()))),
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Fillp::new(parameters, start))),
};

/// Subject of the last decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Start,
    Clean,
    Lossy,
}

/// Rate law, in kbit/s as in the binary.
#[derive(Debug)]
struct RateLaw {
    loss_limit: f64,
    max_gain: f64,
    cut_factor: f64,
    max_rate: f64,
    rate: f64,
    /// Factor on the received rate.
    gain: f64,
    phase: Phase,
    /// Number of PACKs far above the loss limit, and of consecutive PACKs above it whose rate matches.
    heavy: u32,
    lossy: u32,
    /// Maximum received rate since the first of these PACKs.
    best: f64,
}

impl RateLaw {
    fn new(parameters: &Parameters) -> Self {
        Self {
            loss_limit: parameters.integer("loss_limit") as f64,
            max_gain: parameters.number("max_gain"),
            cut_factor: parameters.number("cut_factor"),
            max_rate: parameters.number("max_rate_mbps") * 1e3,
            rate: MIN_RATE,
            gain: parameters.number("initial_gain").min(parameters.number("max_gain")),
            phase: Phase::Start,
            heavy: 0,
            lossy: 0,
            best: MIN_RATE,
        }
    }

    /// Handles a PACK; `sent_kbps` is the sent rate since the previous PACK.
    fn on_pack(&mut self, pack: Pack, sent_kbps: f64) {
        let (loss, received) = (f64::from(pack.loss_percent), f64::from(pack.rate_kbps));
        if loss >= 100.0 || received == 0.0 || sent_kbps == 0.0 {
            return;
        }
        if loss <= self.loss_limit {
            self.on_clean(loss, received, sent_kbps / received);
        } else {
            self.on_lossy(loss, received, 1.0 - received / sent_kbps);
        }
        self.rate = self.rate.clamp(MIN_RATE, self.max_rate.max(MIN_RATE));
    }

    /// Handles a PACK without much loss; `ratio` is the sent over the received rate.
    fn on_clean(&mut self, loss: f64, received: f64, ratio: f64) {
        let highest = if loss == 0.0 { 1.15 } else { 1.0 + 0.01 * self.loss_limit };
        if ratio < 0.8 && received > self.rate {
            if received > MIN_RATE {
                self.rate = received;
                self.gain = FOLLOW_GAIN.min(self.max_gain);
                self.settle(Phase::Clean);
            }
        } else if (0.85..=highest).contains(&ratio) {
            self.gain = (self.gain + GAIN_STEP).min(self.max_gain);
            // A clean PACK never lowers the rate.
            self.rate = self.rate.max(self.gain * received);
            self.settle(Phase::Clean);
        }
    }

    /// Handles a PACK with loss; `deficit` is the fraction of the sent rate that was not received.
    fn on_lossy(&mut self, loss: f64, received: f64, deficit: f64) {
        if loss > 1.2 * self.loss_limit {
            self.heavy += 1;
            self.best = self.best.max(received);
            if self.heavy >= HEAVY_PACKS {
                return self.cut();
            }
        }
        // A deficit that does not match the reported loss has another cause: the queue fills or drains.
        if !(0.0085 * loss..=0.0115 * loss).contains(&deficit) {
            return;
        }
        self.lossy = if self.phase == Phase::Lossy { self.lossy + 1 } else { 1 };
        self.phase = Phase::Lossy;
        self.best = self.best.max(received);
        if self.lossy >= LOSSY_PACKS {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.rate = self.cut_factor * self.best;
        self.gain = 1.0;
        self.settle(Phase::Lossy);
    }

    fn settle(&mut self, phase: Phase) {
        self.phase = phase;
        (self.heavy, self.lossy, self.best) = (0, 0, MIN_RATE);
    }
}

#[derive(Debug)]
struct Fillp {
    law: RateLaw,
    interval_floor: Span,
    /// Interval of PACKs. It follows from the round trip of the connection set-up, or from the first measured one.
    interval: Option<Span>,
    /// Bytes sent since the last PACK.
    sent_bytes: u64,
    since: Time,
    /// Received rate in the latest PACK, kbit/s.
    received_kbps: f64,
    loss_percent: f64,
}

impl Fillp {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            law: RateLaw::new(parameters),
            interval_floor: Span::from_secs_f64(parameters.number("pack_floor_ms") / 1e3),
            interval: None,
            sent_bytes: 0,
            since: start.now,
            received_kbps: 0.0,
            loss_percent: 0.0,
        }
    }

    fn set_interval(&mut self, rtt: Span) {
        let parts = PACKS_PER_RTT.iter().find(|(below, _)| rtt < *below).map_or(5, |(_, parts)| *parts);
        self.interval = Some((rtt / parts).max(self.interval_floor));
    }
}

impl Controller for Fillp {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.since = now;
        self.set_interval(rtt);
    }

    fn on_sent(&mut self, event: &Sent) {
        self.sent_bytes += u64::from(event.bytes);
    }

    fn message(&mut self, _event: &Sent) -> Message {
        interval_message(self.interval.unwrap_or(UNKNOWN_INTERVAL))
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.interval.is_none()
            && let Some(rtt) = ack.rtt
        {
            self.set_interval(rtt);
        }
        let Some(pack) = Pack::read(ack.feedback) else { return };
        let sent_kbps = kbps(self.sent_bytes, ack.now - self.since);
        (self.sent_bytes, self.since) = (0, ack.now);
        (self.received_kbps, self.loss_percent) = (f64::from(pack.rate_kbps), f64::from(pack.loss_percent));
        self.law.on_pack(pack, f64::from(sent_kbps));
    }

    fn control(&self) -> Control {
        let pacing = Some(Rate::from_bps_f64(self.law.rate * 1e3));
        Control { pacing, ..Control::window(u64::MAX) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("rate", "Mbit/s", self.law.rate / 1e3);
        sink.put("gain", "", self.law.gain);
        sink.put("pack_rate", "Mbit/s", self.received_kbps / 1e3);
        sink.put("pack_loss", "%", self.loss_percent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(settings: &[(&str, &str)]) -> RateLaw {
        let mut parameters = Parameters::defaults(ENTRY.parameters);
        for (name, value) in settings {
            parameters.set(name, value).unwrap();
        }
        RateLaw::new(&parameters)
    }

    /// Delivers a PACK of `loss` percent and a received rate of 10 Mbit/s, at a sent rate of `ratio` times that.
    fn pack(law: &mut RateLaw, loss: u8, ratio: f64) {
        law.on_pack(Pack { rate_kbps: 10_000, loss_percent: loss }, ratio * 10_000.0);
    }

    /// Returns the ratio of sent to received rate that explains `loss` percent.
    fn consistent(loss: u8) -> f64 {
        1.0 / (1.0 - 0.01 * f64::from(loss))
    }

    #[test]
    fn the_factor_climbs_to_2_885_on_clean_packs() {
        let mut law = law(&[]);
        let gains: Vec<f64> = (0..4)
            .map(|_| {
                pack(&mut law, 0, 1.0);
                law.gain
            })
            .collect();
        assert!(gains.iter().zip([2.6, 2.8, 2.885, 2.885]).all(|(a, b)| (a - b).abs() < 1e-12), "{gains:?}");
        assert!((law.rate - 28_850.0).abs() < 1e-6);
    }

    #[test]
    fn heavy_loss_cuts_at_the_second_pack_if_the_rate_agrees_and_at_the_third_if_not() {
        for (ratio, packs) in [(consistent(13), 2), (1.6, 3)] {
            let mut law = law(&[]);
            law.rate = 50_000.0;
            for number in 1..=packs {
                assert_eq!(law.rate, 50_000.0, "before PACK {number}");
                pack(&mut law, 13, ratio);
            }
            assert_eq!((law.rate, law.gain), (9_000.0, 1.0));
        }
    }

    #[test]
    fn loss_just_above_the_limit_cuts_only_if_the_rate_agrees() {
        let mut law = law(&[]);
        law.rate = 50_000.0;
        (0..10).for_each(|_| pack(&mut law, 11, 1.6));
        assert_eq!(law.rate, 50_000.0);
        (0..2).for_each(|_| pack(&mut law, 11, consistent(11)));
        assert_eq!(law.rate, 9_000.0);
    }

    #[test]
    fn a_cut_is_from_the_largest_received_rate_of_its_packs() {
        let mut law = law(&[]);
        for rate_kbps in [20_000, 30_000, 10_000] {
            law.on_pack(Pack { rate_kbps, loss_percent: 30 }, 90_000.0);
        }
        assert_eq!(law.rate, 27_000.0);
    }

    #[test]
    fn raises_never_lower_the_rate_and_need_a_ratio_within_the_window() {
        let mut law = law(&[]);
        law.rate = 60_000.0;
        for ratio in [0.82, 1.2] {
            pack(&mut law, 0, ratio);
            assert_eq!((law.rate, law.gain), (60_000.0, 2.4), "{ratio}");
        }
        pack(&mut law, 5, 1.12); // with loss the window ends at 1.1
        assert_eq!(law.gain, 2.4);
        pack(&mut law, 0, 1.12);
        assert_eq!((law.rate, law.gain), (60_000.0, 2.6));
    }

    #[test]
    fn a_received_rate_far_above_what_was_sent_is_taken_over() {
        let mut law = law(&[]);
        pack(&mut law, 0, 0.5);
        assert_eq!((law.rate, law.gain), (10_000.0, 2.0));
    }

    #[test]
    fn packs_without_data_change_nothing() {
        let mut law = law(&[]);
        law.on_pack(Pack { rate_kbps: 0, loss_percent: 100 }, 10_000.0);
        pack(&mut law, 0, 0.0);
        assert_eq!((law.rate, law.gain), (400.0, 2.4));
    }

    #[test]
    fn the_rate_stays_within_its_limits() {
        let mut law = law(&[("max_rate_mbps", "12")]);
        pack(&mut law, 0, 1.0);
        assert_eq!(law.rate, 12_000.0);
        (0..3).for_each(|_| law.on_pack(Pack { rate_kbps: 10, loss_percent: 90 }, 900.0));
        assert_eq!(law.rate, 400.0);
    }

    #[test]
    fn the_interval_of_packs_follows_the_round_trip_of_the_set_up() {
        let interval = |rtt_ms| {
            let parameters = Parameters::defaults(ENTRY.parameters);
            let start = Start { now: Time::ZERO, mss_bytes: 1300, initial_window_bytes: 13_000, seed: 1 };
            let mut fillp = Fillp::new(&parameters, &start);
            fillp.on_established(Time::ZERO, Span::from_ms(rtt_ms));
            fillp.interval.unwrap().as_ms_f64()
        };
        assert_eq!([24, 90, 240, 500].map(interval), [20.0, 30.0, 60.0, 100.0]);
    }
}

//! Exit from slow start before the queue overflows: HyStart (Linux) and HyStart++ (RFC 9406).
//!
//! HyStart ends slow start when the RTT has risen or the ACKs of one round are spread over half the RTT. HyStart++
//! looks at the RTT only. It first grows by a quarter ("conservative slow start", CSS) to verify the rise. ns-3 has
//! HyStart with limits of its own.

use super::{Rounds, Window};
use crate::Ack;
use units::{Span, Time};

/// Minimum rise of the RTT that counts (RFC 9406 4.3 `MIN_RTT_THRESH`; Linux has the same value).
const MIN_RTT_THRESHOLD: Span = Span::from_ms(4);
/// Maximum rise that is needed (RFC 9406 4.3 `MAX_RTT_THRESH`; Linux has the same value).
const MAX_RTT_THRESHOLD: Span = Span::from_ms(16);
/// Maximum rise that is needed in ns-3.
const NS3_MAX_RTT_THRESHOLD: Span = Span::from_ms(1000);
/// Divisor of the RTT that gives the needed rise between these limits (RFC 9406 4.3 `MIN_RTT_DIVISOR`).
const RTT_DIVISOR: u64 = 8;
/// Number of RTT samples that a round needs (RFC 9406 4.3 `N_RTT_SAMPLE`).
const MIN_SAMPLES: u32 = 8;
/// Divisor of the growth in CSS (RFC 9406 4.3 `CSS_GROWTH_DIVISOR`).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Number of rounds in CSS before slow start ends (RFC 9406 4.3 `CSS_ROUNDS`).
const CSS_ROUNDS: u32 = 5;
/// Minimum window for HyStart, packets (`hystart_low_window`).
const MIN_WINDOW: f64 = 16.0;
/// Maximum gap within an ACK train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_ms(2);
/// Maximum allowance for ACK aggregation in the train detector.
const LINUX_MAX_ACK_DELAY: Span = Span::from_ms(1);
/// Bytes whose sending time is the allowance for ACK aggregation, if below its maximum: four 64 KiB offload bursts.
const LINUX_ACK_DELAY_BYTES: f64 = 4.0 * 65_536.0;

/// Returns the rise over `rtt` that counts as queueing.
fn threshold(rtt: Span) -> Span {
    (rtt / RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD)
}

/// Variant of a controller's slow start before the first loss.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SlowStart {
    /// Ends only by loss or at ssthresh.
    Classic,
    /// Linux.
    HyStart(HyStart),
    /// ns-3.
    Ns3(Ns3),
    /// RFC 9406.
    HyStartPlusPlus(HyStartPlusPlus),
}

/// Effect of one ACK in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Growth of the window, packets.
    pub(crate) growth: f64,
    /// True if slow start ends after the growth.
    pub(crate) leave: bool,
}

impl Step {
    /// Returns a step with `growth`, or without growth if slow start ends.
    fn unless(leave: bool, growth: f64) -> Self {
        Self { growth: if leave { 0.0 } else { growth }, leave }
    }
}

impl SlowStart {
    /// Returns the variant called `name`; `limit` is RFC 9406's L, packets (infinite for a paced sender).
    pub(crate) fn named(name: &str, limit: f64) -> Self {
        match name {
            "hystart" => Self::HyStart(HyStart::NEW),
            "hystart-ns3" => Self::Ns3(Ns3::NEW),
            "hystart++" => Self::HyStartPlusPlus(HyStartPlusPlus::new(limit)),
            _ => Self::Classic,
        }
    }

    /// Handles one ACK in slow start with `window`.
    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>, window: &Window) -> Step {
        let acked = window.in_packets(ack.growth_bytes);
        match self {
            Self::Classic => Step { growth: acked, leave: false },
            Self::HyStart(detector) => Step::unless(detector.on_ack(ack, window), acked),
            Self::Ns3(detector) => Step::unless(detector.on_ack(ack, window), acked),
            Self::HyStartPlusPlus(detector) => detector.on_ack(ack, acked),
        }
    }

    /// Handles a congestion event. RFC 9406 4.3 is for the first slow start alone; later ones end at ssthresh.
    pub(crate) fn on_congestion(&mut self) {
        match self {
            Self::Classic | Self::HyStart(_) => {}
            Self::Ns3(detector) => *detector = Ns3::NEW,
            Self::HyStartPlusPlus(_) => *self = Self::Classic,
        }
    }

    /// Handles a timeout, after [`Self::on_congestion`]. It begins a new slow start: Linux's HyStart forgets its
    /// samples.
    pub(crate) fn on_timeout(&mut self) {
        if let Self::HyStart(detector) = self {
            *detector = HyStart::NEW;
        }
    }

    /// Returns true if growth is slowed down to verify a rise of the RTT.
    pub(crate) fn is_conservative(&self) -> bool {
        matches!(self, Self::HyStartPlusPlus(HyStartPlusPlus { css: Some(_), .. }))
    }
}

/// Minimum RTT of a round, from its first samples on.
#[derive(Clone, Copy, Debug)]
struct RoundMin {
    rtt: Span,
    samples: u32,
}

impl RoundMin {
    const EMPTY: Self = Self { rtt: Span::MAX, samples: 0 };

    fn add(&mut self, rtt: Span) {
        self.rtt = self.rtt.min(rtt);
        self.samples += 1;
    }
}

/// Rounds of HyStart and the ACK train of each round.
#[derive(Clone, Copy, Debug)]
struct Train {
    rounds: Rounds,
    round_began: Time,
    /// Time of the train's last ACK.
    at: Time,
}

impl Train {
    const NEW: Self = Self { rounds: Rounds::NEW, round_began: Time::ZERO, at: Time::ZERO };

    /// Returns true if `ack` begins a round.
    fn begins_round(&mut self, ack: &Ack<'_>) -> bool {
        let begins = self.rounds.ended(ack);
        if begins {
            self.round_began = ack.now;
            self.at = ack.now;
        }
        begins
    }

    /// Returns the length of the train with `ack`; `None` if `ack` is too late to continue the train.
    fn extend(&mut self, ack: &Ack<'_>) -> Option<Span> {
        let continues = ack.now - self.at <= TRAIN_GAP;
        continues.then(|| {
            self.at = ack.now;
            ack.now - self.round_began
        })
    }
}

/// HyStart as in Linux (v6.14, `net/ipv4/tcp_cubic.c`, `hystart_update`) for an unpaced sender. From v5.16 to v6.13
/// rounds were counted only from `hystart_low_window` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    train: Train,
    /// Minimum RTT of the round, with the number of its samples.
    current: RoundMin,
    /// Minimum RTT since the beginning or the latest timeout (`delay_min`).
    min_rtt: Span,
    /// True if HyStart has ended slow start; the detectors then rest until a timeout.
    has_found: bool,
}

impl HyStart {
    const NEW: Self =
        Self { train: Train::NEW, current: RoundMin::EMPTY, min_rtt: Span::MAX, has_found: false };

    /// Returns true if this ACK ends slow start.
    fn on_ack(&mut self, ack: &Ack<'_>, window: &Window) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        self.min_rtt = self.min_rtt.min(rtt);
        if self.has_found {
            return false;
        }
        if self.train.begins_round(ack) {
            self.current = RoundMin::EMPTY;
        }
        if window.packets < MIN_WINDOW {
            return false;
        }
        // Both detectors must see every ACK.
        let is_train_long =
            self.train.extend(ack).is_some_and(|length| length > self.longest_train(ack, window));
        self.has_found = self.has_delay_risen(rtt) || is_train_long;
        self.has_found
    }

    fn longest_train(&self, ack: &Ack<'_>, window: &Window) -> Span {
        // Linux's pacing rate in slow start is two windows per smoothed RTT, with or without pacing.
        let share = LINUX_ACK_DELAY_BYTES / (2.0 * window.bytes().max(1) as f64);
        let ack_delay = ack.srtt.mul_f64(share).min(LINUX_MAX_ACK_DELAY);
        (self.min_rtt + ack_delay) / 2
    }

    /// Returns true if the delay has risen. Every sample counts for the minimum; the minimum counts from the ninth
    /// sample on.
    fn has_delay_risen(&mut self, rtt: Span) -> bool {
        let is_believed = self.current.samples >= MIN_SAMPLES;
        self.current.add(rtt);
        is_believed && self.current.rtt > self.min_rtt + threshold(self.min_rtt)
    }
}

/// HyStart as in ns-3's `TcpCubic` (ns-3.41, `src/internet/model/tcp-cubic.cc`). A train must be as long as the whole
/// RTT. A rise must be as large as the RTT, within 4 ms to 1 s, in the first eight samples of a round. This code uses
/// the connection's minimum RTT; ns-3 leaves out samples of an epoch's beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ns3 {
    train: Train,
    current: RoundMin,
}

impl Ns3 {
    const NEW: Self = Self { train: Train::NEW, current: RoundMin::EMPTY };

    /// Returns true if this ACK ends slow start.
    fn on_ack(&mut self, ack: &Ack<'_>, window: &Window) -> bool {
        if self.train.begins_round(ack) {
            self.current = RoundMin::EMPTY;
        }
        if window.packets < MIN_WINDOW {
            return false;
        }
        // Both detectors must see every ACK.
        let is_train_long = self.train.extend(ack).is_some_and(|length| length > ack.min_rtt);
        self.has_delay_risen(ack) || is_train_long
    }

    fn has_delay_risen(&mut self, ack: &Ack<'_>) -> bool {
        if let Some(rtt) = ack.rtt
            && self.current.samples < MIN_SAMPLES
        {
            self.current.add(rtt);
        }
        let rise = ack.min_rtt.clamp(MIN_RTT_THRESHOLD, NS3_MAX_RTT_THRESHOLD);
        self.current.samples >= MIN_SAMPLES && self.current.rtt > ack.min_rtt + rise
    }
}

/// HyStart++ (RFC 9406 4.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStartPlusPlus {
    rounds: Rounds,
    current: RoundMin,
    /// Minimum RTT of the previous round; [`Span::MAX`] without one.
    last_min: Span,
    css: Option<Css>,
    /// RFC 9406's L: the maximum number of packets that one ACK may add.
    limit: f64,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// Baseline RTT: a smaller RTT disproves the rise.
    baseline: Span,
    /// Number of rounds that ended in CSS, including the one in which it began.
    rounds: u32,
}

impl HyStartPlusPlus {
    fn new(limit: f64) -> Self {
        Self { rounds: Rounds::default(), current: RoundMin::EMPTY, last_min: Span::MAX, css: None, limit }
    }

    fn on_ack(&mut self, ack: &Ack<'_>, acked: f64) -> Step {
        let divisor = if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 };
        let growth = acked.min(self.limit) / divisor;
        let mut leave = false;
        if self.rounds.ended(ack) {
            self.last_min = self.current.rtt;
            self.current = RoundMin::EMPTY;
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                leave = css.rounds >= CSS_ROUNDS;
            }
        }
        if let Some(rtt) = ack.rtt {
            self.current.add(rtt);
        }
        if !leave && self.current.samples >= MIN_SAMPLES {
            self.judge();
        }
        Step { growth, leave }
    }

    /// Enters or leaves CSS once the round has enough samples.
    fn judge(&mut self) {
        match self.css {
            None if self.last_min != Span::MAX
                && self.current.rtt >= self.last_min + threshold(self.last_min) =>
            {
                self.css = Some(Css { baseline: self.current.rtt, rounds: 0 });
            }
            Some(css) if self.current.rtt < css.baseline => self.css = None,
            _ => {}
        }
    }
}

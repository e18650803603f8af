//! Leaving slow start before the queue overflows: HyStart (Linux) and HyStart++ (RFC 9406).
//!
//! HyStart ends slow start when the RTT has risen or the ACKs of one round are spread over half the RTT. HyStart++ looks
//! at the RTT only, and probes with a quarter of the growth ("conservative slow start", CSS) before it believes it.

use super::{Rounds, Window};
use crate::Ack;
use units::{Span, Time};

/// Smallest rise of the RTT that counts (RFC 9406 4.3 `MIN_RTT_THRESH`; Linux the same).
const MIN_RTT_THRESHOLD: Span = Span::from_ms(4);
/// Largest rise that is needed (RFC 9406 4.3 `MAX_RTT_THRESH`; Linux the same).
const MAX_RTT_THRESHOLD: Span = Span::from_ms(16);
/// The same in ns-3.
const NS3_MAX_RTT_THRESHOLD: Span = Span::from_ms(1000);
/// Share of the RTT that counts as a rise between those (RFC 9406 4.3 `MIN_RTT_DIVISOR`).
const RTT_DIVISOR: u64 = 8;
/// RTT samples a round needs (RFC 9406 4.3 `N_RTT_SAMPLE`).
const MIN_SAMPLES: u32 = 8;
/// Slow-down in CSS (RFC 9406 4.3 `CSS_GROWTH_DIVISOR`).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Rounds in CSS before slow start ends (RFC 9406 4.3 `CSS_ROUNDS`).
const CSS_ROUNDS: u32 = 5;
/// Smallest window at which Linux's HyStart looks, packets (`hystart_low_window`).
const LINUX_MIN_WINDOW: f64 = 16.0;
/// Largest gap within an ACK train (`hystart_ack_delta_us`).
const LINUX_TRAIN_GAP: Span = Span::from_ms(2);
/// Largest allowance for ACK aggregation in the train detector.
const LINUX_MAX_ACK_DELAY: Span = Span::from_ms(1);
/// Bytes whose sending time is that allowance below its limit: four 64 KiB offload bursts.
const LINUX_ACK_DELAY_BYTES: f64 = 4.0 * 65_536.0;

/// The rise over `rtt` that counts as queueing.
fn threshold(rtt: Span) -> Span {
    (rtt / RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD)
}

/// How a controller's slow start ends before the first loss.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SlowStart {
    /// Only by loss or at ssthresh.
    Classic,
    /// Linux.
    HyStart(HyStart),
    /// RFC 9406.
    HyStartPlusPlus(HyStartPlusPlus),
}

/// What one ACK does in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Growth, packets.
    pub(crate) growth: f64,
    /// Slow start ends after the growth.
    pub(crate) leave: bool,
}

impl SlowStart {
    /// The variant called `name`; `limit` is RFC 9406's L, packets (infinite for a paced sender).
    pub(crate) fn named(name: &str, limit: f64) -> Self {
        match name {
            "hystart" => Self::HyStart(HyStart::new(false)),
            "hystart-ns3" => Self::HyStart(HyStart::new(true)),
            "hystart++" => Self::HyStartPlusPlus(HyStartPlusPlus::new(limit)),
            _ => Self::Classic,
        }
    }

    /// One ACK in slow start with `window`.
    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>, window: &Window) -> Step {
        let acked = window.in_packets(ack.growth_bytes);
        match self {
            Self::Classic => Step { growth: acked, leave: false },
            Self::HyStart(detector) => {
                let leave = detector.on_ack(ack, window);
                Step { growth: if leave { 0.0 } else { acked }, leave }
            }
            Self::HyStartPlusPlus(detector) => detector.on_ack(ack, acked),
        }
    }

    /// A congestion event. RFC 9406 4.3 is for the first slow start alone, later ones end at ssthresh; Linux's
    /// HyStart starts over.
    pub(crate) fn on_congestion(&mut self) {
        match self {
            Self::Classic => {}
            Self::HyStart(detector) => *detector = HyStart::new(detector.ns3),
            Self::HyStartPlusPlus(_) => *self = Self::Classic,
        }
    }

    /// Whether growth is slowed down to check a suspected rise of the RTT.
    pub(crate) fn is_conservative(&self) -> bool {
        matches!(self, Self::HyStartPlusPlus(HyStartPlusPlus { css: Some(_), .. }))
    }
}

/// Smallest RTT of a round, from its first samples on.
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

/// HyStart as in Linux (v5.15, `net/ipv4/tcp_cubic.c`, `hystart_update`) for an unpaced sender. Uses the connection's
/// smallest RTT where Linux leaves out samples of an epoch's first second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    rounds: Rounds,
    current: RoundMin,
    round_began: Time,
    /// Last ACK of the train.
    train_at: Time,
    /// Limits as in ns-3's `TcpCubic` (ns-3.41, `tcp-cubic.cc`): a train as long as the whole RTT, a rise of the RTT by
    /// as much as it is, 4 ms to 1 s.
    ns3: bool,
}

impl HyStart {
    fn new(ns3: bool) -> Self {
        Self {
            ns3,
            rounds: Rounds::default(),
            current: RoundMin::EMPTY,
            round_began: Time::ZERO,
            train_at: Time::ZERO,
        }
    }

    /// Whether this ACK ends slow start.
    fn on_ack(&mut self, ack: &Ack<'_>, window: &Window) -> bool {
        if self.rounds.ended(ack) {
            self.current = RoundMin::EMPTY;
            self.round_began = ack.now;
            self.train_at = ack.now;
        }
        if window.packets < LINUX_MIN_WINDOW {
            return false;
        }
        // Both detectors see every ACK.
        let train = self.is_train_long(ack, window);
        let delay = self.has_delay_risen(ack);
        train || delay
    }

    fn is_train_long(&mut self, ack: &Ack<'_>, window: &Window) -> bool {
        if ack.now - self.train_at > LINUX_TRAIN_GAP {
            return false;
        }
        self.train_at = ack.now;
        if self.ns3 {
            return ack.now - self.round_began > ack.min_rtt;
        }
        // Linux's pacing rate in slow start is two windows per smoothed RTT, whether or not it paces.
        let share = LINUX_ACK_DELAY_BYTES / (2.0 * window.bytes().max(1) as f64);
        let ack_delay = ack.srtt.mul_f64(share).min(LINUX_MAX_ACK_DELAY);
        ack.now - self.round_began > (ack.min_rtt + ack_delay) / 2
    }

    fn has_delay_risen(&mut self, ack: &Ack<'_>) -> bool {
        if let Some(rtt) = ack.rtt
            && self.current.samples < MIN_SAMPLES
        {
            self.current.add(rtt);
        }
        let rise = if self.ns3 {
            ack.min_rtt.clamp(MIN_RTT_THRESHOLD, NS3_MAX_RTT_THRESHOLD)
        } else {
            threshold(ack.min_rtt)
        };
        self.current.samples >= MIN_SAMPLES && self.current.rtt > ack.min_rtt + rise
    }
}

/// HyStart++ (RFC 9406 4.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStartPlusPlus {
    rounds: Rounds,
    current: RoundMin,
    /// Smallest RTT of the round before; [`Span::MAX`] without one.
    last_min: Span,
    css: Option<Css>,
    /// L: most packets one ACK may add.
    limit: f64,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// A smaller RTT than this proves the suspicion wrong.
    baseline: Span,
    /// Rounds ended in it; the one it began in counts.
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

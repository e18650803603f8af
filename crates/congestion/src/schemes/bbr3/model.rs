//! Model of the path: rounds, bandwidth, minimum RTT, ACK aggregation, and the short-term bounds after losses outside
//! of probing.

use super::settings::Settings;
use super::{Bbr3, State};
use crate::Ack;
use crate::parts::WindowedMax;
use units::{Span, Time};

/// Delivery-rate sample of one ACK, in packets and bit/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) bps: f64,
    /// Packets delivered over the sample's interval.
    pub(super) delivered: f64,
    /// Bytes delivered on the connection when the newest acknowledged packet was sent.
    pub(super) prior_delivered_bytes: u64,
    pub(super) app_limited: bool,
}

/// Maximum delivery rate of this and of the previous `ProbeBW` cycle, bit/s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    cycles: [f64; 2],
}

impl MaxBandwidth {
    pub(super) fn get(&self) -> f64 {
        self.cycles[0].max(self.cycles[1])
    }

    pub(super) fn push(&mut self, bps: f64) {
        self.cycles[1] = self.cycles[1].max(bps);
    }

    /// Ends a cycle. A cycle without any sample does not count, because the estimate would be lost.
    pub(super) fn advance(&mut self) {
        if self.cycles[1] > 0.0 {
            self.cycles = [self.cycles[1], 0.0];
        }
    }
}

/// Excess of acknowledged packets over the number that the bandwidth explains, packets.
#[derive(Clone, Debug)]
pub(super) struct ExtraAcked {
    since: Time,
    acked: f64,
    max: WindowedMax<f64>,
    halves: Halves,
}

/// Linux' maximum, over the present window of rounds and the previous one.
#[derive(Clone, Copy, Debug, Default)]
struct Halves {
    present: f64,
    previous: f64,
    /// Number of rounds in the present window.
    rounds: u64,
}

impl Halves {
    fn push(&mut self, round_start: bool, length: u64, value: f64) {
        self.rounds += u64::from(round_start);
        if self.rounds >= length {
            *self = Self { present: 0.0, previous: self.present, rounds: 0 };
        }
        self.present = self.present.max(value);
    }
}

impl ExtraAcked {
    pub(super) fn new() -> Self {
        Self { since: Time::ZERO, acked: 0.0, max: WindowedMax::new(1), halves: Halves::default() }
    }

    /// Handles a restart after idleness.
    pub(super) fn restart(&mut self, now: Time) {
        self.since = now;
        self.acked = 0.0;
    }

    /// Returns the number of packets to add to the window.
    pub(super) fn get(&self) -> f64 {
        self.max.get().unwrap_or(self.halves.present.max(self.halves.previous))
    }
}

/// Maximum delivery of one round, kept until a loss turns it into a bound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    pub(super) bps: f64,
    /// Packets in flight.
    pub(super) in_flight: f64,
}

/// Bounds that hold until the next bandwidth probe; infinite when unset.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    pub(super) bps: f64,
    /// Packets in flight.
    pub(super) in_flight: f64,
}

impl ShortTerm {
    pub(super) const UNSET: Self = Self { bps: f64::INFINITY, in_flight: f64::INFINITY };
}

/// Filters of the minimum RTT: a short one that schedules `ProbeRTT`, and a long one for the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    pub(super) rtt: Option<Span>,
    at: Time,
    probe_rtt: Option<Span>,
    /// Time at which `ProbeRTT`'s minimum was measured, or `ProbeRTT` last ended.
    pub(super) probe_at: Time,
    /// True if `ProbeRTT` is due.
    pub(super) is_probe_due: bool,
}

impl MinRtt {
    pub(super) fn new(now: Time) -> Self {
        Self { rtt: None, at: now, probe_rtt: None, probe_at: now, is_probe_due: false }
    }

    /// Takes the RTT of the connection set-up. By Linux' rules the short filter begins with it as well.
    pub(super) fn begin(&mut self, now: Time, rtt: Span, settings: &Settings) {
        if settings.linux {
            self.update(now, Some(rtt), settings);
        } else {
            (self.rtt, self.at) = (Some(rtt), now);
        }
    }

    /// Adds an RTT sample. Only by Linux' rules, which have RTTs in whole microseconds, an equal RTT renews the
    /// minimum.
    pub(super) fn update(&mut self, now: Time, rtt: Option<Span>, settings: &Settings) {
        self.is_probe_due = now > self.probe_at + settings.probe_rtt_interval;
        let Some(rtt) = rtt else { return };
        let rtt = if settings.linux { Span::from_us(rtt.as_ns() / 1000) } else { rtt };
        if self.is_probe_due || self.probe_rtt.is_none_or(|smallest| rtt < smallest) {
            self.probe_rtt = Some(rtt);
            self.probe_at = now;
        }
        let is_stale = now > self.at + settings.min_rtt_window;
        let newest = self.probe_rtt.unwrap_or(rtt);
        let is_least = |smallest| newest < smallest || (settings.linux && newest == smallest);
        if is_stale || self.rtt.is_none_or(is_least) {
            self.rtt = Some(newest);
            self.at = self.probe_at;
        }
    }
}

impl Bbr3 {
    pub(super) fn sample(&self, ack: &Ack<'_>) -> Option<Sample> {
        ack.rate.as_ref().map(|sample| Sample {
            bps: sample.rate.bps() as f64,
            delivered: self.window.in_packets(sample.delivered_bytes),
            prior_delivered_bytes: sample.prior_delivered_bytes,
            // Packets sent at `ProbeRTT`'s small window do not measure the bandwidth.
            app_limited: sample.app_limited
                || (self.limited.0..=self.limited.1).contains(&sample.prior_delivered_bytes),
        })
    }

    /// Updates the maximum deliveries of the round near the start of an ACK, and ends a loss round if it is over.
    pub(super) fn update_latest(&mut self, ack: &Ack<'_>) {
        self.loss_round_start = false;
        let Some(sample) = self.sample else { return };
        self.latest.bps = self.latest.bps.max(sample.bps);
        self.latest.in_flight = self.latest.in_flight.max(sample.delivered);
        if sample.prior_delivered_bytes >= self.loss_round_delivered {
            self.loss_round_delivered = ack.delivered_bytes;
            self.loss_round_start = true;
        }
    }

    /// Begins the next round with this sample, near the end of an ACK.
    pub(super) fn advance_latest(&mut self) {
        if let (true, Some(sample)) = (self.loss_round_start, self.sample) {
            self.latest = Latest { bps: sample.bps, in_flight: sample.delivered };
        }
    }

    pub(super) fn update_round(&mut self) {
        self.round_start = false;
        if self.sample.is_some_and(|sample| sample.prior_delivered_bytes >= self.next_round_delivered) {
            self.start_round();
            self.round_start = true;
            self.round_count += 1;
            self.rounds_since_probe += 1;
        }
    }

    /// Begins a round that lasts until a packet sent from now on is acknowledged.
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered_bytes;
    }

    pub(super) fn update_max_bw(&mut self) {
        if let Some(sample) = self.sample
            && (!sample.app_limited || sample.bps >= self.max_bw.get())
        {
            self.max_bw.push(sample.bps);
        }
    }

    /// Adapts the bounds once per round with losses, outside of probing. They follow the deliveries, but fall by at
    /// most the factor `beta`.
    pub(super) fn adapt_short_term(&mut self, ack: &Ack<'_>) {
        // By Linux' rules a loss that ended a probe counts in the round after it as well.
        self.loss_in_round |= self.settings.linux && self.sample.is_some() && ack.lost_bytes > 0;
        if !self.loss_round_start {
            return;
        }
        let is_probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        let bounds = self.short_term;
        let in_flight = if bounds.in_flight.is_finite() { bounds.in_flight } else { self.window.packets };
        if self.loss_in_round && !is_probing {
            let beta = self.settings.beta;
            let bps = if bounds.bps.is_finite() { bounds.bps } else { self.max_bw.get() };
            self.short_term = ShortTerm {
                bps: self.latest.bps.max(beta * bps),
                in_flight: self.latest.in_flight.max(beta * in_flight),
            };
        }
        if let (Some(kept), false) = (self.marks.kept(), is_probing) {
            self.short_term.in_flight = self.short_term.in_flight.min(kept * in_flight);
        }
        self.loss_in_round = false;
        self.marks.in_round = false;
    }

    pub(super) fn update_extra_acked(&mut self, ack: &Ack<'_>) {
        let packets_per_s = self.bps() / (8.0 * self.mss_bytes);
        let extra = &mut self.extra_acked;
        let mut expected = packets_per_s * (ack.now - extra.since).as_secs_f64();
        if extra.acked <= expected {
            extra.restart(ack.now);
            expected = 0.0;
        }
        extra.acked += self.window.in_packets(ack.acked_bytes);
        let rounds = if self.full_bw_reached { self.settings.extra_acked_rounds } else { 1 };
        let excess = (extra.acked - expected).min(self.window.packets);
        if self.settings.linux {
            extra.halves.push(self.round_start, rounds, excess);
        } else {
            extra.max.set_length(rounds);
            extra.max.push(self.round_count, excess);
        }
    }

    pub(super) fn reset_full_bw(&mut self) {
        self.full_bps = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// Checks whether the bandwidth has reached a plateau: no growth by a quarter for three rounds. The draft compares
    /// the first ACKs of rounds; by Linux' rules growth at any ACK counts.
    pub(super) fn check_full_bw(&mut self) {
        let Some(sample) = self.sample else { return };
        let is_looked_at = self.round_start || self.settings.linux;
        if self.full_bw_now || !is_looked_at || sample.app_limited {
            return;
        }
        if sample.bps >= self.full_bps * self.settings.full_bw_growth {
            self.reset_full_bw();
            self.full_bps = sample.bps;
            return;
        }
        if !self.round_start {
            return;
        }
        self.full_bw_count += 1;
        if self.full_bw_count >= self.settings.full_bw_rounds {
            self.full_bw_now = true;
            self.full_bw_reached = true;
        }
    }

    /// Returns the bandwidth in use, bit/s.
    pub(super) fn bps(&self) -> f64 {
        self.max_bw.get().min(self.short_term.bps)
    }

    /// Returns the bandwidth-delay product at `bps`, packets; the initial window before the first RTT sample.
    pub(super) fn bdp(&self, bps: f64) -> f64 {
        self.min_rtt.rtt.map_or(self.initial_window, |rtt| bps / 8.0 * rtt.as_secs_f64() / self.mss_bytes)
    }
}

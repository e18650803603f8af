//! Socket counters that a program reads from time to time: sums since the last query, and the present state.

use crate::{Ack, Loss, Sent};
use units::{Rate, Span, Time};

/// Headers of IPv4 and of TCP with timestamps, bytes.
const HEADER_BYTES: f64 = 52.0;

/// Counters of the socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queried {
    mss_bytes: f64,
    since: Time,
    /// Sum of delivery-rate samples, bytes/s.
    rate_sum: f64,
    rate_samples: u64,
    /// Newest delivery rate that the application did not limit, bytes/s.
    newest_rate: f64,
    /// Sum of RTT samples, s.
    rtt_sum: f64,
    rtt_samples: u64,
    sent_bytes: u64,
    delivered_bytes: u64,
    lost_bytes: u64,
    srtt: Span,
    rttvar: Span,
    min_rtt: Option<Span>,
    in_flight_bytes: u64,
    /// Retransmissions in flight, packets.
    retransmitted: u64,
    /// Lost packets whose data has not arrived since, neither late nor by retransmission.
    missing: u64,
    state: State,
}

/// Linux's states of congestion control, by their numbers. The state with reordered ACKs is not distinguished from
/// `Open`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Open = 0,
    Recovery = 3,
    Loss = 4,
}

/// Answer to one query of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// Time since the last query, s.
    pub(crate) elapsed_s: f64,
    /// Mean delivery rate, bytes/s; 0 without a sample.
    pub(crate) rate: f64,
    /// Newest delivery rate, bytes/s.
    pub(crate) newest_rate: f64,
    /// Bytes sent and delivered since the last query.
    pub(crate) sent_bytes: f64,
    pub(crate) delivered_bytes: f64,
    /// Mean RTT, s, if there was a sample, and the number of samples.
    pub(crate) rtt_s: Option<f64>,
    pub(crate) rtt_samples: f64,
    /// Rate of lost bytes, bytes/s.
    pub(crate) loss: f64,
    /// Smoothed RTT, its variation, and minimum RTT, s.
    pub(crate) srtt_s: f64,
    pub(crate) rttvar_s: f64,
    pub(crate) min_rtt_s: f64,
    /// Number of packets in flight, and of retransmissions among them.
    pub(crate) packets_out: f64,
    pub(crate) retransmitted: f64,
    /// Number of packets that were lost and have not arrived since.
    pub(crate) missing: f64,
    pub(crate) state: State,
}

impl Queried {
    pub(crate) fn new(now: Time, mss_bytes: u32) -> Self {
        Self {
            mss_bytes: f64::from(mss_bytes.max(1)),
            since: now,
            rate_sum: 0.0,
            rate_samples: 0,
            newest_rate: 0.0,
            rtt_sum: 0.0,
            rtt_samples: 0,
            sent_bytes: 0,
            delivered_bytes: 0,
            lost_bytes: 0,
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            min_rtt: None,
            in_flight_bytes: 0,
            retransmitted: 0,
            missing: 0,
            state: State::Open,
        }
    }

    pub(crate) fn on_sent(&mut self, event: &Sent) {
        self.in_flight_bytes = event.in_flight_bytes;
        self.sent_bytes += u64::from(event.bytes);
        self.retransmitted += u64::from(event.retransmission);
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some(sample) = &ack.rate
            && !sample.interval.is_zero()
        {
            let rate = sample.delivered_bytes as f64 / sample.interval.as_secs_f64();
            self.rate_sum += rate;
            self.rate_samples += 1;
            if !sample.app_limited || rate >= self.newest_rate {
                self.newest_rate = rate;
            }
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.rtt_sum += rtt.as_secs_f64();
            self.rtt_samples += 1;
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let retransmitted = ack.packets.iter().filter(|packet| packet.retransmission).count() as u64;
        let found = ack.packets.iter().filter(|packet| packet.retransmission || packet.was_lost).count();
        self.retransmitted = self.retransmitted.saturating_sub(retransmitted);
        self.missing = self.missing.saturating_sub(found as u64);
        self.delivered_bytes += ack.acked_bytes;
        (self.srtt, self.rttvar) = (ack.srtt, ack.rttvar);
        self.in_flight_bytes = ack.in_flight_bytes;
        self.state = match self.state {
            _ if !ack.in_recovery => State::Open,
            State::Loss => State::Loss,
            State::Open | State::Recovery => State::Recovery,
        };
    }

    pub(crate) fn on_loss(&mut self, loss: &Loss<'_>) {
        self.lost_bytes += loss.lost_bytes;
        let retransmitted = loss.packets.iter().filter(|packet| packet.retransmission).count() as u64;
        self.retransmitted = self.retransmitted.saturating_sub(retransmitted);
        self.missing += loss.packets.len() as u64 - retransmitted;
        self.in_flight_bytes = loss.in_flight_bytes;
        if self.state == State::Open {
            self.state = State::Recovery;
        }
    }

    /// Counts everything outstanding as lost.
    pub(crate) fn on_timeout(&mut self) {
        self.lost_bytes += self.in_flight_bytes;
        self.missing += (self.packets_out() as u64).saturating_sub(self.retransmitted);
        self.state = State::Loss;
        (self.in_flight_bytes, self.retransmitted) = (0, 0);
    }

    /// Returns true if there was an RTT sample since the last query.
    pub(crate) const fn has_sample(&self) -> bool {
        self.rtt_samples > 0
    }

    /// Returns true if data was delivered since the last query.
    pub(crate) const fn has_delivered(&self) -> bool {
        self.delivered_bytes > 0
    }

    /// Returns the number of packets in flight.
    pub(crate) fn packets_out(&self) -> f64 {
        self.in_flight_bytes as f64 / self.mss_bytes
    }

    /// Returns the pacing rate, bytes/s: `window` packets, or the packets in flight if they are more, per smoothed RTT.
    /// 0 before the first sample.
    pub(crate) fn pacing(&self, window: f64) -> f64 {
        if self.srtt.is_zero() {
            return 0.0;
        }
        window.max(self.packets_out()) * self.mss_bytes / self.srtt.as_secs_f64()
    }

    /// Returns the pacing rate; `None` before the first sample.
    pub(crate) fn paced(&self, window: f64) -> Option<Rate> {
        let pacing = self.pacing(window);
        (pacing > 0.0).then(|| Rate::from_bps_f64((8.0 * pacing).max(1.0)))
    }

    /// Returns the pacing rate that the socket reports, bytes/s. Linux counts whole packets with headers.
    pub(crate) fn pacing_rate(&self, window: f64) -> f64 {
        self.pacing(window) * (self.mss_bytes + HEADER_BYTES) / self.mss_bytes
    }

    /// Returns the answer to a query, and restarts the counters.
    pub(crate) fn ask(&mut self, now: Time) -> Answer {
        let elapsed_s = (now - self.since).as_secs_f64();
        let per = |sum: f64, count: u64| if count > 0 { sum / count as f64 } else { 0.0 };
        let min_rtt_s = self.min_rtt.map_or(0.0, Span::as_secs_f64);
        let answer = Answer {
            elapsed_s,
            rate: per(self.rate_sum, self.rate_samples),
            newest_rate: self.newest_rate,
            sent_bytes: self.sent_bytes as f64,
            delivered_bytes: self.delivered_bytes as f64,
            rtt_s: (self.rtt_samples > 0).then(|| per(self.rtt_sum, self.rtt_samples)),
            rtt_samples: self.rtt_samples as f64,
            loss: if elapsed_s > 0.0 { self.lost_bytes as f64 / elapsed_s } else { 0.0 },
            srtt_s: self.srtt.as_secs_f64(),
            rttvar_s: self.rttvar.as_secs_f64(),
            min_rtt_s,
            packets_out: self.packets_out(),
            retransmitted: self.retransmitted as f64,
            missing: self.missing as f64,
            state: self.state,
        };
        (self.since, self.sent_bytes, self.delivered_bytes, self.lost_bytes) = (now, 0, 0, 0);
        (self.rate_sum, self.rate_samples, self.rtt_sum, self.rtt_samples) = (0.0, 0, 0.0, 0);
        answer
    }
}

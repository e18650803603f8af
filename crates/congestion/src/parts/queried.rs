//! What a program asks a socket for from time to time: sums since it last asked, and the present state.

use crate::{Ack, Loss, Sent};
use units::{Span, Time};

/// The socket's side: counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queried {
    mss_bytes: f64,
    since: Time,
    /// Of delivery-rate samples, bytes/s.
    rate_sum: f64,
    rate_samples: u64,
    /// Of RTT samples, s.
    rtt_sum: f64,
    rtt_samples: u64,
    lost_bytes: u64,
    srtt: Span,
    min_rtt: Option<Span>,
    in_flight_bytes: u64,
    /// Retransmissions under way, packets.
    retransmitted: u64,
}

/// The program's side: what one question is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// Since the last question, s.
    pub(crate) elapsed_s: f64,
    /// Mean delivery rate, bytes/s; 0 without a sample.
    pub(crate) rate: f64,
    /// Mean RTT, s, if there was a sample, and the number of samples.
    pub(crate) rtt_s: Option<f64>,
    pub(crate) rtt_samples: f64,
    /// Bytes lost per second.
    pub(crate) loss: f64,
    /// Smoothed and smallest RTT, s.
    pub(crate) srtt_s: f64,
    pub(crate) min_rtt_s: f64,
    /// Packets in flight, and retransmissions among them.
    pub(crate) packets_out: f64,
    pub(crate) retransmitted: f64,
}

impl Queried {
    pub(crate) fn new(now: Time, mss_bytes: u32) -> Self {
        Self {
            mss_bytes: f64::from(mss_bytes.max(1)),
            since: now,
            rate_sum: 0.0,
            rate_samples: 0,
            rtt_sum: 0.0,
            rtt_samples: 0,
            lost_bytes: 0,
            srtt: Span::ZERO,
            min_rtt: None,
            in_flight_bytes: 0,
            retransmitted: 0,
        }
    }

    pub(crate) fn on_sent(&mut self, event: &Sent) {
        self.in_flight_bytes = event.in_flight_bytes;
        self.retransmitted += u64::from(event.retransmission);
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some(sample) = &ack.rate
            && !sample.interval.is_zero()
        {
            self.rate_sum += sample.delivered_bytes as f64 / sample.interval.as_secs_f64();
            self.rate_samples += 1;
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            self.rtt_sum += rtt.as_secs_f64();
            self.rtt_samples += 1;
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let retransmitted = ack.packets.iter().filter(|packet| packet.retransmission).count() as u64;
        self.retransmitted = self.retransmitted.saturating_sub(retransmitted);
        self.srtt = ack.srtt;
        self.in_flight_bytes = ack.in_flight_bytes;
    }

    pub(crate) fn on_loss(&mut self, loss: &Loss<'_>) {
        self.lost_bytes += loss.lost_bytes;
        let retransmitted = loss.packets.iter().filter(|packet| packet.retransmission).count() as u64;
        self.retransmitted = self.retransmitted.saturating_sub(retransmitted);
        self.in_flight_bytes = loss.in_flight_bytes;
    }

    /// Everything outstanding is lost.
    pub(crate) const fn on_timeout(&mut self) {
        self.lost_bytes += self.in_flight_bytes;
        (self.in_flight_bytes, self.retransmitted) = (0, 0);
    }

    /// Whether there was an RTT sample since the last question.
    pub(crate) const fn has_sample(&self) -> bool {
        self.rtt_samples > 0
    }

    /// Packets in flight.
    pub(crate) fn packets_out(&self) -> f64 {
        self.in_flight_bytes as f64 / self.mss_bytes
    }

    /// Bytes/s of `window` packets, or of what is in flight if that is more, per smoothed RTT; 0 before a sample.
    pub(crate) fn pacing(&self, window: f64) -> f64 {
        if self.srtt.is_zero() {
            return 0.0;
        }
        window.max(self.packets_out()) * self.mss_bytes / self.srtt.as_secs_f64()
    }

    /// The answer; counting begins anew.
    pub(crate) fn ask(&mut self, now: Time) -> Answer {
        let elapsed_s = (now - self.since).as_secs_f64();
        let per = |sum: f64, count: u64| if count > 0 { sum / count as f64 } else { 0.0 };
        let min_rtt_s = self.min_rtt.map_or(0.0, Span::as_secs_f64);
        let answer = Answer {
            elapsed_s,
            rate: per(self.rate_sum, self.rate_samples),
            rtt_s: (self.rtt_samples > 0).then(|| per(self.rtt_sum, self.rtt_samples)),
            rtt_samples: self.rtt_samples as f64,
            loss: if elapsed_s > 0.0 { self.lost_bytes as f64 / elapsed_s } else { 0.0 },
            srtt_s: self.srtt.as_secs_f64(),
            min_rtt_s,
            packets_out: self.packets_out(),
            retransmitted: self.retransmitted as f64,
        };
        (self.since, self.lost_bytes) = (now, 0);
        (self.rate_sum, self.rate_samples, self.rtt_sum, self.rtt_samples) = (0.0, 0, 0.0, 0);
        answer
    }
}

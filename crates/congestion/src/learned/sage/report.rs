//! Reports of Sage's program to its agent (`sage_rl/src/sage.cc`): 69 of the 77 columns of its message, in their order
//! (`sage_rl/rl_module/config-rl-eval.yaml`). Left out are time, capacity of the link, RTO, delayed-ACK timeout, pacing
//! rate, slow-start threshold, rate less losses, and reward.

use super::recent::Recent;
use crate::parts::Answer;

pub(super) const INPUTS: usize = 69;
/// Number of series with mean, minimum and maximum in three lengths, and these lengths, reports.
const SERIES: usize = 6;
const LENGTHS: [usize; 3] = [10, 200, 1000];
/// Number of reports that rates are averaged over, of rates for the link's maximum, and of sending rates for their
/// maximum.
const RATED: usize = 100;
const RATES: usize = 200;
const SENDING_RATES: usize = 5000;
/// Units: 100 Mbit/s, 100 ms, 1000 and 100 packets.
const UNIT_MBPS: f64 = 100.0;
const UNIT_RTT_US: f64 = 1e5;
const UNIT_UNACKED: f64 = 1000.0;
const UNIT_LOST: f64 = 100.0;

/// State that reports are computed from.
#[derive(Debug)]
pub(super) struct Reports {
    mss_bytes: f64,
    series: [[Recent; LENGTHS.len()]; SERIES],
    /// Values of each report: microseconds, and bytes sent, delivered, lost and not yet acknowledged.
    spans: Recent,
    sent: Recent,
    delivered: Recent,
    lost: Recent,
    unacked: Recent,
    /// Delivery rates, Mbit/s.
    rates: Recent,
    /// Sending rates, bytes/s.
    sending_rates: Recent,
    /// Number of missing packets at the last report.
    missing: f64,
    last_rate: f64,
    last_max_rate: f64,
    report: [f32; INPUTS],
}

impl Reports {
    pub(super) fn new(mss_bytes: u32) -> Self {
        Self {
            mss_bytes: f64::from(mss_bytes.max(1)),
            series: core::array::from_fn(|_| LENGTHS.map(Recent::new)),
            spans: Recent::new(RATED),
            sent: Recent::new(RATED),
            delivered: Recent::new(RATED),
            lost: Recent::new(RATED),
            unacked: Recent::new(RATED),
            rates: Recent::new(RATES),
            sending_rates: Recent::new(SENDING_RATES),
            missing: 0.0,
            last_rate: 0.0,
            last_max_rate: 1.0,
            report: [0.0; INPUTS],
        }
    }

    /// Returns the maximum rate, Mbit/s.
    pub(super) const fn max_rate(&self) -> f64 {
        self.last_max_rate
    }

    /// Returns the next report. `seen` is the socket's answer, `window` the window in packets, `action` the binary
    /// logarithm of the window's last factor.
    pub(super) fn next(&mut self, seen: &Answer, window: f64, action: f64) -> &[f32] {
        let us = |seconds: f64| (seconds * 1e6).floor();
        let (rtt_us, min_rtt_us) = (us(seen.srtt_s), us(seen.min_rtt_s));
        let elapsed_us = us(seen.elapsed_s).max(1.0);
        // Linux counts lost packets as unacknowledged until their retransmission arrives.
        let unacked = seen.packets_out + (seen.missing - seen.retransmitted).max(0.0);
        self.spans.add(elapsed_us);
        self.sent.add(seen.sent_bytes);
        self.delivered.add(seen.delivered_bytes);
        self.lost.add((seen.missing - self.missing).max(0.0) * self.mss_bytes);
        self.unacked.add(unacked * self.mss_bytes);
        self.missing = seen.missing;
        let mbps = |bytes: &Recent| 8.0 * bytes.sum() / self.spans.sum();
        let (rate, loss) = (mbps(&self.delivered), mbps(&self.lost));
        self.rates.add(rate);
        let max_rate = if self.rates.most() > 0.0 { self.rates.most() } else { 1.0 };
        self.sending_rates.add((seen.sent_bytes / elapsed_us * 1e6).floor());

        let delivery_rate = seen.newest_rate.floor() / 125_000.0 / UNIT_MBPS;
        let stretch = min_rtt_us / rtt_us;
        let rttvar_ms = us(seen.rttvar_s) / 1000.0;
        let head = [rtt_us / UNIT_RTT_US, rttvar_ms, delivery_rate, f64::from(seen.state as u8)];
        let series =
            [head[0], delivery_rate, stretch, rttvar_ms, unacked / UNIT_UNACKED, seen.missing / UNIT_LOST];
        let tail = [
            elapsed_us / min_rtt_us,
            stretch,
            loss / UNIT_MBPS,
            seen.delivered_bytes / elapsed_us * 1e6 / self.sending_rates.most(),
            if self.last_rate > 0.0 { rate / self.last_rate } else { rate },
            max_rate * min_rtt_us / (window * self.mss_bytes * 8.0),
            rate / UNIT_MBPS,
            self.unacked.mean().floor() / self.sent.sum().max(1.0),
            max_rate / self.last_max_rate,
            max_rate / UNIT_MBPS,
            action,
        ];
        (self.last_rate, self.last_max_rate) = (rate, max_rate);

        let told = self.series.iter_mut().zip(series).flat_map(|(lengths, value)| {
            lengths.iter_mut().flat_map(move |recent| {
                recent.add(value);
                [recent.mean(), recent.least(), recent.most()]
            })
        });
        for (place, value) in self.report.iter_mut().zip(head.into_iter().chain(told).chain(tail)) {
            // The agent replaces a value that is not a number by zero.
            *place = if value.is_finite() { value as f32 } else { 0.0 };
        }
        &self.report
    }

    pub(super) const fn latest(&self) -> &[f32] {
        &self.report
    }
}

//! Utility of a monitor interval in Vivace (Dong et al., NSDI 2018; PCCproject/PCC-Uspace@b67bb68,
//! `pcc-gradient/sender/app/pcc.h`, `utility`).

use crate::parts::{Ended, quantised};

/// Packet size that the utility assumes for any packet, bits.
const PACKET_BITS: f64 = 1500.0 * 8.0;
/// Mbit of the utility.
const MBIT: f64 = 1_048_576.0;
/// Result of the C program's conversion of a missing slope, as a fraction: the minimum integer.
const NO_SLOPE: f64 = -21_474_836.48;

/// Measurements of an interval in the units of the utility.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) packets: f64,
    pub(super) lost: f64,
    /// Sending rate, 2^20 bit/s.
    rate: f64,
    /// RTT gradient after quantisation.
    gradient: f64,
}

impl Sample {
    pub(super) fn loss(&self) -> f64 {
        if self.packets > 0.0 { self.lost / self.packets } else { 0.0 }
    }
}

/// Coefficients of the utility.
#[derive(Clone, Copy, Debug)]
pub(super) struct Utility {
    pub(super) throughput_exponent: f64,
    /// Coefficient of loss above `loss_knee`; below, the coefficient is 1.
    pub(super) loss_coefficient: f64,
    pub(super) loss_knee: f64,
    pub(super) latency_coefficient: f64,
    /// Step of the quantised gradient, percent.
    pub(super) quantum: f64,
}

impl Utility {
    pub(super) fn sample(&self, ended: &Ended) -> Sample {
        Sample {
            packets: ended.packets,
            lost: ended.lost,
            rate: ended.packets * PACKET_BITS / MBIT / ended.seconds,
            gradient: ended.slope.map_or(NO_SLOPE, |slope| quantised(slope, self.quantum)),
        }
    }

    /// Returns the utility of `sample` for the loss rate `loss`.
    pub(super) fn value(&self, sample: &Sample, loss: f64) -> f64 {
        let loss_coefficient = if loss > self.loss_knee { self.loss_coefficient } else { 1.0 };
        libm::pow(sample.rate, self.throughput_exponent)
            - loss_coefficient * sample.rate * loss
            - self.latency_coefficient * sample.rate * sample.gradient
    }
}

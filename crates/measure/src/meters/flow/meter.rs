//! Counters of one flow while records pass.

use super::ack_direction::AckDirection;
use super::declared_lost::DeclaredLost;
use super::ledger::SendLedger;
use super::media::{FrameDelivery, MediaMeter};
use super::samples::FlowSamples;
use crate::inputs::FlowInfo;
use crate::meters::tally::{Tally, round_to_us};
use crate::statistics::DelayHistogram;
use record::Record;
use units::Time;

/// Counters of one flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowMeter {
    pub(crate) info: FlowInfo,
    /// Beginning of the corrected convention's time, ns: start of the flow or end of the warm-up.
    pub(crate) from_ns: u64,
    /// End of the corrected convention's time, ns; the largest time: at the end of the run.
    pub(crate) to_ns: u64,
    pub(crate) sent: Tally,
    pub(crate) delivered: Tally,
    pub(crate) dropped_packets: u64,
    pub(crate) marked_packets: u64,
    /// New payload delivered, bytes.
    pub(crate) data_bytes: u64,
    /// New payload delivered between `from_ns` and `to_ns`, bytes.
    pub(crate) measured_data_bytes: u64,
    /// Packets dropped between `from_ns` and `to_ns`.
    pub(crate) measured_dropped_packets: u64,
    /// Delays of the packets delivered between `from_ns` and `to_ns`, but not while all flows are active.
    pub(crate) delay: DelayHistogram,
    /// Delays of the packets delivered while all flows are active.
    pub(crate) common_delay: DelayHistogram,
    /// Delays of the other packets.
    pub(crate) other_delay: DelayHistogram,
    pub(crate) ledger: SendLedger,
    /// Packets declared lost by the sender, in logs that are a sender's view with declarations.
    pub(crate) declared: Option<DeclaredLost>,
    pub(crate) ack: AckDirection,
    pub(crate) media: MediaMeter,
    pub(crate) samples: FlowSamples,
    /// Bytes of the current interval of [`Fairness`](crate::fairness::Fairness).
    pub(crate) bin_bytes: u64,
    /// Bytes of the interval in which all flows are active.
    pub(crate) common_bytes: u64,
    /// Packets dropped in that interval.
    pub(crate) common_dropped_packets: u64,
}

impl FlowMeter {
    /// Returns a flow that is measured from `warmup_ns` at the earliest.
    pub(crate) fn new(info: FlowInfo, warmup_ns: u64) -> Self {
        Self {
            from_ns: info.start.as_ns().max(warmup_ns),
            to_ns: info.stop.as_ns(),
            info,
            sent: Tally::default(),
            delivered: Tally::default(),
            dropped_packets: 0,
            marked_packets: 0,
            data_bytes: 0,
            measured_data_bytes: 0,
            measured_dropped_packets: 0,
            delay: DelayHistogram::default(),
            common_delay: DelayHistogram::default(),
            other_delay: DelayHistogram::default(),
            ledger: SendLedger::default(),
            declared: None,
            ack: AckDirection::default(),
            media: MediaMeter::default(),
            samples: FlowSamples::default(),
            bin_bytes: 0,
            common_bytes: 0,
            common_dropped_packets: 0,
        }
    }

    #[inline]
    fn is_measured(&self, time_ns: u64) -> bool {
        self.from_ns <= time_ns && time_ns <= self.to_ns
    }

    #[inline]
    pub(crate) fn send(&mut self, record: &Record) {
        self.sent.add(record.time_ns, record.size_bytes);
        self.samples.send(record.size_bytes, record.data_bytes);
        if record.time_ns >= self.from_ns {
            self.ledger.sent(record.time_ns);
        }
    }

    /// Counts a dropped packet; `is_common`: true if all flows are active.
    #[inline]
    pub(crate) fn drop(&mut self, record: &Record, is_common: bool) {
        self.dropped_packets += 1;
        self.common_dropped_packets += u64::from(is_common);
        self.measured_dropped_packets += u64::from(self.is_measured(record.time_ns));
    }

    /// Counts a packet that the sender declared lost.
    pub(crate) fn declare_lost(&mut self, record: &Record) {
        let is_measured = self.is_measured(record.time_ns);
        self.declared.get_or_insert_default().lost(record.seq, is_measured);
    }

    /// Counts a packet that arrived; `is_common`: true if all flows are active.
    #[inline]
    pub(crate) fn deliver(&mut self, record: &Record, is_common: bool) {
        if let Some(declared) = &mut self.declared {
            declared.arrived(record.seq);
        }
        self.delivered.add(record.time_ns, record.size_bytes);
        self.samples.deliver(record.time_ns, record.size_bytes, record.data_bytes);
        self.data_bytes += u64::from(record.data_bytes);
        let delay_us = round_to_us(record.one_way_delay_ns);
        if self.is_measured(record.time_ns) {
            self.measured_data_bytes += u64::from(record.data_bytes);
            let delays = if is_common { &mut self.common_delay } else { &mut self.delay };
            delays.record(delay_us);
        } else {
            self.other_delay.record(delay_us);
        }
        let sent_ns = record.time_ns.saturating_add_signed(record.one_way_delay_ns.saturating_neg());
        if sent_ns >= self.from_ns {
            self.ledger.delivered(sent_ns);
        }
    }

    /// Counts payload that reached the application after a total waiting time of `waited_byte_ns`. Payload after the
    /// flow's stop is outside the time of its rates.
    #[inline]
    pub(crate) fn read(&mut self, time_ns: u64, bytes: u64, waited_byte_ns: u128) {
        if time_ns <= self.to_ns {
            self.samples.waited_byte_ns += waited_byte_ns;
            self.samples.read(time_ns, bytes, self.info.facts.total_bytes);
        }
    }

    pub(crate) fn frame(&mut self, frame: &FrameDelivery) {
        let is_measured = self.is_measured(frame.decoded.as_ns());
        self.media.frame(frame, is_measured);
    }

    /// Resets the counts of the time in which all flows are active, because another flow appeared. The delays of that
    /// time move to `delay`, to the other measured packets.
    pub(crate) fn forget_common(&mut self) {
        self.delay.merge(&core::mem::take(&mut self.common_delay));
        (self.bin_bytes, self.common_bytes, self.common_dropped_packets) = (0, 0, 0);
    }

    /// Returns the flow's stop or the arrival of its last byte, whichever was first.
    pub(crate) fn active_until(&self) -> Time {
        Time::from_ns(self.samples.done_ns.map_or(self.to_ns, |done_ns| done_ns.min(self.to_ns)))
    }

    /// Returns true if any record of the data direction names the flow.
    pub(crate) fn has_data_records(&self) -> bool {
        self.sent.packets + self.delivered.packets + self.dropped_packets + self.marked_packets > 0
    }
}

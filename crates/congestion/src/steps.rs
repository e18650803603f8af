//! Events of a flow between two decisions of an agent, as numbers: the raw fields of observations, rewards and logs.
//!
//! A step holds the events after the previous decision, up to the one that ends the step. Without an ACK the values
//! from ACKs (RTTs, delays, delivery rates) keep their last value, and `acks` is 0. Sizes are of payload; rates count
//! payload.

use crate::parts::{Halves, WindowedMin};
use crate::{Ack, Control, Ecn, Loss, Sent, Timeout};
use units::{Rate, Span, Time};

/// Defines the list of fields and their places.
macro_rules! fields {
    ($($(#[doc = $doc:literal])* $place:ident $name:literal $unit:literal,)+) => {
        /// Place of a field in the values of a step.
        #[derive(Clone, Copy, Debug)]
        pub enum StepField { $($(#[doc = $doc])* $place),+ }
        /// Name, unit and meaning of every field of a step, in order.
        pub const STEP_FIELDS: &[(&str, &str, &str)] = &[$(($name, $unit, concat!($($doc),+))),+];
    };
}

fields! {
    /// Time of the decision since the start of the run.
    Now "t_s" "s",
    /// Length of the step.
    Length "dt_s" "s",
    /// Packets sent, retransmissions included.
    PacketsSent "packets_sent" "packets",
    /// Bytes sent.
    BytesSent "bytes_sent" "bytes",
    /// Packets acknowledged.
    PacketsAcked "packets_acked" "packets",
    /// Bytes acknowledged.
    BytesAcked "bytes_acked" "bytes",
    /// Packets declared lost.
    PacketsLost "packets_lost" "packets",
    /// Bytes declared lost.
    BytesLost "bytes_lost" "bytes",
    /// Packets that were sent again.
    PacketsResent "packets_resent" "packets",
    /// ACKs that acknowledged something.
    Acks "acks" "",
    /// Bytes in flight at its end.
    InFlight "in_flight_bytes" "bytes",
    /// Window at its end; 0 where there is none.
    Window "window_bytes" "bytes",
    /// Pacing rate at its end; 0 without pacing.
    Pacing "pacing_mbps" "Mbit/s",
    /// Latest RTT.
    RttLast "rtt_ms" "ms",
    /// Mean RTT of the acknowledged packets.
    RttMean "rtt_mean_ms" "ms",
    /// Smallest RTT of the step.
    RttLeast "rtt_least_ms" "ms",
    /// Smallest RTT of the flow.
    RttMin "rtt_min_ms" "ms",
    /// Smoothed RTT.
    Srtt "srtt_ms" "ms",
    /// Its variation.
    Rttvar "rttvar_ms" "ms",
    /// Smallest RTT of the last half of a smoothed RTT.
    RttStanding "rtt_standing_ms" "ms",
    /// Latest one-way delay, with the unknown offset of the receiver's clock.
    OwdLast "owd_ms" "ms",
    /// Mean one-way delay of the acknowledged packets, likewise.
    OwdMean "owd_mean_ms" "ms",
    /// Smallest one-way delay of the flow, likewise.
    OwdMin "owd_min_ms" "ms",
    /// Mean RTT of the later half of the samples less that of the earlier one; 0 below two samples.
    RttChange "rtt_change_ms" "ms",
    /// The same over the length of the step.
    RttSlope "rtt_slope" "",
    /// Bytes sent over the length.
    SendRate "send_mbps" "Mbit/s",
    /// Bytes acknowledged over the length.
    AckRate "ack_mbps" "Mbit/s",
    /// Bytes acknowledged over the time in which they arrived at the receiver; below two arrivals as before.
    ReceiveRate "receive_mbps" "Mbit/s",
    /// Latest delivery-rate sample.
    DeliveryRate "delivery_mbps" "Mbit/s",
    /// Highest delivery-rate sample of the flow.
    DeliveryMax "delivery_max_mbps" "Mbit/s",
    /// Bytes lost of those lost or acknowledged.
    LossRatio "loss_ratio" "",
    /// Loss episodes that began.
    Episodes "loss_episodes" "",
    /// Retransmission timeouts.
    Timeouts "timeouts" "",
    /// Packets that arrived marked (CE).
    Marks "marks" "packets",
    /// Time between packets that were sent, smoothed by 1/8.
    SendGap "send_gap_ms" "ms",
    /// Time between ACKs, smoothed by 1/8.
    AckGap "ack_gap_ms" "ms",
    /// Time between packets that were sent, smoothed by 1/256.
    SendGapSlow "send_gap_slow_ms" "ms",
    /// Time between ACKs, smoothed by 1/256.
    AckGapSlow "ack_gap_slow_ms" "ms",
    /// 1 where the application had nothing to send at the latest ACK.
    AppLimited "app_limited" "",
}

/// Values of a step, in the order of [`STEP_FIELDS`].
pub type StepValues = [f64; STEP_FIELDS.len()];

/// Counters since the last decision.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    began: Time,
    values: StepValues,
    owd_sum_ms: f64,
    rtts_ms: Halves,
    first_arrival: Option<Time>,
    last_arrival: Time,
    last_sent: Option<Time>,
    last_ack: Option<Time>,
    standing: WindowedMin<f64>,
    /// True if the step was closed and nothing has happened since.
    is_closed: bool,
}

impl Steps {
    /// Returns the counters of a flow that starts at `start`.
    pub(crate) fn new(start: Time) -> Self {
        Self {
            began: start,
            values: [0.0; STEP_FIELDS.len()],
            owd_sum_ms: 0.0,
            rtts_ms: Halves::new(),
            first_arrival: None,
            last_arrival: Time::ZERO,
            last_sent: None,
            last_ack: None,
            standing: WindowedMin::new(0),
            is_closed: false,
        }
    }

    /// Returns the beginning of the step.
    pub(crate) const fn began(&self) -> Time {
        self.began
    }

    fn at(&mut self, place: StepField) -> &mut f64 {
        &mut self.values[place as usize]
    }

    fn get(&self, place: StepField) -> f64 {
        self.values[place as usize]
    }

    /// Returns the number of ACKs so far.
    pub(crate) fn acks(&self) -> f64 {
        self.get(StepField::Acks)
    }

    /// Returns the mean RTT so far, or of the last step with ACKs.
    pub(crate) fn mean_rtt(&self) -> Option<Span> {
        let mean = self.rtts_ms.mean().unwrap_or_else(|| self.get(StepField::RttMean));
        (mean > 0.0).then(|| Span::from_secs_f64(mean / 1e3))
    }

    pub(crate) fn on_sent(&mut self, event: &Sent) {
        self.begin();
        *self.at(StepField::PacketsSent) += 1.0;
        *self.at(StepField::BytesSent) += f64::from(event.bytes);
        *self.at(StepField::PacketsResent) += f64::from(u8::from(event.retransmission));
        *self.at(StepField::InFlight) = event.in_flight_bytes as f64;
        if let Some(last) = self.last_sent.replace(event.now) {
            self.smooth([StepField::SendGap, StepField::SendGapSlow], event.now - last);
        }
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>) {
        self.begin();
        *self.at(StepField::InFlight) = ack.in_flight_bytes as f64;
        *self.at(StepField::AppLimited) = f64::from(u8::from(ack.app_limited));
        if ack.packets.is_empty() {
            return;
        }
        if self.rtts_ms.count() == 0 {
            *self.at(StepField::RttLeast) = f64::INFINITY;
        }
        for packet in ack.packets {
            let (rtt_ms, owd_ms) =
                ((ack.now - packet.sent_at).as_ms_f64(), packet.one_way_delay_ns() as f64 / 1e6);
            self.owd_sum_ms += owd_ms;
            self.rtts_ms.push(rtt_ms);
            self.standing.set_length((ack.srtt / 2).as_ns());
            self.standing.push(ack.now.as_ns(), rtt_ms);
            let least = self.get(StepField::RttLeast).min(rtt_ms);
            *self.at(StepField::RttLeast) = least;
            let is_first = self.get(StepField::OwdMin) == 0.0 && self.get(StepField::RttLast) == 0.0;
            let lowest = if is_first { owd_ms } else { self.get(StepField::OwdMin).min(owd_ms) };
            *self.at(StepField::OwdMin) = lowest;
            *self.at(StepField::RttLast) = rtt_ms;
            *self.at(StepField::OwdLast) = owd_ms;
            self.first_arrival.get_or_insert(packet.received_at);
            self.last_arrival = self.last_arrival.max(packet.received_at);
        }
        *self.at(StepField::Acks) += 1.0;
        *self.at(StepField::PacketsAcked) += ack.packets.len() as f64;
        *self.at(StepField::BytesAcked) += ack.acked_bytes as f64;
        *self.at(StepField::RttMin) = ack.min_rtt.as_ms_f64();
        *self.at(StepField::Srtt) = ack.srtt.as_ms_f64();
        *self.at(StepField::Rttvar) = ack.rttvar.as_ms_f64();
        if let Some(sample) = ack.rate {
            let mbps = sample.rate.mbps();
            *self.at(StepField::DeliveryRate) = mbps;
            let most = self.get(StepField::DeliveryMax).max(mbps);
            *self.at(StepField::DeliveryMax) = most;
        }
        if let Some(last) = self.last_ack.replace(ack.now) {
            self.smooth([StepField::AckGap, StepField::AckGapSlow], ack.now - last);
        }
    }

    pub(crate) fn on_loss(&mut self, loss: &Loss<'_>) {
        self.begin();
        *self.at(StepField::PacketsLost) += loss.packets.len() as f64;
        *self.at(StepField::BytesLost) += loss.lost_bytes as f64;
        *self.at(StepField::Episodes) += f64::from(u8::from(loss.new_episode));
        *self.at(StepField::InFlight) = loss.in_flight_bytes as f64;
    }

    pub(crate) fn on_timeout(&mut self, timeout: &Timeout) {
        self.begin();
        *self.at(StepField::Timeouts) += 1.0;
        *self.at(StepField::BytesLost) += timeout.in_flight_before_bytes as f64;
        *self.at(StepField::InFlight) = 0.0;
    }

    pub(crate) fn on_ecn(&mut self, ecn: &Ecn) {
        self.begin();
        *self.at(StepField::Marks) += ecn.ce_packets as f64;
    }

    /// Smooths the first of `places` by 1/8, the second by 1/256; the first gap is taken without smoothing.
    fn smooth(&mut self, places: [StepField; 2], gap: Span) {
        for (place, weight) in places.into_iter().zip([8.0, 256.0]) {
            let (value, gap) = (self.at(place), gap.as_ms_f64());
            *value = if *value == 0.0 { gap } else { *value + (gap - *value) / weight };
        }
    }

    /// Forgets the counts of a step that was closed.
    fn begin(&mut self) {
        if !core::mem::take(&mut self.is_closed) {
            return;
        }
        let counted = [
            StepField::PacketsSent,
            StepField::BytesSent,
            StepField::PacketsAcked,
            StepField::BytesAcked,
            StepField::PacketsLost,
            StepField::BytesLost,
            StepField::PacketsResent,
            StepField::Acks,
            StepField::Episodes,
            StepField::Timeouts,
            StepField::Marks,
        ];
        for place in counted {
            *self.at(place) = 0.0;
        }
        self.owd_sum_ms = 0.0;
        self.rtts_ms.clear();
        self.first_arrival = None;
    }

    /// Ends the step at `now` with this control, and returns its values. The next step begins.
    pub(crate) fn close(&mut self, now: Time, control: &Control) -> &StepValues {
        self.begin();
        let seconds = now.since(self.began).as_ns().max(1) as f64 / 1e9;
        *self.at(StepField::Now) = now.as_secs_f64();
        *self.at(StepField::Length) = seconds;
        let window = control.window_bytes;
        *self.at(StepField::Window) = if window == u64::MAX { 0.0 } else { window as f64 };
        *self.at(StepField::Pacing) = control.pacing.map_or(0.0, Rate::mbps);
        let mbps = |bytes: f64, seconds: f64| bytes * 8e-6 / seconds;
        let (sent, acked, lost) =
            (self.get(StepField::BytesSent), self.get(StepField::BytesAcked), self.get(StepField::BytesLost));
        *self.at(StepField::SendRate) = mbps(sent, seconds);
        *self.at(StepField::AckRate) = mbps(acked, seconds);
        *self.at(StepField::LossRatio) = if lost > 0.0 { lost / (lost + acked) } else { 0.0 };
        let count = self.rtts_ms.count();
        if let Some(mean) = self.rtts_ms.mean() {
            *self.at(StepField::RttMean) = mean;
            *self.at(StepField::OwdMean) = self.owd_sum_ms / count as f64;
            let standing = self.standing.get().unwrap_or_default();
            *self.at(StepField::RttStanding) = standing;
        }
        let change = self.rtts_ms.growth();
        *self.at(StepField::RttChange) = change;
        *self.at(StepField::RttSlope) = change / 1e3 / seconds;
        if let Some(first) = self.first_arrival.filter(|first| *first < self.last_arrival) {
            let took = (self.last_arrival - first).as_ns() as f64 / 1e9;
            // The first packet arrived at the beginning of the time span.
            *self.at(StepField::ReceiveRate) = mbps(acked * (count - 1) as f64 / count as f64, took);
        }
        self.began = now;
        self.is_closed = true;
        &self.values
    }
}

/// Returns the position of the field called `name` in the values of a step; `None` if there is no such field.
pub fn step_field(name: &str) -> Option<usize> {
    STEP_FIELDS.iter().position(|(known, ..)| *known == name)
}

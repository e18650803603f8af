//! Toy transport that feeds hand-made events to one controller, for unit tests.

use crate::{
    Ack, AckedPacket, Control, Controller, Ecn, Entry, FieldSink, Files, Loss, Parameters, RateSample, Sent,
    Start, Timeout, TimeoutKind,
};
use units::{Rate, Span, Time};

/// Bytes per packet in unit tests.
pub(crate) const MSS_BYTES: u32 = 1000;

/// Driver of one controller. Set the public fields, then call [`Driver::ack`] and similar functions. Window 10, RTT 100
/// ms.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) now: Time,
    /// RTT of the packets that are acknowledged next.
    pub(crate) rtt: Span,
    pub(crate) min_rtt: Span,
    /// One-way delay plus clock offset of the packets that are acknowledged next.
    pub(crate) one_way: Span,
    pub(crate) in_flight_packets: f64,
    pub(crate) peak_in_flight_packets: f64,
    pub(crate) window_limited: bool,
    pub(crate) app_limited: bool,
    pub(crate) in_recovery: bool,
    /// True if the packets that are acknowledged or lost next carry data that was sent before.
    pub(crate) retransmission: bool,
    pub(crate) round_start: bool,
    /// Delivery rate reported with the next ACKs.
    pub(crate) rate: Option<Rate>,
    /// Delivered count when the packets acknowledged next were sent; `None`: all packets before them.
    pub(crate) prior_delivered_bytes: Option<u64>,
    /// Bytes that the next ACKs report as lost; [`Driver::lose`] does not set it.
    pub(crate) lost_bytes: u64,
    pub(crate) next_number: u64,
    pub(crate) next_acked: u64,
    pub(crate) delivered_bytes: u64,
    /// Bytes of the stream that are complete at the receiver, and bytes that were sent, as the next ACKs report. `None`
    /// imitates a transport without retransmissions.
    pub(crate) stream_bytes: Option<(u64, u64)>,
}

impl Driver {
    /// Returns a driver of a controller with the given `name = value` settings.
    pub(crate) fn new(entry: &Entry, settings: &[(&str, &str)]) -> Self {
        Self::with_files(entry, settings, Files::new())
    }

    /// Returns a driver with files that settings name.
    pub(crate) fn with_files(entry: &Entry, settings: &[(&str, &str)], files: Files) -> Self {
        let mut parameters = Parameters::defaults(entry.parameters).with_files(files);
        for (name, value) in settings {
            parameters.set(name, value).unwrap();
        }
        let start = Start {
            now: Time::ZERO,
            mss_bytes: MSS_BYTES,
            initial_window_bytes: 10 * u64::from(MSS_BYTES),
            seed: 1,
        };
        Self {
            controller: entry.build(&parameters, &start).unwrap(),
            now: Time::from_ns(1_000_000_000),
            rtt: Span::from_ms(100),
            min_rtt: Span::from_ms(100),
            one_way: Span::from_ms(50),
            in_flight_packets: 10.0,
            peak_in_flight_packets: 10.0,
            window_limited: true,
            app_limited: false,
            in_recovery: false,
            retransmission: false,
            round_start: false,
            rate: None,
            prior_delivered_bytes: None,
            lost_bytes: 0,
            next_number: 10,
            next_acked: 0,
            delivered_bytes: 0,
            stream_bytes: None,
        }
    }

    fn packet(&self, number: u64) -> AckedPacket {
        let sent_at = self.now - self.rtt;
        AckedPacket {
            number,
            bytes: MSS_BYTES,
            sent_at,
            received_at: sent_at + self.one_way,
            lost_at_send_bytes: 0,
            in_flight_at_send_bytes: (self.in_flight_packets * f64::from(MSS_BYTES)) as u64,
            retransmission: self.retransmission,
            was_lost: false,
            ce: false,
        }
    }

    fn in_flight_bytes(&self) -> u64 {
        (self.in_flight_packets * f64::from(MSS_BYTES)) as u64
    }

    /// Sends one packet.
    pub(crate) fn send(&mut self) {
        self.controller.on_sent(&Sent {
            now: self.now,
            number: self.next_number,
            bytes: MSS_BYTES,
            in_flight_bytes: self.in_flight_bytes(),
            retransmission: false,
            filler: false,
            frame: 0,
            frame_end: false,
            idle_timeouts: 0,
        });
        self.next_number += 1;
    }

    /// Acknowledges the next `count` packets with one ACK.
    pub(crate) fn ack(&mut self, count: u64) {
        let packets: Vec<AckedPacket> =
            (0..count).map(|offset| self.packet(self.next_acked + offset)).collect();
        self.next_acked += count;
        self.next_number = self.next_number.max(self.next_acked);
        let acked_bytes = count * u64::from(MSS_BYTES);
        let prior_delivered_bytes = self.prior_delivered_bytes.unwrap_or(self.delivered_bytes);
        self.delivered_bytes += acked_bytes;
        self.min_rtt = self.min_rtt.min(self.rtt);
        let rate = self.rate.map(|rate| RateSample {
            delivered_bytes: rate.bytes_in(self.rtt),
            interval: self.rtt,
            rate,
            prior_delivered_bytes,
            lost_bytes: 0,
            in_flight_at_send_bytes: self.in_flight_bytes(),
            app_limited: self.app_limited,
        });
        self.controller.on_ack(&Ack {
            now: self.now,
            packets: &packets,
            acked_bytes,
            growth_bytes: acked_bytes,
            lost_bytes: self.lost_bytes,
            rtt: Some(self.rtt),
            srtt: self.rtt,
            rttvar: Span::ZERO,
            min_rtt: self.min_rtt,
            ack_delay: Span::ZERO,
            in_flight_before_bytes: self.in_flight_bytes() + acked_bytes,
            in_flight_bytes: self.in_flight_bytes(),
            peak_in_flight_bytes: (self.peak_in_flight_packets * f64::from(MSS_BYTES)) as u64,
            window_limited: self.window_limited,
            pacing_limited: false,
            app_limited: self.app_limited,
            delivered_bytes: self.delivered_bytes,
            rate,
            round_start: self.round_start,
            in_recovery: self.in_recovery,
            next_number: self.next_number,
            queued_bytes: u64::MAX,
            queue_delay: Span::ZERO,
            feedback: &[],
            complete_bytes: self.stream_bytes.map_or(0, |(complete, _)| complete),
            sent_bytes: self.stream_bytes.map_or(0, |(_, sent)| sent),
        });
    }

    /// Acknowledges one window's worth of packets, one ACK each, and lets one RTT pass.
    pub(crate) fn ack_window(&mut self) {
        let packets = self.control().window_bytes / u64::from(MSS_BYTES);
        self.in_flight_packets = packets as f64;
        self.peak_in_flight_packets = packets as f64;
        self.now += self.rtt;
        self.next_number = self.next_number.max(self.next_acked + packets);
        for index in 0..packets {
            self.round_start = index == 0;
            self.ack(1);
        }
        self.round_start = false;
    }

    /// Declares the next `count` packets lost.
    pub(crate) fn lose(&mut self, count: u64, new_episode: bool) {
        let packets: Vec<AckedPacket> =
            (0..count).map(|offset| self.packet(self.next_acked + offset)).collect();
        self.next_acked += count;
        self.next_number = self.next_number.max(self.next_acked);
        let lost_bytes = count * u64::from(MSS_BYTES);
        self.controller.on_loss(&Loss {
            now: self.now,
            packets: &packets,
            lost_bytes,
            in_flight_before_bytes: self.in_flight_bytes() + lost_bytes,
            in_flight_bytes: self.in_flight_bytes(),
            new_episode,
            by_ack: true,
            srtt: self.rtt,
            next_number: self.next_number,
        });
    }

    /// Reports a retransmission timeout.
    pub(crate) fn timeout(&mut self, repeated: bool) {
        self.tell_timeout(TimeoutKind::Rto, repeated);
    }

    /// Reports losses that are persistent congestion.
    pub(crate) fn persist(&mut self, new_episode: bool) {
        self.lose(3, new_episode);
        self.tell_timeout(TimeoutKind::PersistentCongestion, false);
    }

    fn tell_timeout(&mut self, kind: TimeoutKind, repeated: bool) {
        self.controller.on_timeout(&Timeout {
            now: self.now,
            kind,
            repeated,
            in_flight_before_bytes: self.in_flight_bytes(),
            next_number: self.next_number,
        });
    }

    /// Reports one CE mark.
    pub(crate) fn mark(&mut self, new_episode: bool) {
        self.mark_packets(1, new_episode);
    }

    /// Reports an ACK of marked packets.
    pub(crate) fn mark_packets(&mut self, packets: u64, new_episode: bool) {
        self.controller.on_ecn(&Ecn {
            now: self.now,
            ce_packets: packets,
            packets,
            newest_sent_at: self.now,
            new_episode,
            in_flight_bytes: self.in_flight_bytes(),
            srtt: self.rtt,
        });
    }

    /// Returns the controller's limits.
    pub(crate) fn control(&self) -> Control {
        self.controller.control()
    }

    /// Returns the controller's field `name`; panics if it has none.
    pub(crate) fn field(&self, name: &str) -> f64 {
        struct Find<'a>(&'a str, Option<f64>);
        impl FieldSink for Find<'_> {
            fn put(&mut self, name: &'static str, _unit: &'static str, value: f64) {
                if name == self.0 {
                    self.1 = Some(value);
                }
            }
        }
        let mut find = Find(name, None);
        self.controller.fields(&mut find);
        find.1.unwrap_or_else(|| panic!("no field `{name}`"))
    }
}

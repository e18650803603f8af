//! Data to send: the application's bytes, and lost bytes.

use crate::application::Application;
use crate::buffers::{ReceiveWindow, SendBuffer};
use crate::config::{Config, TimerKind};
use crate::encoder::EncoderStats;
use crate::flight::Flight;
use crate::packets::{Fate, SentPacket};
use crate::wire::FrameMark;
use congestion::Frame;
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Content of a packet: new payload, payload to send again, or filler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Number of the lost packet that carried the payload before; `u64::MAX` if it was never sent.
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) payload_bytes: u32,
    pub(crate) filler: bool,
}

impl Load {
    /// Returns the content of packet `number`.
    fn again(number: u64, packet: &SentPacket) -> Self {
        let (offset, payload_bytes, filler) = (packet.offset, packet.payload_bytes, packet.filler);
        Self { number, offset, payload_bytes: u32::from(payload_bytes), filler }
    }
}

/// The stream of one flow.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Lost payload, in the order in which it is sent again.
    resend: VecDeque<Load>,
    /// True if `resend` is in stream order, as in TCP, and not in the order in which losses were detected.
    in_order: bool,
    /// First byte that was never sent.
    next_offset: u64,
    /// Stream byte up to which everything has arrived.
    complete: u64,
    /// Application bytes of completely acknowledged packets.
    acknowledged: u64,
    /// Total number of bytes; `u64::MAX` if there is no end.
    total: u64,
    completed_at: Option<Time>,
    retransmissions: u64,
    send_buffer: SendBuffer,
    receive_window: ReceiveWindow,
    payload_bytes: u32,
    /// Size of the application's messages; 0: no messages.
    message_bytes: u64,
    /// True if lost payload is sent again.
    reliable: bool,
    /// True if the application had nothing to send at the latest poll.
    waits: bool,
    application: Application,
}

impl Stream {
    pub(crate) fn new(config: &Config, mut application: Application) -> Self {
        let send_buffer = SendBuffer::new(config);
        if let Some(room) = send_buffer.first_room() {
            application.make_room(room);
        }
        Self {
            resend: VecDeque::new(),
            in_order: config.timer == TimerKind::Rto,
            next_offset: 0,
            complete: 0,
            acknowledged: 0,
            total: application.total().unwrap_or(u64::MAX),
            completed_at: None,
            retransmissions: 0,
            send_buffer,
            receive_window: ReceiveWindow::new(config),
            payload_bytes: config.payload_bytes,
            message_bytes: u64::from(config.message_bytes),
            reliable: config.reliable,
            waits: false,
            application,
        }
    }

    /// Returns the first byte that was never sent.
    pub(crate) const fn next_offset(&self) -> u64 {
        self.next_offset
    }

    /// Returns the stream byte up to which everything has arrived.
    pub(crate) const fn complete(&self) -> u64 {
        self.complete
    }

    /// Returns the bytes sent beyond the data that arrived in order; 0 if a peer acknowledges data that were never
    /// sent.
    pub(crate) const fn outstanding_bytes(&self) -> u64 {
        self.next_offset.saturating_sub(self.complete)
    }

    /// Returns the time at which the last byte of a finite transfer was acknowledged.
    pub(crate) const fn completed_at(&self) -> Option<Time> {
        self.completed_at
    }

    /// Returns the number of sent packets that carried payload sent before.
    pub(crate) const fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    /// Frees buffers after the receiver got the first `bytes` bytes in order: the sending socket forgets them, and the
    /// receiver's window moves on. `window_bytes` is the controller's window, of which `in_flight_bytes` are used.
    pub(crate) fn free_buffers(
        &mut self,
        now: Time,
        bytes: u64,
        window_bytes: u64,
        in_flight_bytes: u64,
        rtt: Option<Span>,
    ) {
        let unacknowledged = in_flight_bytes + self.resend_bytes();
        let waiting_bytes = self.outstanding_bytes().saturating_sub(unacknowledged);
        self.receive_window.on_ack(now, bytes.max(self.complete), waiting_bytes, rtt);
        let Some(room) = self.application.room() else { return };
        let accepted = self.application.accepted(self.next_offset);
        if let Some(room) = self.send_buffer.room(bytes, room, accepted, window_bytes, in_flight_bytes) {
            self.application.make_room(room);
        }
    }

    /// Completes the stream up to `complete`; returns the number of newly completed bytes.
    pub(crate) fn advance(&mut self, complete: u64) -> u64 {
        let advanced = complete.saturating_sub(self.complete);
        self.complete += advanced;
        advanced
    }

    /// Counts `bytes` acknowledged application bytes, with everything up to `in_order` arrived in order. Returns true
    /// if that completes a finite transfer. A reliable stream is complete with its last byte in order; an unreliable
    /// one if nothing was lost.
    pub(crate) fn on_acknowledged(&mut self, now: Time, in_order: u64, bytes: u64) -> bool {
        self.acknowledged += bytes;
        let arrived = if self.reliable { in_order } else { self.acknowledged };
        let completes = arrived >= self.total && self.completed_at.is_none();
        if completes {
            self.completed_at = Some(now);
        }
        completes
    }

    /// Handles the loss of packet `number`: its content waits for retransmission, or is lost for good.
    pub(crate) fn on_lost(&mut self, number: u64, packet: &SentPacket) {
        if packet.payload_bytes == 0 || packet.filler {
            return;
        }
        if self.reliable {
            let load = Load::again(number, packet);
            let is_last = self.resend.back().is_none_or(|last| last.offset <= load.offset);
            if is_last || !self.in_order {
                self.resend.push_back(load);
            } else {
                let place = self.resend.partition_point(|other| other.offset <= load.offset);
                self.resend.insert(place, load);
            }
        } else {
            self.application.on_loss(packet.offset);
        }
    }

    /// Puts the content of the lost packet `number` of a reliable stream before all other data to send.
    pub(crate) fn resend_first(&mut self, number: u64, packet: &SentPacket) {
        if packet.payload_bytes > 0 && !packet.filler {
            self.resend.retain(|load| load.number != number);
            self.resend.push_front(Load::again(number, packet));
        }
    }

    /// Sorts the lost data that wait for retransmission by stream order.
    pub(crate) fn sort_resends(&mut self) {
        self.resend.make_contiguous().sort_unstable_by_key(|load| load.offset);
    }

    /// Removes lost payloads from those waiting for retransmission, except of packets whose number `is_kept` accepts.
    pub(crate) fn keep_resends(&mut self, mut is_kept: impl FnMut(u64) -> bool) {
        self.resend.retain(|load| is_kept(load.number));
    }

    /// Begins a poll for packets: clears the previous poll's reason to wait.
    pub(crate) const fn begin_poll(&mut self) {
        self.waits = false;
    }

    /// Returns the lost payload to send next.
    #[inline]
    pub(crate) fn next_resend(&mut self, now: Time, flight: &Flight) -> Option<Load> {
        while let Some(resend) = self.resend.front() {
            // Data that arrived after all need no retransmission, even if the packet is forgotten meanwhile.
            let is_complete = resend.offset + u64::from(resend.payload_bytes) <= self.complete;
            if !is_complete && flight.get(resend.number).is_none_or(|packet| packet.fate != Fate::Acked) {
                if self.application.is_worth_sending(now, resend.offset) {
                    return Some(*resend);
                }
                self.application.on_loss(resend.offset);
            }
            self.resend.pop_front();
        }
        None
    }

    /// Returns the new payload to send next, if the application has any.
    #[inline]
    pub(crate) fn next_new(&mut self, now: Time) -> Option<Load> {
        let available = self.application.available(now, self.next_offset);
        self.waits = available == 0;
        let mut most = u64::from(self.payload_bytes);
        if self.message_bytes > 0 {
            most = most.min(self.message_bytes - self.next_offset % self.message_bytes);
        }
        let payload_bytes = available.min(most) as u32;
        (available > 0).then_some(Load {
            number: u64::MAX,
            offset: self.next_offset,
            payload_bytes,
            filler: false,
        })
    }

    /// Returns a packet without application data.
    pub(crate) const fn filler(&self, payload_bytes: u32) -> Load {
        Load { number: u64::MAX, offset: self.next_offset, payload_bytes, filler: true }
    }

    /// Returns the payload that a probe without new data repeats: the oldest outstanding one (RFC 9002 6.2.4), or the
    /// latest (RFC 8985 7.3).
    pub(crate) fn outstanding(flight: &mut Flight, latest: bool) -> Option<Load> {
        let number = if latest { flight.last_in_flight()? } else { flight.first_in_flight() };
        flight.get(number).map(|packet| Load::again(number, packet))
    }

    /// Returns the payload bytes that wait for retransmission.
    fn resend_bytes(&self) -> u64 {
        self.resend.len() as u64 * u64::from(self.payload_bytes)
    }

    /// Returns the bytes that wait to be sent and that the receiver can keep.
    pub(crate) fn sendable_bytes(&mut self, now: Time) -> u64 {
        let edge = self.receive_window.edge(self.complete);
        self.resend_bytes()
            + self.application.available(now, self.next_offset).min(edge.saturating_sub(self.next_offset))
    }

    /// Returns true if another full packet would exceed the receiver's window.
    pub(crate) fn fills_receive_window(&self) -> bool {
        let edge = self.receive_window.edge(self.complete);
        self.next_offset + u64::from(self.payload_bytes) > edge
    }

    /// Records that `load` leaves; returns true if it was sent before.
    #[inline]
    pub(crate) fn on_sent(&mut self, load: &Load) -> bool {
        if load.filler {
            return false;
        }
        if self.resend.front().is_some_and(|front| front.number == load.number) {
            self.resend.pop_front();
        }
        let is_again = load.offset < self.next_offset;
        if is_again {
            self.retransmissions += u64::from(load.payload_bytes > 0);
        } else {
            self.next_offset += u64::from(load.payload_bytes);
        }
        is_again
    }

    /// Returns true if the application has begun a new flow; reports each beginning once.
    pub(crate) fn begins_anew(&mut self, now: Time) -> bool {
        self.application.begins_anew(now, self.next_offset)
    }

    /// Returns the time at which a poll that sent nothing is worth repeating; [`Time::NEVER`] if it does not wait for
    /// the application.
    #[inline]
    pub(crate) fn next_change(&self) -> Time {
        if self.application.awaits_beginning() {
            return Time::ZERO;
        }
        if self.waits || self.application.is_live() { self.application.next_change() } else { Time::NEVER }
    }

    /// Returns true for a live source.
    pub(crate) const fn is_live(&self) -> bool {
        self.application.is_live()
    }

    /// Returns true if a frame of a live source is due.
    pub(crate) fn has_frame_due(&self, now: Time) -> bool {
        self.application.next_change() <= now
    }

    /// Captures the frame of a live source that is due, at the bitrate `target`. Returns `None` if no frame was
    /// written.
    pub(crate) fn capture(&mut self, now: Time, target: Option<Rate>) -> Option<Frame> {
        self.application.capture(now, self.next_offset, target)
    }

    /// Returns the frame of a live source that byte `offset` belongs to, and true if the frame ends `payload_bytes`
    /// later.
    pub(crate) fn frame_at(&self, offset: u64, payload_bytes: u32) -> (FrameMark, bool) {
        let is_end = self.application.left_in_frame(offset) == u64::from(payload_bytes);
        (self.application.frame_at(offset), is_end)
    }

    /// Drops the frames of a live source that have waited longer than `limit` with no byte sent.
    pub(crate) fn drop_frames(&mut self, now: Time, limit: Span) {
        self.application.drop_frames(now, self.next_offset, limit);
    }

    /// Returns the bytes that the application has written and that wait to be sent, and the waiting time of a live
    /// source's oldest frame.
    #[inline]
    pub(crate) fn queued(&self, now: Time) -> (u64, Span) {
        let sent = self.next_offset;
        (self.application.queued_bytes(sent), self.application.queue_delay(now, sent))
    }

    /// Returns the bytes that the application has written to the socket.
    pub(crate) fn accepted_bytes(&self) -> u64 {
        self.application.accepted(self.next_offset)
    }

    /// Returns the bitrate of a live source.
    pub(crate) fn bitrate(&self) -> Option<Rate> {
        self.application.bitrate()
    }

    /// Returns the counters of a live source's encoder.
    pub(crate) fn encoder_stats(&self) -> Option<EncoderStats> {
        self.application.encoder_stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::ApplicationSpec;

    fn stream(config: &Config, spec: ApplicationSpec) -> Stream {
        Stream::new(config, Application::new(spec, Time::ZERO, config.payload_bytes, 1))
    }

    fn config() -> Config {
        Config { payload_bytes: 1000, ..Config::tcp() }
    }

    /// Sends all new data that may leave.
    fn send_new(stream: &mut Stream, most: usize) -> usize {
        let mut sent = 0;
        while sent < most
            && let Some(load) = stream.next_new(Time::ZERO)
        {
            assert!(!stream.on_sent(&load));
            sent += 1;
        }
        sent
    }

    #[test]
    fn a_peer_that_acknowledges_what_was_never_sent_leaves_nothing_outstanding() {
        let mut stream = stream(&config(), ApplicationSpec::Greedy);
        stream.advance(10);
        stream.free_buffers(Time::ZERO, 10, 10_000, 0, None);
        assert_eq!(stream.outstanding_bytes(), 0);
    }

    #[test]
    fn lost_payload_leaves_again_unless_it_has_arrived() {
        let (config, mut flight) = (config(), Flight::of_test(&config()));
        let mut stream = stream(&config, ApplicationSpec::Greedy);
        assert_eq!(send_new(&mut stream, 10), 10);
        for number in [2, 4, 6] {
            flight.lose(number);
            stream.on_lost(number, flight.get(number).unwrap());
        }
        // Packet 2 arrives after all, and the payload of packet 4 arrives in another packet.
        flight.acknowledged_for_test(0, &[2], 0);
        assert_eq!(stream.advance(5000), 5000);
        let load = stream.next_resend(Time::ZERO, &flight).unwrap();
        assert_eq!((load.number, load.offset, load.payload_bytes), (6, 6000, 1000));
        assert!(stream.on_sent(&load));
        assert_eq!((stream.next_resend(Time::ZERO, &flight), stream.retransmissions()), (None, 1));
        assert_eq!((stream.next_offset(), stream.outstanding_bytes()), (10_000, 5000));
    }

    #[test]
    fn what_is_lost_can_leave_first_or_in_the_order_of_the_stream() {
        let (config, flight) = (config(), Flight::of_test(&config()));
        let mut stream = stream(&config, ApplicationSpec::Greedy);
        for number in [5, 3] {
            stream.on_lost(number, flight.get(number).unwrap());
        }
        stream.resend_first(4, flight.get(4).unwrap());
        let first = |stream: &mut Stream| stream.next_resend(Time::ZERO, &flight).unwrap().number;
        assert_eq!(first(&mut stream), 4);
        stream.sort_resends();
        assert_eq!(first(&mut stream), 3);
    }

    #[test]
    fn no_packet_carries_two_messages() {
        let config = Config { message_bytes: 2300, ..config() };
        let mut stream = stream(&config, ApplicationSpec::Fixed { bytes: 5000 });
        let mut sizes = Vec::new();
        while let Some(load) = stream.next_new(Time::ZERO) {
            sizes.push(load.payload_bytes);
            stream.on_sent(&load);
        }
        assert_eq!(sizes, [1000, 1000, 300, 1000, 1000, 300, 400]);
    }

    #[test]
    fn filler_is_no_part_of_the_stream() {
        let mut stream = stream(&config(), ApplicationSpec::Greedy);
        send_new(&mut stream, 2);
        let filler = stream.filler(77);
        assert!(!stream.on_sent(&filler));
        assert_eq!((filler.offset, stream.next_offset()), (2000, 2000));
        stream.on_lost(2, &SentPacket { filler: true, ..SentPacket::of_test(2000, 0) });
        assert_eq!(stream.next_resend(Time::ZERO, &Flight::of_test(&config())), None);
    }

    #[test]
    fn a_transfer_is_complete_with_its_last_byte_in_order_or_with_all_packets() {
        let spec = ApplicationSpec::Fixed { bytes: 2500 };
        let mut reliable = stream(&config(), spec.clone());
        assert_eq!(send_new(&mut reliable, 9), 3);
        assert!(!reliable.on_acknowledged(Time::ZERO, 1000, 2500));
        assert!(reliable.on_acknowledged(Time::from_ns(5), 2500, 0));
        assert!(!reliable.on_acknowledged(Time::from_ns(6), 2500, 0), "only once");
        assert_eq!(reliable.completed_at(), Some(Time::from_ns(5)));
        let mut datagrams = stream(&Config { payload_bytes: 1000, ..Config::datagram() }, spec);
        assert!(!datagrams.on_acknowledged(Time::ZERO, 0, 2000));
        assert!(datagrams.on_acknowledged(Time::ZERO, 0, 500));
    }

    #[test]
    fn the_receive_window_counts_from_the_first_missing_byte() {
        let mut stream = stream(&Config { receive_window_bytes: 3000, ..config() }, ApplicationSpec::Greedy);
        send_new(&mut stream, 2);
        assert!(!stream.fills_receive_window());
        send_new(&mut stream, 1);
        assert!(stream.fills_receive_window());
        stream.advance(1000);
        assert!(!stream.fills_receive_window());
    }

    #[test]
    fn only_an_application_without_data_is_waited_for() {
        let writes = vec![(0.0, 1000), (20.0, 500)];
        let mut stream = stream(&config(), ApplicationSpec::Trace { writes });
        assert_eq!(send_new(&mut stream, 9), 1);
        assert_eq!(stream.next_change(), Time::ZERO + Span::from_ms(20));
        stream.begin_poll();
        assert_eq!(stream.next_change(), Time::NEVER);
    }
}

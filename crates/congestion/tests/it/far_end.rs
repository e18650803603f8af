//! Receiver-side half of a scheme, with its own clock, and the queue of a live application.

use congestion::{Arrived, Message, ReceiverHalf};
use std::collections::VecDeque;
use units::{Span, Time};

/// Maximum number of reports that a half may send at one time: a flight of Sprout's at the lowest confidence has 234
/// packets.
const MAX_REPORTS: usize = 300;

/// Maximum bytes of an IP packet.
const MAX_DATAGRAM_BYTES: usize = 65_000;

/// Bytes of headers of a data packet.
const HEADER_BYTES: u32 = 52;

/// Receiver-side half. As with the real transport, nothing is reported before the first packet has arrived.
#[derive(Debug)]
pub(crate) struct FarEnd {
    name: &'static str,
    half: Box<dyn ReceiverHalf>,
    now: Time,
    has_arrivals: bool,
    /// Latest report.
    latest: Vec<u8>,
}

impl FarEnd {
    /// Returns a half; `now` is on the receiver's clock.
    pub(crate) fn new(name: &'static str, half: Box<dyn ReceiverHalf>, now: Time) -> Self {
        Self { name, half, now, has_arrivals: false, latest: vec![] }
    }

    /// Delivers a packet at `at`, or right after the previous one if that came later.
    pub(crate) fn arrive(&mut self, at: Time, number: u64, sent_at: Time, bytes: u32, message: Message) {
        self.now = self.now.max(at);
        self.has_arrivals = true;
        self.half.on_packet(&Arrived {
            now: self.now,
            number,
            sent_at,
            bytes,
            datagram_bytes: bytes + HEADER_BYTES,
            message,
            ce: number.is_multiple_of(17),
        });
    }

    pub(crate) fn pass(&mut self, span: Span) {
        self.now += span;
    }

    fn report(&mut self) -> Vec<u8> {
        self.latest.clear();
        self.half.write_feedback(self.now, &mut self.latest);
        let bytes = self.latest.len() + self.half.padding_bytes() as usize;
        assert!(bytes <= MAX_DATAGRAM_BYTES, "{}: {bytes} bytes of feedback", self.name);
        self.latest.clone()
    }

    /// Returns the ACK that leaves now and the ones that the half's timer then requires.
    pub(crate) fn reports(&mut self) -> Vec<Vec<u8>> {
        let mut reports = vec![self.report()];
        while self.half.next_timer() <= self.now {
            assert!(reports.len() < MAX_REPORTS, "{}: its half's timer does not move on", self.name);
            reports.push(self.report());
        }
        reports
    }

    /// Waits for the half's timer, if that is within a day. Returns its reports and the time of the clock.
    pub(crate) fn wait(&mut self) -> Option<(Vec<Vec<u8>>, Time)> {
        let timer = self.half.next_timer();
        if !self.has_arrivals || timer > self.now + Span::from_secs(86_400) {
            return None;
        }
        self.now = self.now.max(timer);
        Some((self.reports(), self.now))
    }

    /// Returns the latest report with the byte `at` replaced or, with `cut`, cut there. A shorter report is unchanged.
    pub(crate) fn mangled(&self, at: usize, value: u8, cut: bool) -> Vec<u8> {
        let mut report = self.latest.clone();
        if cut {
            report.truncate(at);
        } else if let Some(byte) = report.get_mut(at) {
            *byte = value;
        }
        report
    }
}

/// Frames that wait to be sent: time of writing, and remaining bytes.
#[derive(Debug, Default)]
pub(crate) struct FrameQueue(VecDeque<(Time, u64)>);

impl FrameQueue {
    pub(crate) fn write(&mut self, now: Time, bytes: u64) {
        self.0.push_back((now, bytes));
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Returns the wait of the oldest frame.
    pub(crate) fn delay(&self, now: Time) -> Span {
        self.0.front().map_or(Span::ZERO, |(written, _)| now - *written)
    }

    /// Removes a packet of at most `most` bytes of one frame, and returns its size.
    pub(crate) fn take(&mut self, most: u32) -> Option<u32> {
        let (_, left) = self.0.front_mut()?;
        let bytes = (*left).min(u64::from(most));
        *left -= bytes;
        if *left == 0 {
            self.0.pop_front();
        }
        Some(bytes as u32)
    }
}

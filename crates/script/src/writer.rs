//! A controller that writes down what it is told, and what it answers, as a script.

use crate::controller::expectation;
use crate::event::{Acked, Event};
use crate::line::FIRST_LINE;
use congestion::{Ack, Control, Controller, Ecn, FieldSink, Frame, Loss, Message, Sent, Start, Timeout};
use core::fmt::Write as _;
use units::{Span, Time};

/// Writes a script while it passes everything on to another controller.
#[derive(Debug)]
pub struct Writer {
    inner: Box<dyn Controller>,
    mss_bytes: u32,
    text: String,
    /// The expectation that was written last.
    latest: String,
}

impl Writer {
    /// A writer around `inner`, which was built with `start`. `head` has the lines of the header that say what it is.
    pub fn new(inner: Box<dyn Controller>, start: &Start, head: &str) -> Self {
        let mss_bytes = start.mss_bytes;
        let window = start.initial_window_bytes / u64::from(mss_bytes.max(1));
        let mut text = format!("{FIRST_LINE}\n{head}");
        let _ = write!(text, "mss {mss_bytes}\nwindow {window}\nseed {}\n\n", start.seed);
        Self { inner, mss_bytes, text, latest: String::new() }
    }

    /// The script so far.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Tells the controller, and writes event and answer. The answer to a packet that left is written if it is another one
    /// than before; nothing else is left out.
    fn pass(&mut self, event: &Event) {
        event.tell(self.inner.as_mut());
        self.text += &event.line();
        self.text.push('\n');
        let expected = expectation(self.inner.as_ref(), self.mss_bytes);
        if !matches!(event, Event::Sent(_)) || expected != self.latest {
            self.text += &expected;
            self.text.push('\n');
            self.latest = expected;
        }
    }
}

impl Controller for Writer {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.pass(&Event::Established(now, rtt));
    }

    fn on_sent(&mut self, event: &Sent) {
        self.pass(&Event::Sent(*event));
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        self.pass(&Event::Ack(Box::new(Acked {
            event: Ack { packets: &[], feedback: &[], ..*event },
            packets: event.packets.to_vec(),
            feedback: event.feedback.to_vec(),
        })));
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        self.pass(&Event::Loss(Loss { packets: &[], ..*event }, event.packets.to_vec()));
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.pass(&Event::Timeout(*event));
    }

    fn on_ecn(&mut self, event: &Ecn) {
        self.pass(&Event::Ecn(*event));
    }

    fn on_recovered(&mut self, now: Time) {
        self.pass(&Event::Recovered(now));
    }

    fn on_spurious_loss(&mut self, now: Time) {
        self.pass(&Event::Spurious(now));
    }

    fn on_wake(&mut self, now: Time) {
        self.pass(&Event::Wake(now));
    }

    fn on_frame(&mut self, event: &Frame) {
        self.pass(&Event::Frame(*event));
    }

    /// Nothing: [`Event::tell`] has asked for it after the packet left.
    fn message(&mut self, _event: &Sent) -> Message {
        Message::default()
    }

    fn control(&self) -> Control {
        self.inner.control()
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        self.inner.fields(sink);
    }
}

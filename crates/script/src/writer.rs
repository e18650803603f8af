//! Recording of a controller's events and answers as a script.

use crate::controller::expectation;
use crate::event::{AckEvent, Event};
use crate::line::FIRST_LINE;
use congestion::{Ack, Control, Controller, Ecn, FieldSink, Frame, Loss, Message, Sent, Start, Timeout};
use core::fmt::Write as _;
use units::{Span, Time};

/// Controller that writes a script and passes everything on to another controller.
#[derive(Debug)]
pub struct Writer {
    inner: Box<dyn Controller>,
    mss_bytes: u32,
    text: String,
    /// Latest written expectation.
    latest: String,
}

impl Writer {
    /// Returns a writer around `inner`, which was built with `start`. `head` has the descriptive lines of the header.
    pub fn new(inner: Box<dyn Controller>, start: &Start, head: &str) -> Self {
        let mss_bytes = start.mss_bytes;
        let window = start.initial_window_bytes / u64::from(mss_bytes.max(1));
        let mut text = format!("{FIRST_LINE}\n{head}");
        let _ = write!(text, "mss {mss_bytes}\nwindow {window}\nseed {}\n\n", start.seed);
        Self { inner, mss_bytes, text, latest: String::new() }
    }

    /// Returns the script so far.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Calls the controller, and writes event and answer.
    ///
    /// The answer to an event caused by an ACK is the answer after that ACK. The answer to a sent packet is written
    /// only if it differs from the previous answer. Nothing else is left out.
    fn pass(&mut self, event: &Event) {
        event.tell(self.inner.as_mut());
        self.text += &event.line();
        self.text.push('\n');
        if event.comes_with_ack() {
            return;
        }
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
        self.pass(&Event::Ack(Box::new(AckEvent {
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

    /// Returns no message, since [`Event::tell`] has asked for it after the sending.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Script;
    use congestion::{AckedPacket, Parameters, RateSample, Registry};
    use units::Rate;

    /// A recorded script reads back as the same calls: every answer holds, and no answer is missing.
    #[test]
    fn what_is_written_is_read_as_the_same() {
        let registry = Registry::builtin();
        for name in ["reno", "cubic", "bbr3", "gcc"] {
            let entry = registry.find(name).unwrap();
            let parameters = Parameters::defaults(entry.parameters);
            let start =
                Start { now: Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: u64::MAX };
            let head = format!("source this test\ncontroller {name}\n");
            let mut writer = Writer::new(entry.build(&parameters, &start).unwrap(), &start, &head);
            tell(&mut writer);
            let text = writer.into_text();
            let script = Script::parse(&text).unwrap();
            let report = script.run(Some((entry, &parameters)), false, true).unwrap();
            let checks = report["checks"].as_array().unwrap();
            assert!(checks.len() > 15 && checks.iter().all(|check| check["holds"] == true), "{name}: {text}");
            let steps = report["steps"].as_array().unwrap();
            assert_eq!(steps.len(), text.lines().filter(|line| line.starts_with('@')).count(), "{name}");
        }
    }

    /// Some stacks delay losses and marks until their ACK, and answer after it. A check before the ACK would blame
    /// them wrongly.
    #[test]
    fn the_answer_to_losses_of_an_ack_stands_after_the_ack() {
        let registry = Registry::builtin();
        let entry = registry.find("reno").unwrap();
        let start = Start { now: Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: 1 };
        let controller = entry.build(&Parameters::defaults(entry.parameters), &start).unwrap();
        let mut writer = Writer::new(controller, &start, "source this test\ncontroller reno\n");
        tell(&mut writer);
        let text = writer.into_text();
        let lines: Vec<&str> = text.lines().collect();
        let follower = |name: &str| {
            let place = lines.iter().position(|line| line.split(' ').nth(1) == Some(name)).unwrap();
            lines[place + 1].split(' ').nth(1).unwrap()
        };
        assert_eq!((follower("lost"), follower("ecn")), ("ecn", "ack"), "{text}");
        assert!(follower("ack").starts_with("cwnd=") || follower("ack").starts_with("window="), "{text}");
        assert!(text.contains(" by_ack=yes"), "{text}");
    }

    fn tell(writer: &mut Writer) {
        let ms = |ms: u64| Time::from_ns(ms * 1_000_000 + 7);
        writer.on_established(ms(80), Span::from_ns(80_000_007));
        for number in 1..=10 {
            let in_flight_bytes = number * 1448;
            let sent = Sent {
                now: ms(80),
                number,
                bytes: 1448,
                in_flight_bytes,
                retransmission: number == 9,
                filler: false,
                frame: 0,
                frame_end: false,
                idle_timeouts: 0,
            };
            writer.on_sent(&sent);
        }
        let packet = |number: u64, was_lost: bool| AckedPacket {
            number,
            sent_at: ms(80),
            received_at: Time::from_ns(120_000_123),
            lost_at_send_bytes: 0,
            in_flight_at_send_bytes: number * 1448,
            bytes: 1448,
            retransmission: number == 9,
            was_lost,
            ce: number == 5,
        };
        let lost = [packet(1, true), packet(3, true)];
        writer.on_loss(&Loss {
            now: ms(160),
            packets: &lost,
            lost_bytes: 2896,
            in_flight_before_bytes: 14_480,
            in_flight_bytes: 11_584,
            new_episode: true,
            by_ack: true,
            srtt: Span::from_ns(80_000_007),
            next_number: 11,
        });
        writer.on_ecn(&Ecn {
            now: ms(160),
            ce_packets: 1,
            packets: 2,
            newest_sent_at: ms(80),
            new_episode: false,
            in_flight_bytes: 11_584,
            srtt: Span::from_ms(80),
        });
        let packets = [packet(1, true), packet(5, false)];
        writer.on_ack(&Ack {
            now: ms(160),
            packets: &packets,
            acked_bytes: 2896,
            growth_bytes: 2896,
            lost_bytes: 2896,
            rtt: Some(Span::from_ms(80)),
            srtt: Span::from_ms(80),
            rttvar: Span::from_ms(20),
            min_rtt: Span::from_ms(80),
            ack_delay: Span::from_us(3),
            in_flight_before_bytes: 14_480,
            in_flight_bytes: 10_136,
            peak_in_flight_bytes: 14_480,
            window_limited: true,
            pacing_limited: false,
            app_limited: false,
            delivered_bytes: 2896,
            rate: Some(RateSample {
                delivered_bytes: 2896,
                interval: Span::from_ms(80),
                rate: Rate::from_bps(289_600),
                prior_delivered_bytes: 0,
                lost_bytes: 2896,
                in_flight_at_send_bytes: 7240,
                app_limited: false,
            }),
            round_start: true,
            in_recovery: true,
            next_number: 11,
            queued_bytes: u64::MAX,
            queue_delay: Span::ZERO,
            feedback: &[1, 255],
            complete_bytes: 1448,
            sent_bytes: 14_480,
        });
        writer.on_recovered(ms(170));
        writer.on_spurious_loss(ms(170));
        writer.on_wake(ms(171));
        writer.on_timeout(&Timeout {
            now: ms(400),
            kind: congestion::TimeoutKind::PersistentCongestion,
            repeated: false,
            in_flight_before_bytes: 10_136,
            next_number: 11,
        });
    }
}

//! Runs of scripts that drive the transport's receiver: packets are the input, ACKs the output.

use crate::expect::Check;
use crate::line::{Line, Words};
use crate::script::{MAX_EVENTS, Script};
use crate::values::{Numbers, all_numbers, join_ranges, numbers_text, span_text, time_text};
use core::fmt::Write as _;
use std::collections::VecDeque;
use strict_input::Refusal;
use transport::{AckFrame, Config, Data, EcnCounts, Receiver};
use units::Time;

struct Driver<'a> {
    script: &'a Script,
    config: &'a Config,
    receiver: Receiver,
    now: Time,
    acks: VecDeque<(Time, AckFrame)>,
    /// Stream offset after the latest packet, bytes.
    offset: u64,
    checks: Vec<Check>,
}

/// Runs a script. Returns the checked conditions.
pub(crate) fn run(script: &Script, config: &Config) -> Result<Vec<Check>, Refusal> {
    let receiver = Receiver::new(config, None).with_seed(config, script.seed);
    let mut driver = Driver {
        script,
        config,
        receiver,
        now: Time::ZERO,
        acks: VecDeque::new(),
        offset: 0,
        checks: Vec::new(),
    };
    for line in &script.lines {
        match line {
            Line::Event(words) => {
                driver.event(words.clone())?;
            }
            Line::KnownFailure { .. } => {}
            Line::Expect { number, .. } => {
                return Err(crate::line::refusal(*number, "a receiver has no fields: expected `out`"));
            }
        }
    }
    driver.refuse_acks(script.lines.last().map_or(1, Line::number));
    Ok(driver.checks)
}

/// Returns an ACK as a line of a script.
fn text(at: Time, frame: &AckFrame) -> String {
    let ranges = join_ranges(received_numbers(frame).into_iter());
    let (at, delay) = (time_text(at), span_text(frame.delay));
    format!(
        "@{at} out {} next={} delay={delay} ce={}",
        numbers_text(&ranges),
        frame.next_offset,
        frame.ecn.ce
    )
}

/// Returns every packet that an ACK reports as received, ascending.
fn received_numbers(frame: &AckFrame) -> Vec<u64> {
    frame.ranges.iter().rev().flat_map(|range| range.start..range.end).collect()
}

impl Driver<'_> {
    fn event(&mut self, mut words: Words) -> Result<(), Refusal> {
        let numbers = std::mem::take(&mut words.packets);
        match words.name.as_str() {
            "data" => {
                if words.at > Time::ZERO {
                    self.advance(&words, Time::from_ns(words.at.as_ns() - 1))?;
                }
                self.refuse_acks(words.number);
                self.data(&mut words, &numbers)
            }
            "out" => self.out(&mut words, &numbers),
            "wait" => {
                words.end(&[])?;
                self.advance(&words, words.at)
            }
            name => Err(words.refusal(format!("unknown event `{name}`: expected data, out or wait"))),
        }
    }

    fn advance(&mut self, words: &Words, until: Time) -> Result<(), Refusal> {
        let mut steps = 0;
        loop {
            let next = self.receiver.next_timer().max(self.now);
            if next > until {
                self.now = self.now.max(until);
                return Ok(());
            }
            self.now = next;
            if !self.poll() {
                // The timer expired without an ACK: time must continue.
                self.now = until;
                return Ok(());
            }
            steps += 1;
            if steps > MAX_EVENTS {
                return Err(words.refusal(format!("more than {MAX_EVENTS} ACKs leave before this line")));
            }
        }
    }

    /// Takes the due ACKs. Returns true if there was one.
    fn poll(&mut self) -> bool {
        let before = self.acks.len();
        let mut frame = AckFrame::default();
        while self.receiver.poll_ack(self.now, &mut frame) {
            self.acks.push_back((self.now, std::mem::take(&mut frame)));
        }
        self.acks.len() > before
    }

    fn refuse_acks(&mut self, line: usize) {
        for (at, frame) in self.acks.drain(..) {
            self.checks.push(Check {
                line,
                at,
                condition: "no other ACK leaves before this line".to_owned(),
                value_text: text(at, &frame),
                holds: Some(false),
                ..Check::default()
            });
        }
    }

    fn data(&mut self, words: &mut Words, numbers: &Numbers) -> Result<(), Refusal> {
        if numbers.is_empty() {
            return Err(words.refusal("`data` needs packets, for example `0..9`"));
        }
        let mut offset = words.whole("offset")?.unwrap_or(self.offset);
        let bytes = words.size("bytes")?.unwrap_or(self.script.mss_bytes);
        let retransmission = words.flag("retransmission")?.unwrap_or(false);
        let ce = words.flag("ce")?.unwrap_or(false);
        let least_unacked = words.whole("least_unacked")?.unwrap_or(0);
        words.end(&["offset", "bytes", "retransmission", "ce", "least_unacked"])?;
        // Waiting for an ACK may have passed this time.
        self.now = self.now.max(words.at);
        for number in all_numbers(numbers) {
            let data = Data {
                number,
                offset,
                payload_bytes: bytes,
                datagram_bytes: bytes.saturating_add(self.config.header_bytes),
                sent_at: words.at,
                least_unacked,
                retransmission,
                ..Data::default()
            };
            let ecn = EcnCounts { ce: u64::from(ce), ..EcnCounts::default() };
            self.receiver.on_data(self.now, &data, ecn);
            offset += u64::from(bytes);
            self.poll();
        }
        self.offset = offset;
        Ok(())
    }

    fn out(&mut self, words: &mut Words, numbers: &Numbers) -> Result<(), Refusal> {
        self.advance(words, words.at)?;
        if self.acks.is_empty() {
            self.advance(words, words.at + self.script.tolerance)?;
        }
        let (next, delay, ce) = (words.whole("next")?, words.span("delay")?, words.whole("ce")?);
        words.end(&["next", "delay", "ce"])?;
        let ack = self.acks.pop_front();
        let late = |at: Time| at.max(words.at).since(at.min(words.at)) > self.script.tolerance;
        let holds = ack.as_ref().is_some_and(|(at, frame)| {
            !late(*at)
                && (numbers.is_empty()
                    || join_ranges(received_numbers(frame).into_iter()) == join_ranges(all_numbers(numbers)))
                && next.is_none_or(|next| next == frame.next_offset)
                && delay.is_none_or(|delay| delay == frame.delay)
                && ce.is_none_or(|ce| ce == frame.ecn.ce)
        });
        let mut condition = format!("@{} out {}", time_text(words.at), numbers_text(numbers));
        if let Some(next) = next {
            let _ = write!(condition, " next={next}");
        }
        if let Some(delay) = delay {
            let _ = write!(condition, " delay={}", span_text(delay));
        }
        if let Some(ce) = ce {
            let _ = write!(condition, " ce={ce}");
        }
        let value_text = ack.map_or_else(|| "no ACK leaves".to_owned(), |(at, frame)| text(at, &frame));
        let (line, at, source) = (words.number, words.at, words.source().to_owned());
        self.checks.push(Check {
            line,
            at,
            condition,
            value_text,
            holds: Some(holds),
            source,
            known_reason: None,
        });
        Ok(())
    }
}

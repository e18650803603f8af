//! Events of a controller: as values, as named fields, and as calls.

use crate::values::{Numbers, hex_text, join_ranges, numbers_json, numbers_text, span_text, time_text};
use congestion::{Ack, AckedPacket, Controller, Ecn, Frame, Loss, Sent, Timeout, TimeoutKind};
use core::fmt::Write as _;
use serde_json::{Map, Value as Json};
use units::{Span, Time};

/// Call of a controller.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The connection is established.
    Established(Time, Span),
    /// The sender sent a packet.
    Sent(Sent),
    /// An ACK arrived.
    Ack(Box<AckEvent>),
    /// Packets were declared lost.
    Loss(Loss<'static>, Vec<AckedPacket>),
    /// A timer expired.
    Timeout(Timeout),
    /// Marks were reported.
    Ecn(Ecn),
    /// An episode is over.
    Recovered(Time),
    /// A loss episode was spurious.
    Spurious(Time),
    /// The controller's wake-up time has come.
    Wake(Time),
    /// An encoder wrote a frame.
    Frame(Frame),
}

/// ACK with the data that it borrows.
#[derive(Clone, Debug)]
pub(crate) struct AckEvent {
    /// The event without its packets and its feedback.
    pub(crate) event: Ack<'static>,
    /// Acknowledged packets.
    pub(crate) packets: Vec<AckedPacket>,
    /// Bytes from the scheme's receiver-side half.
    pub(crate) feedback: Vec<u8>,
}

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Whole(u64),
    Flag(bool),
    Span(Span),
    Times(Vec<Time>),
    Wholes(Vec<u64>),
    Packets(Numbers),
    Text(&'static str),
    Hex(String),
    None,
}

impl Value {
    fn text(&self) -> String {
        let list = |texts: Vec<String>| texts.join(",");
        match self {
            Self::Whole(u64::MAX) => "unlimited".to_owned(),
            Self::Whole(number) => number.to_string(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Self::Span(span) => span_text(*span),
            Self::Times(times) => list(times.iter().map(|time| time_text(*time)).collect()),
            Self::Wholes(numbers) => list(numbers.iter().map(u64::to_string).collect()),
            Self::Packets(numbers) => numbers_text(numbers),
            Self::Text(text) => (*text).to_owned(),
            Self::Hex(text) => text.clone(),
            Self::None => "none".to_owned(),
        }
    }

    fn json(&self) -> Json {
        match self {
            Self::Whole(u64::MAX) | Self::None => Json::Null,
            Self::Whole(number) => (*number).into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Span(span) => span.as_secs_f64().into(),
            Self::Times(times) => times.iter().map(|time| time.as_secs_f64()).collect(),
            Self::Wholes(numbers) => numbers.iter().copied().collect(),
            Self::Packets(numbers) => numbers_json(numbers),
            Self::Text(text) => (*text).into(),
            Self::Hex(text) => text.clone().into(),
        }
    }
}

/// Names of the fields of an ACK, for error messages.
pub(crate) const ACK_FIELDS: &[&str] = &[
    "every",
    "releases",
    "owd",
    "acked",
    "growth",
    "lost",
    "rtt",
    "srtt",
    "rttvar",
    "min_rtt",
    "ack_delay",
    "in_flight_before",
    "in_flight",
    "peak_in_flight",
    "window_limited",
    "pacing_limited",
    "app_limited",
    "delivered",
    "rate",
    "rate_delivered",
    "rate_interval",
    "rate_prior",
    "rate_lost",
    "rate_in_flight",
    "rate_app_limited",
    "round_start",
    "recovery",
    "next",
    "queued",
    "queue_delay",
    "complete",
    "sent",
    "received",
    "lost_at_send",
    "in_flight_at_send",
    "was_lost",
    "ce",
    "feedback",
];

/// Name and value of a field.
pub(crate) type Field = (&'static str, Value);

impl Event {
    /// Returns the time of the event.
    pub(crate) fn at(&self) -> Time {
        match self {
            Self::Established(now, _) | Self::Recovered(now) | Self::Spurious(now) | Self::Wake(now) => *now,
            Self::Sent(event) => event.now,
            Self::Ack(acked) => acked.event.now,
            Self::Loss(event, _) => event.now,
            Self::Timeout(event) => event.now,
            Self::Ecn(event) => event.now,
            Self::Frame(event) => event.now,
        }
    }

    /// Returns the event's name in a script.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Established(..) => "established",
            Self::Sent(_) => "sent",
            Self::Ack(_) => "ack",
            Self::Loss(..) => "lost",
            Self::Timeout(_) => "timeout",
            Self::Ecn(_) => "ecn",
            Self::Recovered(_) => "recovered",
            Self::Spurious(_) => "spurious",
            Self::Wake(_) => "wake",
            Self::Frame(_) => "frame",
        }
    }

    /// Returns true if an ACK causes the event. A script has the event before this ACK, at its time.
    pub(crate) const fn comes_with_ack(&self) -> bool {
        match self {
            Self::Recovered(_) | Self::Spurious(_) | Self::Ecn(_) => true,
            Self::Loss(event, _) => event.by_ack,
            Self::Timeout(event) => matches!(event.kind, TimeoutKind::PersistentCongestion),
            Self::Established(..) | Self::Sent(_) | Self::Ack(_) | Self::Wake(_) | Self::Frame(_) => false,
        }
    }

    /// Returns the event's packets, or `None` if it has none.
    pub(crate) fn packets(&self) -> Option<Numbers> {
        match self {
            Self::Sent(event) => Some(vec![(event.number, event.number)]),
            Self::Ack(acked) => Some(join_ranges(acked.packets.iter().map(|packet| packet.number))),
            Self::Loss(_, packets) => Some(join_ranges(packets.iter().map(|packet| packet.number))),
            _ => None,
        }
    }

    /// Returns all fields.
    pub(crate) fn fields(&self) -> Vec<Field> {
        use Value::{Flag, Whole};
        match self {
            Self::Established(_, rtt) => vec![("rtt", Value::Span(*rtt))],
            Self::Sent(event) => vec![
                ("bytes", Whole(event.bytes.into())),
                ("in_flight", Whole(event.in_flight_bytes)),
                ("retransmission", Flag(event.retransmission)),
                ("filler", Flag(event.filler)),
                ("frame", Whole(event.frame.into())),
                ("frame_end", Flag(event.frame_end)),
                ("idle_timeouts", Whole(event.idle_timeouts.into())),
            ],
            Self::Ack(acked) => acked.fields(),
            Self::Loss(event, packets) => {
                let mut fields = vec![
                    ("lost", Whole(event.lost_bytes)),
                    ("in_flight_before", Whole(event.in_flight_before_bytes)),
                    ("in_flight", Whole(event.in_flight_bytes)),
                    ("new_episode", Flag(event.new_episode)),
                    ("by_ack", Flag(event.by_ack)),
                    ("srtt", Value::Span(event.srtt)),
                    ("next", Whole(event.next_number)),
                ];
                fields.extend(at_send(packets));
                fields
            }
            Self::Timeout(event) => vec![
                ("kind", Value::Text(kind_text(event.kind))),
                ("repeated", Flag(event.repeated)),
                ("in_flight_before", Whole(event.in_flight_before_bytes)),
                ("next", Whole(event.next_number)),
            ],
            Self::Ecn(event) => vec![
                ("ce", Whole(event.ce_packets)),
                ("packets", Whole(event.packets)),
                ("newest", Value::Span(event.newest_sent_at - Time::ZERO)),
                ("new_episode", Flag(event.new_episode)),
                ("in_flight", Whole(event.in_flight_bytes)),
                ("srtt", Value::Span(event.srtt)),
            ],
            Self::Recovered(_) | Self::Spurious(_) | Self::Wake(_) => vec![],
            Self::Frame(event) => vec![
                ("number", Whole(event.number.into())),
                ("bytes", Whole(event.bytes)),
                ("key", Flag(event.key)),
                ("queued", Whole(event.queued_bytes)),
                ("queue_delay", Value::Span(event.queue_delay)),
            ],
        }
    }

    /// Returns the line in a script with all fields.
    pub(crate) fn line(&self) -> String {
        let mut line = format!("@{} {}", time_text(self.at()), self.name());
        if let Some(packets) = self.packets().filter(|packets| !packets.is_empty()) {
            line += " ";
            line += &numbers_text(&packets);
        }
        for (name, value) in self.fields() {
            let _ = write!(line, " {name}={}", value.text());
        }
        line
    }

    /// Returns the event with all fields as JSON.
    pub(crate) fn json(&self) -> Map<String, Json> {
        let mut table = Map::new();
        table.insert("time_s".to_owned(), self.at().as_secs_f64().into());
        table.insert("event".to_owned(), self.name().into());
        if let Some(packets) = self.packets() {
            table.insert("packets".to_owned(), numbers_json(&packets));
        }
        let fields = self.fields().into_iter().map(|(name, value)| (name.to_owned(), value.json()));
        table.insert("fields".to_owned(), Json::Object(fields.collect()));
        table
    }

    /// Calls `controller` with the event.
    pub(crate) fn tell(&self, controller: &mut dyn Controller) {
        match self {
            Self::Established(now, rtt) => controller.on_established(*now, *rtt),
            Self::Sent(event) => {
                controller.on_sent(event);
                // The transport asks for the packet's message to the receiver-side half right after sending.
                let _ = controller.message(event);
            }
            Self::Ack(acked) => {
                controller.on_ack(&Ack { packets: &acked.packets, feedback: &acked.feedback, ..acked.event });
            }
            Self::Loss(event, packets) => controller.on_loss(&Loss { packets, ..*event }),
            Self::Timeout(event) => controller.on_timeout(event),
            Self::Ecn(event) => controller.on_ecn(event),
            Self::Recovered(now) => controller.on_recovered(*now),
            Self::Spurious(now) => controller.on_spurious_loss(*now),
            Self::Wake(now) => controller.on_wake(*now),
            Self::Frame(event) => controller.on_frame(event),
        }
    }
}

/// Returns the name of a kind of timeout in a script.
pub(crate) const fn kind_text(kind: TimeoutKind) -> &'static str {
    match kind {
        TimeoutKind::Rto => "rto",
        TimeoutKind::PersistentCongestion => "persistent",
    }
}

/// Returns the fields with the sender's state when `packets` were sent.
fn at_send(packets: &[AckedPacket]) -> Vec<Field> {
    if packets.is_empty() {
        return vec![];
    }
    vec![
        ("lost_at_send", Value::Wholes(packets.iter().map(|packet| packet.lost_at_send_bytes).collect())),
        (
            "in_flight_at_send",
            Value::Wholes(packets.iter().map(|packet| packet.in_flight_at_send_bytes).collect()),
        ),
    ]
}

impl AckEvent {
    fn fields(&self) -> Vec<Field> {
        use Value::{Flag, Span as Seconds, Whole};
        let Self { event, packets, feedback } = self;
        let mut fields = vec![
            ("acked", Whole(event.acked_bytes)),
            ("growth", Whole(event.growth_bytes)),
            ("lost", Whole(event.lost_bytes)),
            ("rtt", event.rtt.map_or(Value::None, Seconds)),
            ("srtt", Seconds(event.srtt)),
            ("rttvar", Seconds(event.rttvar)),
            ("min_rtt", Seconds(event.min_rtt)),
            ("ack_delay", Seconds(event.ack_delay)),
            ("in_flight_before", Whole(event.in_flight_before_bytes)),
            ("in_flight", Whole(event.in_flight_bytes)),
            ("peak_in_flight", Whole(event.peak_in_flight_bytes)),
            ("window_limited", Flag(event.window_limited)),
            ("pacing_limited", Flag(event.pacing_limited)),
            ("app_limited", Flag(event.app_limited)),
            ("delivered", Whole(event.delivered_bytes)),
        ];
        match &event.rate {
            None => fields.push(("rate", Value::None)),
            Some(sample) => fields.extend([
                ("rate", Whole(sample.rate.bps())),
                ("rate_delivered", Whole(sample.delivered_bytes)),
                ("rate_interval", Seconds(sample.interval)),
                ("rate_prior", Whole(sample.prior_delivered_bytes)),
                ("rate_lost", Whole(sample.lost_bytes)),
                ("rate_in_flight", Whole(sample.in_flight_at_send_bytes)),
                ("rate_app_limited", Flag(sample.app_limited)),
            ]),
        }
        fields.extend([
            ("round_start", Flag(event.round_start)),
            ("recovery", Flag(event.in_recovery)),
            ("next", Whole(event.next_number)),
            ("queued", Whole(event.queued_bytes)),
            ("queue_delay", Seconds(event.queue_delay)),
            ("complete", Whole(event.complete_bytes)),
            ("sent", Whole(event.sent_bytes)),
        ]);
        if !packets.is_empty() {
            let numbers_where = |condition: fn(&AckedPacket) -> bool| {
                Value::Packets(join_ranges(
                    packets.iter().filter(|packet| condition(packet)).map(|packet| packet.number),
                ))
            };
            fields
                .push(("received", Value::Times(packets.iter().map(|packet| packet.received_at).collect())));
            fields.extend(at_send(packets));
            fields.push(("was_lost", numbers_where(|packet| packet.was_lost)));
            fields.push(("ce", numbers_where(|packet| packet.ce)));
        }
        if !feedback.is_empty() {
            fields.push(("feedback", Value::Hex(hex_text(feedback))));
        }
        fields
    }
}

//! A sender and a receiver joined by a fixed delay, under virtual time. Losses are given by packet number, so a test
//! reads like a script.

use congestion::{Controller, FieldSink, Parameters, ReceiverHalf, Start};
use std::collections::VecDeque;
use transport::{AckFrame, Application, ApplicationSpec, Config, Data, EcnCounts, EcnMode, Receiver, Sender};
use units::{Span, Time};

const fn ms(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

/// Fields by name.
#[derive(Default)]
struct Fields(Vec<(&'static str, f64)>);

impl FieldSink for Fields {
    fn put(&mut self, name: &'static str, _unit: &'static str, value: f64) {
        self.0.push((name, value));
    }
}

/// Both ends of a flow.
pub(crate) struct Pair {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now: Time,
    delay: Span,
    towards_receiver: VecDeque<(Time, Data)>,
    towards_sender: VecDeque<(Time, AckFrame)>,
    /// Packet numbers that never arrive.
    pub(crate) drop: Vec<u64>,
    /// Packet numbers that arrive marked with CE.
    pub(crate) mark: Vec<u64>,
    /// Packets that arrive late: packet number and extra delay, ms.
    pub(crate) late: Vec<(u64, u64)>,
    /// Packets that leave from the first of these milliseconds on arrive at the second one at the earliest.
    pub(crate) hold: Option<(u64, u64)>,
    /// ACK numbers that never arrive.
    pub(crate) drop_acks: Vec<u64>,
    /// Every packet sent, with the time it left.
    pub(crate) sent: Vec<(Time, Data)>,
    /// Payload bytes that arrived for the first time.
    pub(crate) delivered: u64,
}

impl Pair {
    /// A flow of `application` with 50 ms delay each way and the controller `reno`.
    pub(crate) fn new(config: &Config, application: ApplicationSpec) -> Self {
        let registry = congestion::Registry::builtin();
        let entry = registry.find("reno").expect("reno is registered");
        let parameters = Parameters::defaults(entry.parameters);
        Self::with(
            config,
            application,
            |start| entry.build(&parameters, start).expect("reno needs no file"),
            None,
        )
    }

    /// Returns a pair with the controller that `build` builds and a receiver half.
    pub(crate) fn with(
        config: &Config,
        application: ApplicationSpec,
        build: impl FnOnce(&Start) -> Box<dyn Controller>,
        half: Option<Box<dyn ReceiverHalf>>,
    ) -> Self {
        let start = Start {
            now: Time::ZERO,
            mss_bytes: config.payload_bytes,
            initial_window_bytes: u64::from(config.initial_window) * u64::from(config.payload_bytes),
            seed: 1,
        };
        let controller = build(&start);
        let application = Application::new(application, Time::ZERO, config.payload_bytes, 1);
        Self {
            receiver: Receiver::new(config, half),
            sender: Sender::new(config, controller, application, Time::ZERO, Time::NEVER),
            now: Time::ZERO,
            delay: Span::from_ms(50),
            towards_receiver: VecDeque::new(),
            towards_sender: VecDeque::new(),
            drop: Vec::new(),
            mark: Vec::new(),
            late: Vec::new(),
            hold: None,
            drop_acks: Vec::new(),
            sent: Vec::new(),
            delivered: 0,
        }
    }

    fn next_event(&self) -> Time {
        let data = self.towards_receiver.front().map_or(Time::NEVER, |front| front.0);
        let ack = self.towards_sender.front().map_or(Time::NEVER, |front| front.0);
        data.min(ack).min(self.sender.next_timer()).min(self.receiver.next_timer())
    }

    /// Lets everything happen up to and including `ms` milliseconds.
    pub(crate) fn run_to(&mut self, ms: u64) {
        let end = Time::from_ns(ms * 1_000_000);
        self.transmit();
        while self.next_event() <= end {
            self.now = self.next_event();
            while let Some((_, data)) = self.towards_receiver.pop_front_if(|front| front.0 <= self.now) {
                let ecn = match self.sender.ecn_codepoint() {
                    EcnMode::Off => EcnCounts::default(),
                    _ if self.mark.contains(&data.number) => EcnCounts { ce: 1, ..EcnCounts::default() },
                    _ => EcnCounts { ect0: 1, ..EcnCounts::default() },
                };
                self.delivered += u64::from(self.receiver.on_data(self.now, &data, ecn));
                self.acknowledge();
            }
            self.acknowledge();
            while let Some((_, frame)) = self.towards_sender.pop_front_if(|front| front.0 <= self.now) {
                self.sender.on_ack(self.now, &frame);
                self.transmit();
            }
            self.sender.on_timer(self.now);
            self.transmit();
        }
        self.now = end;
    }

    fn transmit(&mut self) {
        let mut data = Data::default();
        while self.sender.poll_transmit(self.now, &mut data) {
            self.sent.push((self.now, data));
            if !self.drop.contains(&data.number) {
                let late =
                    self.late.iter().find(|(number, _)| *number == data.number).map_or(0, |(_, ms)| *ms);
                let mut at = self.now + self.delay + Span::from_ms(late);
                if let Some((from, to)) = self.hold
                    && self.now >= ms(from)
                {
                    at = at.max(ms(to));
                }
                let place = self.towards_receiver.partition_point(|(other, _)| *other <= at);
                self.towards_receiver.insert(place, (at, data));
            }
        }
    }

    fn acknowledge(&mut self) {
        let mut frame = AckFrame::default();
        while self.receiver.poll_ack(self.now, &mut frame) {
            if !self.drop_acks.contains(&frame.number) {
                self.towards_sender.push_back((self.now + self.delay, frame.clone()));
            }
        }
    }

    /// The controller's window, packets.
    pub(crate) fn window(&self) -> u64 {
        self.field("cwnd") as u64
    }

    /// The latest value of one of the controller's fields.
    pub(crate) fn field(&self, name: &'static str) -> f64 {
        let mut fields = Fields::default();
        self.sender.fields(&mut fields);
        fields.0.iter().find(|(field, _)| *field == name).expect("the controller has it").1
    }

    /// Packets sent in the half-open interval of milliseconds.
    pub(crate) fn sent_between(&self, from_ms: u64, to_ms: u64) -> Vec<Data> {
        let range = from_ms * 1_000_000..to_ms * 1_000_000;
        self.sent.iter().filter(|(at, _)| range.contains(&at.as_ns())).map(|(_, data)| *data).collect()
    }
}

//! Both ends of a flow of a run: each at work in a thread of its own, or on a machine of its own; and what they know
//! after it.

use crate::Error;
use crate::clock::Correction;
use crate::guard::{Guarded, Wire};
use crate::journal::Journal;
use crate::live_tcp::{Milestone, StreamedFrame, decoded};
use crate::log::EventLog;
use crate::merge::ClockedLog;
use crate::punctuality::Punctuality;
use crate::samples::Samples;
use crate::session::Session;
use crate::tcp_receiver::run_tcp_receiver;
use crate::tcp_sender::{TcpSenderOutcome, connect_tcp, run_tcp_sender};
use crate::udp_receiver::run_receiver;
use crate::udp_sender::run_sender;
use measure::{FlowState, SenderCounters};
use runs::{FlowSpec, Observer, RunSpec, media_counters, sender_counters};
use serde::{Deserialize, Serialize};
use std::net::{SocketAddrV4, TcpListener, UdpSocket};
use std::thread;
use std::time::Duration;
use transport::{Application, ApplicationSpec, Config, DecodedFrame, Receiver, Sender};
use units::{Span, Time};

/// Longest sleep of a flow that waits for its start.
const POLL: Duration = Duration::from_millis(2);

/// What the sending end of a flow knows after a run, by its own clock.
#[derive(Debug, Serialize, Deserialize)]
pub struct SenderReport {
    counters: SenderCounters,
    samples: Samples,
    journal: Journal,
    /// Frames written to a stream that cannot carry marks.
    frames: Vec<StreamedFrame>,
    guarded: Guarded,
    /// How late it was; the kernel's TCP is not asked.
    punctuality: Option<Punctuality>,
}

/// What the receiving end of a flow knows after a run, by its own clock.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReceiverReport {
    media: ReceivedMedia,
    journal: Journal,
    guarded: Guarded,
    punctuality: Option<Punctuality>,
}

impl SenderReport {
    /// Number of the flow, from 1, as this end has it.
    pub const fn flow(&self) -> u32 {
        self.counters.flow
    }

    /// Its logs, by its own clock.
    pub fn logs(&self) -> impl Iterator<Item = &EventLog> {
        self.journal.logs()
    }

    /// What it did not take for its peer's.
    pub const fn guarded(&self) -> Guarded {
        self.guarded
    }

    /// How late it was, where it is dumbbell's own.
    pub const fn punctuality(&self) -> Option<Punctuality> {
        self.punctuality
    }
}

impl ReceiverReport {
    /// Its logs, by its own clock.
    pub fn logs(&self) -> impl Iterator<Item = &EventLog> {
        self.journal.logs()
    }

    /// What it did not take for its peer's.
    pub const fn guarded(&self) -> Guarded {
        self.guarded
    }

    /// How late it was, where it is dumbbell's own.
    pub const fn punctuality(&self) -> Option<Punctuality> {
        self.punctuality
    }
}

/// What a receiving end knows of a live source.
#[derive(Debug, Serialize, Deserialize)]
enum ReceivedMedia {
    /// What it decoded.
    Frames(Vec<DecodedFrame>),
    /// When bytes of the stream arrived.
    Stream(Vec<Milestone>),
}

/// Sends flow number `index` (from 0) of `spec` by our transport over `socket`, until the session is over.
///
/// # Errors
/// One line: what the socket refused.
pub fn send_udp(
    spec: &RunSpec,
    index: usize,
    mut sender: Sender,
    (socket, mut wire): (&UdpSocket, Wire),
    session: Session<'_>,
    mut journal: Journal,
) -> Result<SenderReport, Error> {
    let mut samples = Samples::every(Span::from_secs_f64(spec.sample_interval_s));
    tell_begin(spec, index, "UDP");
    let punctuality = run_sender(socket, &mut wire, &mut sender, session, &mut samples, &mut journal)
        .map_err(Error::Sending)?;
    let counters = sender_counters(spec, index, &sender);
    tell_end(index, &counters);
    let (guarded, punctuality) = (wire.guarded(), Some(punctuality));
    Ok(SenderReport { counters, samples, journal, frames: Vec::new(), guarded, punctuality })
}

/// Receives what [`send_udp`] sends at the other end, until the session is over. A socket without a peer takes the
/// sender of the first data packet for it.
///
/// # Errors
/// One line: what the socket refused.
pub fn receive_udp(
    config: &Config,
    mut receiver: Receiver,
    (socket, mut wire): (&UdpSocket, Wire),
    session: Session<'_>,
    mut journal: Journal,
) -> Result<ReceiverReport, Error> {
    let punctuality = run_receiver(socket, &mut wire, &mut receiver, config, session, &mut journal)
        .map_err(Error::Receiving)?;
    let media = ReceivedMedia::Frames(std::iter::from_fn(|| receiver.take_frame()).collect());
    Ok(ReceiverReport { media, journal, guarded: wire.guarded(), punctuality: Some(punctuality) })
}

/// Sends flow number `index` (from 0) of `spec` by the kernel's TCP to `address`, with that congestion control, from the
/// flow's start to its end or until the session is over. The kernel does not tell what it decides, or when: the journal
/// stays empty.
///
/// # Errors
/// One line: a congestion control that is not to be had, or what the socket refused.
pub fn send_tcp(
    spec: &RunSpec,
    index: usize,
    congestion_control: &str,
    address: SocketAddrV4,
    session: Session<'_>,
) -> Result<SenderReport, Error> {
    let flow = &spec.flows[index];
    let (start, end) = (flow.start(), session.end.min(flow.stop(spec.duration())));
    let session = Session { end, ..session };
    // The kernel has a clock of its own, by which it would measure the wait as part of the first round trip.
    while !session.clock.until_start().is_zero() && !session.is_stopped() {
        thread::sleep(POLL.min(session.clock.until_start()));
    }
    while session.clock.now() < start && !session.is_stopped() {
        thread::sleep(POLL.min(Duration::from_nanos((start - session.clock.now()).as_ns())));
    }
    let mut samples = Samples::every(Span::from_secs_f64(spec.sample_interval_s));
    tell_begin(spec, index, congestion_control);
    let payload_bytes = Config::tcp().payload_bytes;
    let application = Application::new(flow.application.clone(), start, payload_bytes, spec.flow_seed(index));
    let outcome = match connect_tcp(address, congestion_control, session)? {
        Some(stream) => {
            run_tcp_sender(&stream, application, start, session, &mut samples).map_err(Error::Sending)?
        }
        None => TcpSenderOutcome::default(),
    };
    let media = outcome.encoder.map(|stats| media_counters(flow, &stats));
    let counters = outcome.counters(index, media);
    tell_end(index, &counters);
    let (journal, guarded) = (Journal::default(), Guarded::default());
    Ok(SenderReport { counters, samples, journal, frames: outcome.frames, guarded, punctuality: None })
}

/// Receives what [`send_tcp`] sends at the other end, until that ends or the session is over.
///
/// # Errors
/// One line: what the socket refused.
pub fn receive_tcp(
    flow: &FlowSpec,
    listener: &TcpListener,
    session: Session<'_>,
) -> Result<ReceiverReport, Error> {
    let is_live = matches!(flow.application, ApplicationSpec::Encoder(_));
    let mut arrived = Vec::new();
    run_tcp_receiver(listener, session, is_live.then_some(&mut arrived)).map_err(Error::Receiving)?;
    let (journal, guarded) = (Journal::default(), Guarded::default());
    Ok(ReceiverReport { media: ReceivedMedia::Stream(arrived), journal, guarded, punctuality: None })
}

/// Says that the sending end of flow number `index` (from 0) is at work.
fn tell_begin(spec: &RunSpec, index: usize, over: &str) {
    let flow = &spec.flows[index];
    let (start_s, stop_s) = (flow.start().as_secs_f64(), flow.stop(spec.duration()).as_secs_f64());
    tracing::info!(flow = index + 1, scheme = %flow.scheme, over, start_s, stop_s, "flow begins");
}

/// Says that it is over.
fn tell_end(index: usize, counters: &SenderCounters) {
    let (active_s, completed_s) = (counters.active.as_secs_f64(), counters.completed.map(Time::as_secs_f64));
    let (retransmissions, timeouts) = (counters.retransmissions, counters.timeouts);
    tracing::info!(flow = index + 1, active_s, completed_s, retransmissions, timeouts, "flow is over");
}

/// What both ends of a flow know after a run.
#[derive(Debug)]
pub struct FlowReport {
    counters: SenderCounters,
    samples: Samples,
    frames: Vec<DecodedFrame>,
    /// Of the sending and the receiving end, each by the clock beside it.
    journals: [(Journal, Correction); 2],
    punctuality: [Option<Punctuality>; 2],
}

impl FlowReport {
    /// What the two ends have reported, given what corrects the clock of each.
    pub fn of(sent: (SenderReport, Correction), received: (ReceiverReport, Correction)) -> Self {
        let punctuality = [sent.0.punctuality, received.0.punctuality];
        let (SenderReport { mut counters, samples, journal: sending, frames, .. }, at_sender) = sent;
        let (ReceiverReport { media, journal: receiving, .. }, at_receiver) = received;
        let mut frames = match media {
            ReceivedMedia::Frames(frames) => frames,
            ReceivedMedia::Stream(arrived) => decoded(&frames, &arrived),
        };
        for frame in &mut frames {
            frame.mark.captured_at = at_sender.time_of(frame.mark.captured_at);
            frame.decoded_at = at_receiver.time_of(frame.decoded_at);
        }
        counters.completed = counters.completed.map(|at| at_sender.time_of(at));
        let journals = [(sending, at_sender), (receiving, at_receiver)];
        Self { counters, samples, frames, journals, punctuality }
    }

    /// How late the sending and the receiving end were, where they are dumbbell's own.
    pub const fn punctuality(&self) -> [Option<Punctuality>; 2] {
        self.punctuality
    }

    /// What the sender counted.
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Frames of a live source that could be decoded, in time order.
    pub fn frames(&self) -> &[DecodedFrame] {
        &self.frames
    }

    /// The logs of both ends, for [`crate::merged`].
    pub fn logs(&self) -> impl Iterator<Item = ClockedLog<'_>> {
        self.journals
            .iter()
            .flat_map(|(journal, correction)| journal.logs().map(move |log| ClockedLog { log, correction }))
    }

    /// The state of the sender at `at` of its clock, if it was sampled then.
    pub fn state(&self, at: Time) -> Option<FlowState> {
        self.samples.state(at)
    }

    /// How late the sending end woke up at most to take a sample.
    pub const fn latest(&self) -> Span {
        self.samples.latest()
    }

    /// Tells the samples of flow number `flow` (from 1), with the sender's state after every event in full logs.
    pub fn tell_samples(&self, observer: &mut dyn Observer, flow: u32) {
        let [(journal, correction), _] = &self.journals;
        self.samples.tell(journal.states(), correction, observer, flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::FrameMark;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn what_two_machines_report_is_put_on_one_clock() {
        let mark = FrameMark { number: 1, bytes: 1000, captured_at: at(100), ..FrameMark::default() };
        let sent = SenderReport {
            counters: SenderCounters { completed: Some(at(900)), ..SenderCounters::default() },
            samples: Samples::every(Span::from_ms(100)),
            journal: Journal::default(),
            frames: vec![StreamedFrame { end: 1000, mark }],
            guarded: Guarded::default(),
            punctuality: None,
        };
        let arrived = vec![Milestone { at: at(5150), bytes: 1000 }];
        let (media, journal) = (ReceivedMedia::Stream(arrived), Journal::default());
        let received = ReceiverReport { media, journal, guarded: Guarded::default(), punctuality: None };
        let (late, early) = (Correction::constant(7_000_000), Correction::constant(-5_000_000_000));
        let report = FlowReport::of((sent, late.clone()), (received, early.clone()));
        assert_eq!(report.counters().completed, Some(at(907)));
        let [frame] = report.frames() else { panic!("one frame") };
        assert_eq!((frame.mark.captured_at, frame.decoded_at), (at(107), at(150)));
        let corrections: Vec<_> = report.logs().map(|clocked| clocked.correction).collect();
        assert_eq!(corrections, [&late, &late, &early, &early]);
    }
}

//! Both ends of a run's flow, each in its own thread or on its own machine, and their reports.

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

/// Maximum sleep of a flow before its start.
const POLL: Duration = Duration::from_millis(2);

/// Report of a flow's sender after a run, by its own clock.
#[derive(Debug, Serialize, Deserialize)]
pub struct SenderReport {
    counters: SenderCounters,
    samples: Samples,
    journal: Journal,
    /// Frames in a stream that cannot carry marks.
    frames: Vec<StreamedFrame>,
    guarded: Guarded,
    /// Lateness of the sender; `None` for kernel TCP.
    punctuality: Option<Punctuality>,
}

/// Report of a flow's receiver after a run, by its own clock.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReceiverReport {
    media: ReceivedMedia,
    journal: Journal,
    guarded: Guarded,
    punctuality: Option<Punctuality>,
}

impl SenderReport {
    /// Returns the number of the flow at this end, from 1.
    pub const fn flow(&self) -> u32 {
        self.counters.flow
    }

    /// Returns the logs of this end, by its own clock.
    pub fn logs(&self) -> impl Iterator<Item = &EventLog> {
        self.journal.logs()
    }

    /// Returns the counts of refused datagrams.
    pub const fn guarded(&self) -> Guarded {
        self.guarded
    }

    /// Returns the lateness of the end if it uses the built-in transport.
    pub const fn punctuality(&self) -> Option<Punctuality> {
        self.punctuality
    }
}

impl ReceiverReport {
    /// Returns the logs of this end, by its own clock.
    pub fn logs(&self) -> impl Iterator<Item = &EventLog> {
        self.journal.logs()
    }

    /// Returns the counts of refused datagrams.
    pub const fn guarded(&self) -> Guarded {
        self.guarded
    }

    /// Returns the lateness of the end if it uses the built-in transport.
    pub const fn punctuality(&self) -> Option<Punctuality> {
        self.punctuality
    }
}

/// Receiver's data on a live source.
#[derive(Debug, Serialize, Deserialize)]
enum ReceivedMedia {
    /// Decoded frames.
    Frames(Vec<DecodedFrame>),
    /// Arrival times of the stream's bytes.
    Stream(Vec<Milestone>),
}

/// Sends flow number `index` (from 0) of `spec` with the built-in transport over `socket` until the session is over.
///
/// # Errors
/// Returns an error if the socket fails.
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

/// Receives the flow of [`send_udp`] at the other end until the session is over. A socket without a peer connects to
/// the sender of the first data packet.
///
/// # Errors
/// Returns an error if the socket fails.
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

/// Sends flow number `index` (from 0) of `spec` with kernel TCP and the given congestion control to `address`. It sends
/// from the flow's start to its end or until the session is over. The kernel does not report its decisions, so the
/// journal stays empty.
///
/// # Errors
/// Returns an error if the congestion control is unavailable or the socket fails.
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
    // The kernel would measure the wait as a part of the first round trip, by its own clock.
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

/// Receives the flow of [`send_tcp`] at the other end, until the flow ends or the session is over.
///
/// # Errors
/// Returns an error if the socket fails.
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

/// Logs the start of the sender of flow number `index` (from 0).
fn tell_begin(spec: &RunSpec, index: usize, over: &str) {
    let flow = &spec.flows[index];
    let (start_s, stop_s) = (flow.start().as_secs_f64(), flow.stop(spec.duration()).as_secs_f64());
    tracing::info!(flow = index + 1, scheme = %flow.scheme, over, start_s, stop_s, "flow begins");
}

/// Logs the end of the sender of flow number `index` (from 0).
fn tell_end(index: usize, counters: &SenderCounters) {
    let (active_s, completed_s) = (counters.active.as_secs_f64(), counters.completed.map(Time::as_secs_f64));
    let (retransmissions, timeouts) = (counters.retransmissions, counters.timeouts);
    tracing::info!(flow = index + 1, active_s, completed_s, retransmissions, timeouts, "flow is over");
}

/// Report of both ends of a flow after a run.
#[derive(Debug)]
pub struct FlowReport {
    counters: SenderCounters,
    samples: Samples,
    frames: Vec<DecodedFrame>,
    /// Journals of the sender and the receiver, each with the correction of its clock.
    journals: [(Journal, Correction); 2],
    punctuality: [Option<Punctuality>; 2],
}

impl FlowReport {
    /// Combines the reports of both ends, each with the correction of its clock.
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

    /// Returns the lateness of sender and receiver if they use the built-in transport.
    pub const fn punctuality(&self) -> [Option<Punctuality>; 2] {
        self.punctuality
    }

    /// Returns the sender's counters.
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Returns the decoded frames of a live source in time order.
    pub fn frames(&self) -> &[DecodedFrame] {
        &self.frames
    }

    /// Returns the logs of both ends, for [`crate::merged`].
    pub fn logs(&self) -> impl Iterator<Item = ClockedLog<'_>> {
        self.journals
            .iter()
            .flat_map(|(journal, correction)| journal.logs().map(move |log| ClockedLog { log, correction }))
    }

    /// Returns the sender's state in the sample at `at` of the sender's clock, if any.
    pub fn state(&self, at: Time) -> Option<FlowState> {
        self.samples.state(at)
    }

    /// Returns the maximum delay of the sender's samples.
    pub const fn latest(&self) -> Span {
        self.samples.latest()
    }

    /// Reports the samples of flow number `flow` (from 1), with the sender's state after every event in full logs.
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

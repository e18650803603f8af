//! Tests of both ends of a flow over loopback, in two threads.

use crate::Error;
use crate::clock::Clock;
use crate::guard::Wire;
use crate::journal::Journal;
use crate::live_tcp::{Milestone, decoded};
use crate::samples::Samples;
use crate::session::Session;
use crate::tcp_receiver::run_tcp_receiver;
use crate::tcp_sender::{TcpSenderOutcome, connect_tcp, run_tcp_sender};
use crate::udp_receiver::run_receiver;
use crate::udp_sender::run_sender;
use crate::urgency::{Scheduled, Urgency};
use congestion::{Ack, Control, Controller, FieldSink};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use transport::{
    Application, ApplicationSpec, Config, DecodedFrame, EncoderSpec, EncoderStats, Receiver, ReceiverStats,
    Sender, SenderStats,
};
use units::{Rate, Span, Time};

const LOOPBACK: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Result of one transfer over UDP.
struct Transfer {
    sender: SenderStats,
    encoder: Option<EncoderStats>,
    receiver: ReceiverStats,
    frames: Vec<DecodedFrame>,
    samples: Samples,
}

/// Runs `application` over UDP with a controller of the registry for `length`.
fn transfer(controller: &str, config: &Config, application: ApplicationSpec, length: Span) -> Transfer {
    let registry = congestion::Registry::builtin();
    let entry = registry.find(controller).unwrap();
    let parameters = congestion::Parameters::defaults(entry.parameters);
    let start = congestion::Start {
        now: Time::ZERO,
        mss_bytes: config.payload_bytes,
        initial_window_bytes: u64::from(config.initial_window * config.payload_bytes),
        seed: 1,
    };
    let half = entry.build_receiver(&parameters, &start).unwrap();
    let receiver = Receiver::new(config, half);
    run_both(entry.build(&parameters, &start).unwrap(), receiver, config, application, length)
}

fn run_both(
    controller: Box<dyn Controller>,
    mut receiver: Receiver,
    config: &Config,
    application: ApplicationSpec,
    length: Span,
) -> Transfer {
    let until = Time::ZERO + length;
    let application = Application::new(application, Time::ZERO, config.payload_bytes, 1);
    let mut sender = Sender::new(config, controller, application, Time::ZERO, until);
    let (near, far) = (UdpSocket::bind(LOOPBACK).unwrap(), UdpSocket::bind(LOOPBACK).unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    // Datagrams of a stranger must not disturb either end.
    let stranger = UdpSocket::bind(LOOPBACK).unwrap();
    for garbage in [&b""[..], b"hello", &[0xd0; 3000]] {
        stranger.send_to(garbage, far.local_addr().unwrap()).unwrap();
    }
    let (stop, mut samples) = (AtomicBool::new(false), Samples::every(Span::from_ms(50)));
    let session = Session { clock: Clock::start(), end: until, stop: &stop, board: None };
    let (mut sending, mut receiving) = (Journal::default(), Journal::default());
    thread::scope(|scope| {
        // The ends of every run are prioritized like this if permitted.
        scope.spawn(|| {
            let _punctual = Scheduled::punctual(Urgency::End);
            run_receiver(&far, &mut Wire::plain(), &mut receiver, config, session, &mut receiving).unwrap();
        });
        scope.spawn(|| {
            let _punctual = Scheduled::punctual(Urgency::End);
            run_sender(&near, &mut Wire::plain(), &mut sender, session, &mut samples, &mut sending).unwrap();
        });
    });
    let frames = std::iter::from_fn(|| receiver.take_frame()).collect();
    Transfer {
        sender: sender.stats(),
        encoder: sender.encoder_stats(),
        receiver: *receiver.stats(),
        frames,
        samples,
    }
}

fn fixed_transfer_arrives(controller: &str, config: &Config) {
    let (bytes, length) = (1_000_000, Span::from_secs(2));
    let done = transfer(controller, config, ApplicationSpec::Fixed { bytes }, length);
    assert_eq!(done.receiver.new_bytes, bytes);
    let completed = done.sender.completed_at.unwrap() - Time::ZERO;
    let data = bytes.div_ceil(u64::from(config.payload_bytes));
    let opener = u64::from(config.handshake);
    assert!(done.sender.packets_sent >= data + opener, "{:?}", done.sender);
    // Loopback loses nothing unless the receive buffer is full.
    assert!(done.receiver.packets <= done.sender.packets_sent);
    assert!(done.receiver.packets + done.sender.packets_lost >= done.sender.packets_sent);
    assert!(done.receiver.acks > 0 && done.receiver.acks <= done.receiver.packets + 40);
    // The integrals end with the transfer.
    assert!(done.sender.active > Span::ZERO && done.sender.active <= completed && done.sender.srtt_ns_ns > 0);
    assert!(done.samples.next() > Time::ZERO + length);
}

fn connect(address: SocketAddrV4, name: &str, seconds: u64) -> Result<TcpStream, Error> {
    let end = Time::from_ns(seconds * 1_000_000_000);
    let session = Session { clock: Clock::start(), end, stop: &AtomicBool::new(false), board: None };
    connect_tcp(address, name, session).map(|stream| stream.expect("answered"))
}

#[test]
#[ignore = "real time: make test-real"]
fn a_transfer_with_cubic_arrives_completely() {
    fixed_transfer_arrives("cubic", &Config::tcp());
}

#[test]
#[ignore = "real time: make test-real"]
fn a_paced_transfer_with_bbr_arrives_completely() {
    fixed_transfer_arrives("bbr", &Config::quic());
}

#[test]
#[ignore = "real time: make test-real"]
fn an_ecn_capable_transfer_arrives_completely() {
    fixed_transfer_arrives("cubic", &Config { ecn: transport::EcnMode::Ect0, ..Config::tcp() });
}

/// Controller with a constant pacing rate and no bursts.
#[derive(Debug)]
struct Paced(Rate);

impl Controller for Paced {
    fn on_ack(&mut self, _event: &Ack<'_>) {}
    fn control(&self) -> Control {
        Control { pacing: Some(self.0), ..Control::window(u64::MAX) }
    }
    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

/// Controller with a constant window. It sleeps at the 100th ACK and records the RTTs after that.
#[derive(Debug)]
struct Sleepy {
    acks: u32,
    seen: Arc<Mutex<Vec<Span>>>,
}

const NAP: Duration = Duration::from_millis(100);

impl Controller for Sleepy {
    fn on_ack(&mut self, event: &Ack<'_>) {
        self.acks += 1;
        if self.acks == 100 {
            thread::sleep(NAP);
        } else if self.acks > 100 {
            self.seen.lock().unwrap().extend(event.rtt);
        }
    }
    fn control(&self) -> Control {
        Control::window(60_000)
    }
    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

#[test]
#[ignore = "real time: make test-real"]
fn a_pause_of_the_sending_end_made_spikes_of_delay_and_bandwidth() {
    // Tests a fixed defect: all ACKs that came during the pause showed an RTT as long as the pause, and a delivery
    // within a moment.
    let longest = || {
        let seen = Arc::default();
        let (config, controller) = (Config::datagram(), Sleepy { acks: 0, seen: Arc::clone(&seen) });
        let receiver = Receiver::new(&config, None);
        let application = ApplicationSpec::Fixed { bytes: 1_000_000 };
        run_both(Box::new(controller), receiver, &config, application, Span::from_ms(600));
        let seen = seen.lock().unwrap();
        assert!(seen.len() > 50, "{}", seen.len());
        seen.iter().copied().max().unwrap()
    };
    // A busy machine may also delay the receiver.
    needs::punctual(longest, |longest| {
        (*longest >= Span::from_ms(50)).then(|| format!("an RTT of {longest:?}"))
    });
}

#[test]
#[ignore = "real time: make test-real"]
fn being_late_does_not_lower_a_paced_rate() {
    let paced = || {
        let (config, controller) = (Config::datagram(), Paced(Rate::from_mbps(20.0)));
        let receiver = Receiver::new(&config, None);
        let done =
            run_both(Box::new(controller), receiver, &config, ApplicationSpec::Greedy, Span::from_ms(1000));
        done.receiver.new_bytes as f64 * 8.0 / 20e6
    };
    // Every packet needs its own wake-up, and each wake-up is late. Lost time would add up. A busy machine may pause
    // for 0.2 s.
    let share = needs::punctual(paced, |share| (*share < 0.8).then(|| format!("{share} of the rate")));
    assert!(share < 1.01, "{share}");
}

#[test]
#[ignore = "real time: make test-real"]
fn a_stop_ends_both_ends_soon() {
    let (near, far) = (UdpSocket::bind(LOOPBACK).unwrap(), UdpSocket::bind(LOOPBACK).unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    let (stop, config) = (AtomicBool::new(false), Config::tcp());
    let session =
        Session { clock: Clock::start(), end: Time::ZERO + Span::from_secs(60), stop: &stop, board: None };
    thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let mut receiver = Receiver::new(&config, None);
            run_receiver(&far, &mut Wire::plain(), &mut receiver, &config, session, &mut Journal::default())
                .unwrap();
            *receiver.stats()
        });
        thread::sleep(Duration::from_millis(20));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(receiving.join().unwrap(), ReceiverStats::default());
    });
    assert!(session.clock.now() < Time::ZERO + Span::from_secs(5));
}

/// Returns the result of one transfer over kernel TCP, and the progress of its stream.
fn tcp_transfer(application: ApplicationSpec, length: Span) -> (TcpSenderOutcome, Vec<Milestone>) {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("an IPv4 socket") };
    let stream = connect(address, "reno", 2).unwrap();
    let (stop, mut samples) = (AtomicBool::new(false), Samples::every(Span::from_ms(50)));
    let application = Application::new(application, Time::ZERO, 1448, 1);
    let session = Session { clock: Clock::start(), end: Time::ZERO + length, stop: &stop, board: None };
    let mut arrived = Vec::new();
    let sent = thread::scope(|scope| {
        let noted = Some(&mut arrived);
        let receiving = scope.spawn(|| run_tcp_receiver(&listener, session, noted).unwrap());
        let sent = run_tcp_sender(&stream, application, Time::ZERO, session, &mut samples).unwrap();
        drop(stream);
        assert!(samples.next() > session.end - Span::from_ms(100));
        receiving.join().unwrap();
        sent
    });
    (sent, arrived)
}

fn last(arrived: &[Milestone]) -> u64 {
    arrived.last().map_or(0, |step| step.bytes)
}

#[test]
#[ignore = "real time: make test-real"]
fn a_tcp_transfer_of_fixed_size_arrives_completely() {
    let (bytes, length) = (1_000_000, Span::from_secs(2));
    let (sent, received) = tcp_transfer(ApplicationSpec::Fixed { bytes }, length);
    assert_eq!((sent.bytes_written, last(&received)), (bytes, bytes));
    assert!(sent.completed_at.is_some(), "{sent:?}");
    assert!(sent.active > length / 2 && sent.cwnd_byte_ns > 0 && sent.srtt_ns_ns > 0);
}

#[test]
#[ignore = "real time: make test-real"]
fn a_greedy_tcp_flow_falls_silent_when_its_time_is_up() {
    let (sent, received) = tcp_transfer(ApplicationSpec::Greedy, Span::from_secs(1));
    let received = last(&received);
    assert!(received > 1_000_000 && sent.bytes_written >= received, "{sent:?} {received}");
    assert_eq!(sent.completed_at, None);
}

/// Checks 50 frames/s, which arrive over loopback as soon as they are written. The delay depends on the load of the
/// machine: it is a fraction of a second.
fn assert_frames_arrive(written: u64, frames: &[DecodedFrame]) {
    assert!((10..=50).contains(&written), "{written} frames in a second");
    assert!(frames.len() as u64 + 2 >= written, "{} of {written} frames", frames.len());
    let numbers: Vec<u32> = frames.iter().map(|frame| frame.mark.number).collect();
    assert_eq!(numbers, (1..=frames.len() as u32).collect::<Vec<_>>());
    let mut delays: Vec<Span> =
        frames.iter().map(|frame| frame.decoded_at - frame.mark.captured_at).collect();
    delays.sort_unstable();
    let median = delays[delays.len() / 2];
    assert!(!median.is_zero() && median < Span::from_ms(200), "median {median:?}");
}

fn live() -> ApplicationSpec {
    ApplicationSpec::Encoder(EncoderSpec { fps: 50.0, ..EncoderSpec::default() })
}

#[test]
#[ignore = "real time: make test-real"]
fn frames_of_a_live_source_are_decoded_at_the_other_end() {
    let done = transfer("cubic", &Config::datagram(), live(), Span::from_ms(1000));
    assert_frames_arrive(done.encoder.map_or(0, |stats| stats.frames), &done.frames);
}

#[test]
#[ignore = "real time: make test-real"]
fn frames_over_tcp_arrive_with_their_last_byte() {
    let (sent, received) = tcp_transfer(live(), Span::from_ms(1000));
    let frames = decoded(&sent.frames, &received);
    assert_frames_arrive(sent.encoder.map_or(0, |stats| stats.frames), &frames);
    // An RTT of microseconds allows every rate.
    let bytes: u64 = sent.frames.iter().map(|frame| u64::from(frame.mark.bytes)).sum();
    assert_eq!((bytes, sent.frames.last().map(|frame| frame.end)), (sent.bytes_written, Some(bytes)));
    assert!(bytes > 2_000_000 / 8, "{bytes} bytes at up to 2.5 Mbit/s");
}

#[test]
fn an_unknown_congestion_control_is_named_with_those_that_exist() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("an IPv4 socket") };
    let refusal = connect(address, "nonesuch", 1).unwrap_err().to_string();
    assert!(refusal.starts_with("congestion control nonesuch: not "), "{refusal}");
    assert!(refusal.contains("reno"), "{refusal}");
}

#[test]
fn nobody_listening_is_one_line() {
    let free = TcpListener::bind(LOOPBACK).unwrap().local_addr().unwrap();
    let SocketAddr::V4(address) = free else { panic!("an IPv4 socket") };
    let refusal = connect(address, "reno", 1).unwrap_err().to_string();
    assert!(refusal.starts_with(&format!("cannot connect to {address}: ")), "{refusal}");
}

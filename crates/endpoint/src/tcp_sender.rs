//! Sender of a kernel TCP flow: bulk data, or an application's writes.

use crate::Error;
use crate::board::Poster;
use crate::live_tcp::{StreamedFrame, capture_frames};
use crate::samples::Samples;
use crate::session::Session;
use crate::tcp_info::TcpInfo;
use crate::timer::Waiter;
use crate::{CHUNK_BYTES, STOP_CHECK};
use congestion::FieldSink;
use measure::{MediaCounters, SenderCounters};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt};
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use transport::{Application, EncoderStats};
use units::{Span, Time};

/// Maximum number of writes between two checks of the time.
const CHUNKS_AT_ONCE: usize = 8;

/// Data to write; the content does not matter.
static FILLER: [u8; CHUNK_BYTES] = [0; CHUNK_BYTES];

/// Interval between the readings for the integrals.
const READING_INTERVAL: Span = Span::from_ms(10);

/// Congestion controls that the kernel allows in this network namespace.
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
/// Congestion controls that the kernel has.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Counters of a TCP sender. The integrals are sums over readings every 10 ms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpSenderOutcome {
    /// Number of bytes that the socket accepted.
    pub(crate) bytes_written: u64,
    /// Number of retransmitted segments.
    pub(crate) retransmissions: u64,
    /// Number of retransmission timeouts; before Linux 6.7 only those with effects in a reading.
    pub(crate) timeouts: u64,
    /// Number of loss episodes in the readings.
    pub(crate) loss_episodes: u64,
    /// Integral of the congestion window over time, byte * ns.
    pub(crate) cwnd_byte_ns: u128,
    /// Integral of bytes in flight over time, byte * ns.
    pub(crate) in_flight_byte_ns: u128,
    /// Integral of the smoothed RTT over time, ns * ns.
    pub(crate) srtt_ns_ns: u128,
    /// Time range of the integrals.
    pub(crate) active: Span,
    /// Time of the first reading after the last byte of a finite transfer was acknowledged.
    pub(crate) completed_at: Option<Time>,
    /// Statistics of a live encoder, if any.
    pub(crate) encoder: Option<EncoderStats>,
    /// Frames that the encoder wrote.
    pub(crate) frames: Vec<StreamedFrame>,
}

impl TcpSenderOutcome {
    /// Returns the counters of flow number `index` (from 0) for the meter, with the encoder's counters `media`.
    pub(crate) fn counters(&self, index: usize, media: Option<MediaCounters>) -> SenderCounters {
        SenderCounters {
            flow: index as u32 + 1,
            retransmissions: Some(self.retransmissions),
            timeouts: Some(self.timeouts),
            loss_episodes: Some(self.loss_episodes),
            cwnd_byte_ns: self.cwnd_byte_ns,
            in_flight_byte_ns: self.in_flight_byte_ns,
            srtt_ns_ns: self.srtt_ns_ns,
            active: self.active,
            cwnd_active: self.active,
            srtt_active: self.active,
            accepted_bytes: Some(self.bytes_written),
            completed: self.completed_at,
            media,
            // Delivery rate samples of the kernel are not kept, and readings can miss loss episodes.
            ..SenderCounters::default()
        }
    }
}

/// Connects with the named congestion control. Returns `None` if the session ends before the other end answers, for
/// example if a full queue drops every SYN.
///
/// # Errors
/// Returns an error if the congestion control is unavailable, with the available ones, or if the address cannot be
/// reached.
pub(crate) fn connect_tcp(
    address: SocketAddrV4,
    congestion_control: &str,
    session: Session<'_>,
) -> Result<Option<TcpStream>, Error> {
    let failed = |source: io::Error| Error::Connect { address, source };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let stream =
        socket(AddressFamily::Inet, SockType::Stream, flags, None).map_err(|error| failed(error.into()))?;
    setsockopt(&stream, sockopt::TcpCongestion, &OsString::from(congestion_control))
        .map_err(|error| refusal(congestion_control, error))?;
    match connect(stream.as_raw_fd(), &SockaddrIn::from(address)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(failed(error.into())),
    }
    let patience =
        PollTimeout::try_from(Duration::from_nanos(STOP_CHECK.as_ns())).unwrap_or(PollTimeout::ZERO);
    let stream = TcpStream::from(stream);
    loop {
        let mut descriptors = [PollFd::new(stream.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut descriptors, patience) {
            Ok(0) | Err(Errno::EINTR) if !session.is_over(session.clock.now()) => {}
            Ok(0) | Err(Errno::EINTR) => return Ok(None),
            Ok(_) => break,
            Err(error) => return Err(failed(error.into())),
        }
    }
    match stream.take_error() {
        Ok(None) => Ok(Some(stream)),
        Ok(Some(error)) | Err(error) => Err(failed(error)),
    }
}

/// Returns the error for an unavailable congestion control.
fn refusal(name: &str, error: Errno) -> Error {
    let listed = |file: &str| std::fs::read_to_string(file).unwrap_or_default().trim().replace(' ', ", ");
    let name = name.to_owned();
    match error {
        Errno::ENOENT => Error::NotOffered { name, available: listed(AVAILABLE) },
        Errno::EPERM => Error::NotPermitted { name, allowed: listed(ALLOWED) },
        _ => Error::CongestionControl { name, source: error.into() },
    }
}

/// Writes the data of `application` to `stream`, from `start` on.
///
/// At the end of the application, the stream is shut down. At the end of the session, the stream stays open; dropping
/// it resets the connection, so that nothing more leaves.
///
/// # Errors
/// Returns the error of a system call.
pub(crate) fn run_tcp_sender(
    stream: &TcpStream,
    mut application: Application,
    start: Time,
    session: Session<'_>,
    samples: &mut Samples,
) -> io::Result<TcpSenderOutcome> {
    let Session { clock, end, board, .. } = session;
    let mut poster = Poster::to(board);
    stream.set_nonblocking(true)?;
    // Writes of an application leave at once, as in the built-in transport. Bulk data fills its segments.
    stream.set_nodelay(application.next_change().is_finite())?;
    let mut waiter = Waiter::new(clock)?;
    waiter.watch(stream, 0, EpollFlags::EPOLLOUT | EpollFlags::EPOLLET)?;
    let mut readings = Readings::new(start);
    let (is_live, mut frames) = (application.is_live(), Vec::new());
    let mut flow = Writer { stream, total: application.total(), written: 0, shut: false, is_full: false };
    while !session.is_stopped() {
        let now = clock.now();
        if now >= end {
            break;
        }
        let mut wake = start;
        if now >= start {
            if is_live && application.next_change() <= now {
                let info = TcpInfo::read(stream)?;
                capture_frames(now, &mut application, &info, flow.written, &mut frames);
            }
            let state = match flow.write(now, &mut application) {
                // The other end may finish a moment earlier.
                Err(error) if is_reset(&error) && clock.now() + STOP_CHECK >= end => break,
                result => result?,
            };
            if readings.next <= now || samples.next() <= now {
                let info = TcpInfo::read(stream)?;
                readings.take(now, &info, flow.shut);
                samples.take_due(now, |sink| fields(&info, &application, sink));
                poster.put_due(now, |sink| fields(&info, &application, sink));
            }
            wake = readings.next.min(samples.next()).min(match state {
                // A live source makes frames at its own times.
                Writing::Blocked if is_live => application.next_change(),
                Writing::Blocked | Writing::Finished => Time::NEVER,
                Writing::Idle => application.next_change(),
                Writing::More => now,
            });
        }
        waiter.wait(wake.min(end).min(now + STOP_CHECK), |_, _| flow.is_full = false)?;
    }
    let ended = clock.now().min(end);
    let info = TcpInfo::read(stream)?;
    readings.take(ended, &info, flow.shut);
    samples.take_due(ended, |sink| fields(&info, &application, sink));
    let encoder = application.encoder_stats();
    let outcome = TcpSenderOutcome { bytes_written: flow.written, encoder, frames, ..readings.outcome };
    if !flow.shut {
        setsockopt(stream, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 })?;
    }
    Ok(outcome)
}

fn fields(info: &TcpInfo, application: &Application, sink: &mut dyn FieldSink) {
    info.fields(sink);
    if let Some(bitrate) = application.bitrate() {
        sink.put("encoder_rate", "Mbit/s", bitrate.mbps());
    }
}

fn is_reset(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

/// Write side of the stream.
struct Writer<'a> {
    stream: &'a TcpStream,
    /// Total bytes of the application, if it ends.
    total: Option<u64>,
    written: u64,
    /// True if everything is written and the stream is shut down.
    shut: bool,
    /// True if the socket took no more and has not become writable since. Writing again too early finds room in the
    /// last buffer; the socket would then hold as much as the window allows, not `tcp_wmem`.
    is_full: bool,
}

/// Next event that writing waits for.
enum Writing {
    /// Room in the socket.
    Blocked,
    /// Data of the application.
    Idle,
    /// No event; the caller may do other work first.
    More,
    /// No event, since everything is written.
    Finished,
}

impl Writer<'_> {
    /// Writes the available data, at most a few chunks.
    fn write(&mut self, now: Time, application: &mut Application) -> io::Result<Writing> {
        if self.is_full {
            return Ok(Writing::Blocked);
        }
        for _ in 0..CHUNKS_AT_ONCE {
            if self.shut {
                return Ok(Writing::Finished);
            }
            let available = application.available(now, self.written).min(CHUNK_BYTES as u64);
            if available == 0 {
                if self.total.is_none_or(|total| self.written < total) {
                    return Ok(Writing::Idle);
                }
                self.stream.shutdown(Shutdown::Write)?;
                self.shut = true;
                continue;
            }
            let mut stream = self.stream;
            match stream.write(&FILLER[..available as usize]) {
                Ok(count) => self.written += count as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.is_full = true;
                    return Ok(Writing::Blocked);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Writing::More)
    }
}

/// Converter of readings into counters and integrals.
struct Readings {
    next: Time,
    last: Time,
    in_loss_episode: bool,
    in_timeout_recovery: bool,
    outcome: TcpSenderOutcome,
}

impl Readings {
    fn new(start: Time) -> Self {
        Self {
            next: start,
            last: start,
            in_loss_episode: false,
            in_timeout_recovery: false,
            outcome: TcpSenderOutcome::default(),
        }
    }

    /// Adds the reading `info`, which counts for the time since the last reading.
    fn take(&mut self, now: Time, info: &TcpInfo, shut: bool) {
        let span = now - self.last;
        (self.last, self.next) = (self.last.max(now), now + READING_INTERVAL);
        let outcome = &mut self.outcome;
        let ns = u128::from(span.as_ns());
        outcome.cwnd_byte_ns += u128::from(info.window_packets() * info.mss_bytes()) * ns;
        outcome.in_flight_byte_ns += u128::from(info.in_flight_packets() * info.mss_bytes()) * ns;
        outcome.srtt_ns_ns += u128::from(info.srtt().as_ns()) * ns;
        outcome.active += span;
        outcome.retransmissions = info.retransmissions();
        let began = |now: bool, before: &mut bool| u64::from(now && !std::mem::replace(before, now));
        outcome.loss_episodes += began(info.in_loss_episode(), &mut self.in_loss_episode);
        let timeouts_seen = began(info.in_timeout_recovery(), &mut self.in_timeout_recovery);
        outcome.timeouts = info.timeouts().unwrap_or(outcome.timeouts + timeouts_seen);
        if shut && outcome.completed_at.is_none() && info.is_done() {
            outcome.completed_at = Some(now);
        }
    }
}

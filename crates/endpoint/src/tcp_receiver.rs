//! Receiver of a kernel TCP flow, which discards the data.

use crate::live_tcp::Milestone;
use crate::session::Session;
use crate::sys::set_receive_threshold;
use crate::timer::Waiter;
use crate::{CHUNK_BYTES, STOP_CHECK};
use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{MsgFlags, recv};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use units::{Span, Time};

/// Reduces wake-ups of a bulk data reader: the kernel wakes the reader only for a larger amount. At high rates a
/// wake-up for each segment costs more than the segment. The amount is the data of half a millisecond. ACKs do not wait
/// for it, since the kernel sends them as if the data had been read.
#[derive(Debug)]
struct FewerWakes {
    since: Time,
    bytes: u64,
    threshold: usize,
}

impl FewerWakes {
    /// Time between two adaptations.
    const INTERVAL: Span = Span::from_ms(10);
    /// Number of parts of an interval's bytes; one part may wait.
    const PARTS: u64 = 20;
    /// Minimum amount, bytes; below it the reader wakes up for every segment. It is far below the smallest receive
    /// window.
    const LEAST: u64 = 8 << 10;
    /// Maximum amount, bytes.
    const MOST: u64 = 128 << 10;

    const fn new(now: Time) -> Self {
        Self { since: now, bytes: 0, threshold: 1 }
    }

    fn adapt(&mut self, stream: &TcpStream, now: Time, bytes: u64) -> io::Result<()> {
        let elapsed = now - self.since;
        if elapsed < Self::INTERVAL {
            return Ok(());
        }
        let share = (bytes - self.bytes) * Self::INTERVAL.as_ns() / elapsed.as_ns() / Self::PARTS;
        let wanted = if share < Self::LEAST { 1 } else { share.min(Self::MOST) as usize };
        (self.since, self.bytes) = (now, bytes);
        if wanted / 2 > self.threshold || wanted < self.threshold / 2 {
            self.threshold = wanted;
            set_receive_threshold(stream, wanted)?;
        }
        Ok(())
    }
}

/// Accepts one connection and discards its data until it ends or the session is over. For a live flow, `arrived`
/// records the progress of the stream.
///
/// # Errors
/// Returns the error of a system call.
pub(crate) fn run_tcp_receiver(
    listener: &TcpListener,
    session: Session<'_>,
    mut arrived: Option<&mut Vec<Milestone>>,
) -> io::Result<()> {
    let Session { clock, end, .. } = session;
    listener.set_nonblocking(true)?;
    let mut waiter = Waiter::new(clock)?;
    waiter.watch(listener, 0, EpollFlags::EPOLLIN)?;
    let stream = loop {
        let now = clock.now();
        if session.is_over(now) {
            return Ok(());
        }
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        waiter.wait(end.min(now + STOP_CHECK), |_, _| {})?;
    };
    waiter.change(listener, 0, EpollFlags::empty())?;
    waiter.watch(&stream, 1, EpollFlags::EPOLLIN)?;
    let (mut bytes, mut room) = (0, vec![0; CHUNK_BYTES]);
    let mut wakes = FewerWakes::new(clock.now());
    loop {
        let now = clock.now();
        if session.is_over(now) {
            return Ok(());
        }
        if arrived.is_none() {
            wakes.adapt(&stream, now, bytes)?;
        }
        // With truncation, TCP discards the data without copying.
        match recv(stream.as_raw_fd(), &mut room, MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT) {
            // The sender resets the connection at the end of its time.
            Ok(0) | Err(Errno::ECONNRESET) => return Ok(()),
            Ok(count) => {
                bytes += count as u64;
                if let Some(arrived) = &mut arrived {
                    arrived.push(Milestone { at: now, bytes });
                }
                if count < CHUNK_BYTES {
                    waiter.wait(end.min(now + STOP_CHECK), |_, _| {})?;
                }
            }
            Err(Errno::EAGAIN) => waiter.wait(end.min(now + STOP_CHECK), |_, _| {})?,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

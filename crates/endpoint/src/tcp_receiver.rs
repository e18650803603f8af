//! The receiving end of a flow of the kernel's TCP: a sink.

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

/// Lets the kernel wake a reader of bulk data only when there is something worth reading: at high rates a wake-up for
/// each segment costs more than the segment. The amount is what arrives in half a millisecond, and ACKs do not wait for
/// it: the kernel sends them as if the data had been read.
#[derive(Debug)]
struct FewerWakes {
    since: Time,
    bytes: u64,
    threshold: usize,
}

impl FewerWakes {
    /// Between two adaptations.
    const INTERVAL: Span = Span::from_ms(10);
    /// Of the bytes of an interval, one part in this many may wait.
    const PARTS: u64 = 20;
    /// Below this the reader is woken for everything; far below the smallest receive window.
    const LEAST: u64 = 8 << 10;
    /// Never more than this.
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

/// Accepts one connection and discards what it brings until it ends, or the session is over. For a live flow `arrived`
/// keeps how many bytes had come when.
///
/// # Errors
/// What the sockets refused.
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
        // Truncated at once: TCP throws the data away without copying it.
        match recv(stream.as_raw_fd(), &mut room, MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT) {
            // The sender resets the connection when its time is up.
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

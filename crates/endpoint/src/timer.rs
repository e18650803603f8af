//! Precise waiting for descriptors and for a point in time, with an epoll set and an absolute timer.
//!
//! The kernel rounds timeouts up to its clock's granularity, whole milliseconds for `epoll_wait(2)` and `poll(2)`,
//! which would distort pacing. A timer descriptor (`timerfd_create(2)`) has no such granularity.

use crate::clock::Clock;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId as TimerClock, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;
use units::Time;

/// Number of the timer's event; descriptors must use other numbers.
const TIMER: u64 = u64::MAX;

/// Epoll set with a timer.
#[derive(Debug)]
pub struct Waiter {
    epoll: Epoll,
    timer: TimerFd,
    clock: Clock,
    /// Time at which the timer fires.
    armed: Time,
}

impl Waiter {
    /// Creates an empty set with a timer of `clock`.
    ///
    /// # Errors
    /// Returns the error of a system call, as the other functions here.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(TimerClock::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        // The timer is edge-triggered. Setting it again clears the event, so nothing must be read.
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER))?;
        Ok(Self { epoll, timer, clock, armed: Time::NEVER })
    }

    /// Watches `descriptor` for `events`, which are reported with `number`.
    pub fn watch(&self, descriptor: impl AsFd, number: u64, events: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.add(descriptor, EpollEvent::new(events, number))?)
    }

    /// Changes the watched events of a descriptor.
    pub fn change(&self, descriptor: impl AsFd, number: u64, events: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.modify(descriptor, &mut EpollEvent::new(events, number))?)
    }

    /// Waits until an event of a descriptor or until `until`. Calls `ready` with the numbers of the descriptors and
    /// their events. [`Time::NEVER`] waits only for descriptors.
    ///
    /// The function may return earlier, since an earlier timer is not postponed. This saves a system call whenever a
    /// timeout moves on.
    pub fn wait(&mut self, until: Time, mut ready: impl FnMut(u64, EpollFlags)) -> io::Result<()> {
        self.arm(until)?;
        self.look(EpollTimeout::NONE, &mut ready)
    }

    /// Sleeps until `until` regardless of descriptors, then reports their events.
    pub fn sleep(&mut self, until: Time, mut ready: impl FnMut(u64, EpollFlags)) -> io::Result<()> {
        let at = TimeSpec::from_duration(Duration::from_nanos(self.clock.monotonic_ns_of(until)));
        match clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &at) {
            Ok(_) | Err(Errno::EINTR) => self.look(EpollTimeout::ZERO, &mut ready),
            Err(error) => Err(error.into()),
        }
    }

    fn look(&mut self, timeout: EpollTimeout, ready: &mut dyn FnMut(u64, EpollFlags)) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); 16];
        let count = match self.epoll.wait(&mut events, timeout) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        for event in &events[..count] {
            if event.data() == TIMER {
                self.armed = Time::NEVER;
            } else {
                ready(event.data(), event.events());
            }
        }
        Ok(())
    }

    fn arm(&mut self, until: Time) -> io::Result<()> {
        if until >= self.armed {
            return Ok(());
        }
        self.armed = until;
        // Zero would disarm the timer.
        let at = Duration::from_nanos(self.clock.monotonic_ns_of(until).max(1));
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        Ok(self.timer.set(Expiration::OneShot(TimeSpec::from_duration(at)), flags)?)
    }
}

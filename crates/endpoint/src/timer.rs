//! Waiting for descriptors and for a point in time, precisely: an epoll set with an absolute timer in it.
//!
//! The kernel rounds timeouts up to its clock's granularity, whole milliseconds as far as `epoll_wait(2)` and `poll(2)`
//! are concerned, which would distort pacing. A timer that is a descriptor (`timerfd_create(2)`) has no such grain.

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

/// What the timer's event carries; descriptors must use other numbers.
const TIMER: u64 = u64::MAX;

/// An epoll set and a timer.
#[derive(Debug)]
pub struct Waiter {
    epoll: Epoll,
    timer: TimerFd,
    clock: Clock,
    /// When the timer is set to fire.
    armed: Time,
}

impl Waiter {
    /// An empty set, with a timer of `clock`.
    ///
    /// # Errors
    /// Like those of the other functions here: what the kernel refused.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(TimerClock::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        // Edge-triggered: setting it anew clears it, nothing has to be read.
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER))?;
        Ok(Self { epoll, timer, clock, armed: Time::NEVER })
    }

    /// Watches `descriptor` for `events`; they are reported with `number`.
    pub fn watch(&self, descriptor: impl AsFd, number: u64, events: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.add(descriptor, EpollEvent::new(events, number))?)
    }

    /// Changes what a watched descriptor is watched for.
    pub fn change(&self, descriptor: impl AsFd, number: u64, events: EpollFlags) -> io::Result<()> {
        Ok(self.epoll.modify(descriptor, &mut EpollEvent::new(events, number))?)
    }

    /// Waits until something happens to a descriptor or `until` has come; calls `ready` with the numbers of the
    /// descriptors and their events. [`Time::NEVER`] waits for descriptors alone. May return earlier: a timer that was
    /// set before is not put off, which saves a system call whenever a timeout moves on.
    pub fn wait(&mut self, until: Time, mut ready: impl FnMut(u64, EpollFlags)) -> io::Result<()> {
        self.arm(until)?;
        self.look(EpollTimeout::NONE, &mut ready)
    }

    /// Sleeps until `until` whatever happens to descriptors, then reports what has.
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

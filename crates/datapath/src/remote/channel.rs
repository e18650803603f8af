//! The socket beside those of the flows: over it the sides ask each other for the time, before, during and after a run.

use super::port::Port;
use crate::Error;
use endpoint::{Clock, Guarded, Kind, monotonic_ns};
use endpoint::{ENVELOPE_BYTES, IP_UDP_BYTES, MAX_DATAGRAM_BYTES, word};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use units::Time;

/// Longest time without a look at what is asked of the thread.
const PATIENCE: Duration = Duration::from_millis(20);

/// A question and its answer: four times, ns, the first and the last of the clock of the side that asked, the others of the
/// one that answered (RFC 5905, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The question left.
    pub asked_ns: u64,
    /// It arrived.
    pub heard_ns: u64,
    /// The answer left.
    pub answered_ns: u64,
    /// It arrived.
    pub returned_ns: u64,
}

/// Longest round trip that two machines are compared over, ns.
const MOST_TRIP_NS: i128 = 60_000_000_000;

impl Exchange {
    /// How far the other clock is ahead (theta of RFC 5905, section 8) and the round trip, ns.
    ///
    /// # Errors
    /// Two of the four times are the other side's word. What is wrong: by them the round trip is shorter than none, longer
    /// than the time from question to answer, or longer than a minute.
    pub fn compared(&self) -> Result<(i64, i64), Error> {
        let [asked, heard, answered, returned] =
            [self.asked_ns, self.heard_ns, self.answered_ns, self.returned_ns].map(i128::from);
        let passed = returned - asked;
        let trip = passed - (answered - heard);
        let numbers = i64::try_from(i128::midpoint(heard - asked, answered - returned))
            .ok()
            .zip(i64::try_from(trip).ok())
            .filter(|_| (0..=passed.min(MOST_TRIP_NS)).contains(&trip));
        numbers.ok_or_else(|| {
            let s = |ns: i128| ns as f64 / 1e9;
            Error::Exchange { trip_s: s(trip), passed_s: s(passed), most_s: s(MOST_TRIP_NS) }
        })
    }
}

/// What a channel's thread shares with who has it.
#[derive(Debug, Default)]
struct Shared {
    /// Between two questions, ns; zero: none are asked.
    interval_ns: AtomicU64,
    ends: AtomicBool,
    asked: AtomicU64,
    /// Whether the scheduler prefers the thread to ordinary programs.
    real_time: AtomicBool,
    exchanges: Mutex<Vec<Exchange>>,
}

/// A channel at work in a thread of its own: it answers, and asks as often as it is told to.
#[derive(Debug)]
pub(super) struct Channel {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<Guarded>>>,
}

impl Channel {
    /// Begins to answer.
    ///
    /// # Errors
    /// One line: a thread that cannot be started.
    pub(super) fn start(port: Port) -> Result<Self, Error> {
        let shared = Arc::<Shared>::default();
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("channel".to_owned())
            .spawn(move || {
                let punctual = endpoint::Scheduled::punctual(endpoint::Urgency::Path);
                own.real_time.store(punctual.is_granted(), Ordering::Relaxed);
                Worker { port, clock: Clock::starting_at(0), pending: Vec::new() }.run(&own)
            })
            .map_err(|error| Error::system("cannot start a thread", error))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// From now on asks so often; not at all with `None`.
    pub(super) fn ask_every(&self, interval: Option<Duration>) {
        let ns = interval.map_or(0, |interval| interval.as_nanos() as u64);
        self.shared.interval_ns.store(ns, Ordering::Relaxed);
    }

    /// Whether the scheduler prefers its thread, and those of a run, to ordinary programs.
    pub(super) fn is_real_time(&self) -> bool {
        self.shared.real_time.load(Ordering::Relaxed)
    }

    /// The exchanges since the last call, and how many questions there were in all.
    pub(super) fn take(&self) -> (Vec<Exchange>, u64) {
        let mut exchanges = self.shared.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut exchanges), self.shared.asked.load(Ordering::Relaxed))
    }

    /// Ends the thread; what was not the peer's.
    ///
    /// # Errors
    /// One line: what the socket refused.
    pub(super) fn end(&mut self) -> Result<Guarded, Error> {
        self.shared.ends.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return Ok(Guarded::default()) };
        let ended = thread.join().map_err(|_| Error::Panicked("the channel's thread"))?;
        ended.map_err(|error| Error::system("channel", error))
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let _ended = self.end();
    }
}

struct Worker {
    port: Port,
    /// Its times are those of [`monotonic_ns`].
    clock: Clock,
    /// Questions without an answer yet: number and when they left.
    pending: Vec<(u64, u64)>,
}

/// Questions that are remembered.
const MOST_PENDING: usize = 4096;

impl Worker {
    fn run(mut self, shared: &Shared) -> io::Result<Guarded> {
        let mut next_ns = 0;
        while !shared.ends.load(Ordering::Relaxed) {
            let interval_ns = shared.interval_ns.load(Ordering::Relaxed);
            let now_ns = monotonic_ns();
            let mut wait = PATIENCE;
            if interval_ns > 0 {
                if now_ns >= next_ns {
                    next_ns = now_ns + interval_ns;
                    shared.asked.fetch_add(1, Ordering::Relaxed);
                    self.ask()?;
                }
                wait = wait.min(Duration::from_nanos(next_ns.saturating_sub(monotonic_ns())));
            }
            self.port.wait(wait)?;
            let exchanges = self.attend()?;
            shared.exchanges.lock().unwrap_or_else(PoisonError::into_inner).extend(exchanges);
        }
        Ok(self.port.guard.guarded())
    }

    fn ask(&mut self) -> io::Result<()> {
        let asked = self.port.send(Kind::Ask, &[0; 2])?;
        if self.pending.len() == MOST_PENDING {
            self.pending.remove(0);
        }
        self.pending.push(asked);
        Ok(())
    }

    /// Answers questions; what was answered to own questions.
    fn attend(&mut self) -> io::Result<Vec<Exchange>> {
        let Self { port, clock, pending } = self;
        let now = Time::from_ns(monotonic_ns());
        let (mut questions, mut exchanges) = (Vec::new(), Vec::new());
        port.receive(|datagram, _, taken| {
            let arrived_ns = datagram.arrived(*clock, now.max(Time::from_ns(monotonic_ns()))).as_ns();
            match taken.kind {
                Kind::Ask => questions.push((taken.number, arrived_ns, word(&padded(&taken.body), 0) as u16)),
                Kind::Answer => {
                    let number = word(&taken.body, 0);
                    if let Some(at) = pending.iter().position(|(asked, _)| *asked == number) {
                        let (_, asked_ns) = pending.remove(at);
                        exchanges.push(Exchange {
                            asked_ns,
                            heard_ns: word(&taken.body, 8),
                            answered_ns: taken.stamp_ns,
                            returned_ns: arrived_ns,
                        });
                    }
                }
                _ => {}
            }
        })?;
        for (number, heard_ns, wanted) in questions {
            let mut body = [number.to_le_bytes(), heard_ns.to_le_bytes()].concat();
            let whole = (usize::from(wanted).min(MAX_DATAGRAM_BYTES))
                .saturating_sub(IP_UDP_BYTES as usize + ENVELOPE_BYTES);
            body.resize(body.len().max(whole), 0);
            port.send(Kind::Answer, &body)?;
        }
        Ok(exchanges)
    }
}

/// The first bytes of a question, of which two count.
fn padded(body: &[u8]) -> [u8; 8] {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(body.iter().take(2)) {
        *to = *from;
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asked at 1000 s and returned 30 ms later, by the clock of the side that asks.
    fn exchange(heard_ns: u64, answered_ns: u64) -> Exchange {
        let asked_ns = 1_000_000_000_000;
        Exchange { asked_ns, heard_ns, answered_ns, returned_ns: asked_ns + 30_000_000 }
    }

    #[test]
    fn a_round_trip_is_what_passed_here_less_what_passed_there() {
        let ahead = |ahead_ns: u64, took_ns: u64| {
            let heard_ns = 1_000_010_000_000 + ahead_ns;
            exchange(heard_ns, heard_ns + took_ns).compared()
        };
        assert_eq!(ahead(5_000_000, 10_000_000).unwrap(), (5_000_000, 20_000_000));
        assert_eq!(ahead(1 << 40, 0).unwrap(), ((1 << 40) - 5_000_000, 30_000_000));
        assert_eq!(ahead(0, 30_000_000).unwrap().1, 0);
    }

    #[test]
    fn a_round_trip_that_the_other_side_makes_up_is_refused() {
        // 3e9 s: the run waited for 286 years. Below zero, too, and times that are no `i64`.
        let cases =
            [(4 * 10_u64.pow(18), 10_u64.pow(18)), (5, 6 + 30_000_000), (6, 5), (u64::MAX, 0), (0, u64::MAX)];
        for (heard_ns, answered_ns) in cases {
            let why = exchange(heard_ns, answered_ns).compared().unwrap_err().to_string();
            assert!(why.contains("while 0.030 s passed here: allowed is 0 to what passed here"), "{why}");
        }
        let why = exchange(4 * 10_u64.pow(18), 10_u64.pow(18)).compared().unwrap_err().to_string();
        assert!(why.starts_with("states times by which a round trip took 3000000000.030 s, while"), "{why}");
        let slow = Exchange { asked_ns: 0, heard_ns: 5, answered_ns: 5, returned_ns: 60_000_000_000 };
        assert_eq!(slow.compared().unwrap().1, 60_000_000_000);
        assert!(
            Exchange { returned_ns: 60_000_000_001, ..slow }
                .compared()
                .unwrap_err()
                .to_string()
                .contains("60 s at most")
        );
    }
}

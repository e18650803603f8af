//! CPU use of this thread by the kernel's counters, which exclude other threads.

use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU use of some work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// CPU time.
    pub(crate) time: Duration,
    /// Number of instructions outside the kernel; `None` if the machine does not count them.
    pub(crate) instructions: Option<u64>,
}

impl Spent {
    /// Returns the minimum of each value.
    pub(crate) fn min(self, other: Self) -> Self {
        let instructions = self.instructions.zip(other.instructions).map(|(own, others)| own.min(others));
        Self { time: self.time.min(other.time), instructions }
    }
}

/// Meter of this thread's CPU use.
pub(crate) struct Meter {
    #[cfg(target_os = "linux")]
    instructions: Option<perf_event::Counter>,
}

impl Meter {
    /// Creates a meter. It counts instructions if the machine does; many virtual machines do not.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            instructions: perf_event::Builder::new(perf_event::events::Hardware::INSTRUCTIONS)
                .build()
                .and_then(|mut counter| counter.enable().map(|()| counter))
                .ok(),
        }
    }

    /// Runs `work` and returns its CPU use.
    pub(crate) fn of(&mut self, work: impl FnOnce()) -> Spent {
        let (time, instructions) = (processor_time(), self.counted());
        work();
        let counted = self.counted();
        Spent {
            instructions: counted.zip(instructions).map(|(after, before)| after.saturating_sub(before)),
            time: processor_time().saturating_sub(time),
        }
    }

    #[cfg(target_os = "linux")]
    fn counted(&mut self) -> Option<u64> {
        self.instructions.as_mut()?.read().ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn counted(&mut self) -> Option<u64> {
        None
    }
}

/// Returns the CPU time of this thread.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn what_takes_ten_times_as_many_steps_takes_more() {
        let mut meter = Meter::new();
        let mut of = |steps: u64| meter.of(|| assert!((0..steps).map(black_box).max().is_some()));
        let (few, many) = (of(100_000), of(10_000_000));
        assert!(many.time > few.time, "{few:?} {many:?}");
        if let (Some(few), Some(many)) = (few.instructions, many.instructions) {
            assert!(many > 20 * few, "{few} {many}");
        }
        assert!(few.min(many).time == few.time);
    }
}

//! Independent pieces of work on several threads, with results in order.

use crate::Error;
use crate::Watch;
use core::time::Duration;
use runs::Observer;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};

/// Maximum time between two calls of `watch`. It is also called after each result.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Stop signal for a piece of work. A simulation ends within some thousand events after the signal.
#[derive(Clone, Copy, Debug)]
pub struct StopSignal<'a>(&'a AtomicBool);

impl StopSignal<'_> {
    /// Returns a signal that is never set.
    pub const fn never() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self(&NEVER)
    }
}

impl Observer for StopSignal<'_> {
    fn stop(&self) -> Option<String> {
        self.0.load(Ordering::Relaxed).then(|| "nobody waits for it".to_owned())
    }
}

/// Returns the results of `work` for every number below `count`, on at most `jobs` threads.
///
/// A piece that may take longer than a second must check its [`StopSignal`].
///
/// # Errors
/// Returns the error of `watch`, or the first error of a piece.
pub fn spread<T: Send>(
    jobs: usize,
    count: usize,
    watch: &dyn Watch,
    work: impl Fn(usize, StopSignal<'_>) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = channel();
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let outcome = std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            let (sender, next, is_stopped, work) = (sender.clone(), &next, &is_stopped, &work);
            scope.spawn(move || {
                while !is_stopped.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || sender.send((number, work(number, StopSignal(is_stopped)))).is_err()
                    {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut collect = || {
            loop {
                match receiver.recv_timeout(LOOK_INTERVAL) {
                    Ok((number, result)) => {
                        results[number] = Some(result?);
                        watch.look()?;
                    }
                    Err(RecvTimeoutError::Timeout) => watch.look()?,
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
            }
        };
        let outcome = collect();
        is_stopped.store(true, Ordering::Relaxed);
        outcome
    });
    outcome.map(|()| results.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::News;
    use std::cell::Cell;

    /// Watch that requests a stop after some calls.
    struct Patience(Cell<u32>);

    impl Watch for Patience {
        fn tell(&self, _news: &News<'_>) -> Result<(), Error> {
            Ok(())
        }

        fn look(&self) -> Result<(), Error> {
            self.0.set(self.0.get().saturating_sub(1));
            if self.0.get() == 0 { Err(Error::Stopped("stopped".to_owned())) } else { Ok(()) }
        }

        fn elapsed_s(&self) -> f64 {
            0.0
        }
    }

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let patient = Patience(Cell::new(u32::MAX));
        for jobs in [1, 2, 7] {
            let results = spread(jobs, 100, &patient, |number, _| Ok(number * number)).unwrap();
            assert_eq!(results, (0..100).map(|number| number * number).collect::<Vec<_>>());
        }
        assert_eq!(spread(3, 0, &patient, |number, _| Ok(number)).unwrap(), Vec::<usize>::new());
    }

    #[test]
    fn who_watches_ends_it_however_fast_results_come() {
        let impatient = Patience(Cell::new(5));
        assert_eq!(spread(2, 1 << 24, &impatient, |_, _| Ok(())).unwrap_err().to_string(), "stopped");
        assert_eq!(impatient.0.get(), 0);
    }

    #[test]
    fn an_error_and_who_watches_end_it() {
        let patient = Patience(Cell::new(u32::MAX));
        let result = spread(2, 10, &patient, |number, _| {
            if number == 3 { Err(Error::Stopped("three".to_owned())) } else { Ok(number) }
        });
        assert_eq!(result.unwrap_err().to_string(), "three");
        let impatient = Patience(Cell::new(1));
        // This piece never ends by itself.
        let result = spread(1, usize::MAX >> 40, &impatient, |_, stop_signal| {
            while stop_signal.stop().is_none() {
                std::thread::yield_now();
            }
            Ok(())
        });
        assert_eq!(result.unwrap_err().to_string(), "stopped");
    }
}

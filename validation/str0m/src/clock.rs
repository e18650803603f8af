//! str0m counts time in `Instant`s, the path in nanoseconds since the start.

use std::time::{Duration, Instant};
use units::Time;

/// Later than any call: str0m's "never" is a hundred years away.
const FAR: Duration = Duration::from_hours(24);

/// Virtual time zero as an `Instant`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn instant(self, time: Time) -> Instant {
        self.0 + Duration::from_nanos(time.as_ns())
    }

    /// The time of `instant`, rounded up to whole nanoseconds; never if it is far away.
    pub(crate) fn time(self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.0);
        if since > FAR { Time::NEVER } else { Time::from_ns(since.as_nanos() as u64) }
    }
}

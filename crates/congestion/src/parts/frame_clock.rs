//! Frame period of a live encoder, estimated from its frames.

use units::{Span, Time};

/// Weight of a new interval.
const GAIN: f64 = 1.0 / 8.0;
/// Maximum interval that counts as a frame period; a longer one means skipped frames.
const LONGEST: Span = Span::from_ms(250);

/// Smoothed time from one frame to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameClock {
    last: Option<Time>,
    /// Frame period, s; zero before the second frame.
    period_s: f64,
}

impl FrameClock {
    /// Handles a new frame. Returns the period, s; `None` before the second frame.
    pub(crate) fn tick(&mut self, now: Time) -> Option<f64> {
        let interval = self.last.map(|last| now - last);
        self.last = Some(now);
        if let Some(interval) = interval.filter(|interval| !interval.is_zero() && *interval <= LONGEST) {
            let interval = interval.as_secs_f64();
            self.period_s = if self.period_s > 0.0 {
                self.period_s + GAIN * (interval - self.period_s)
            } else {
                interval
            };
        }
        self.period_s()
    }

    /// Returns the period, s; `None` before the second frame.
    pub(crate) fn period_s(&self) -> Option<f64> {
        (self.period_s > 0.0).then_some(self.period_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_is_known_from_the_second_frame_on_and_survives_skipped_frames() {
        let mut clock = FrameClock::default();
        assert_eq!(clock.tick(Time::from_ns(0)), None);
        assert_eq!(clock.tick(Time::from_ns(40_000_000)), Some(0.04));
        assert_eq!(clock.tick(Time::from_ns(2_000_000_000)), Some(0.04));
        assert_eq!(clock.tick(Time::from_ns(2_048_000_000)), Some(0.041));
    }
}

//! Windowed minimum of three estimates: Kathleen Nichols' filter, as in Chromium and mvfst.
//!
//! Source: facebook/mvfst@979f26a, `quic/congestion_control/third_party/windowed_filter.h`. After the best estimate of
//! the window come a second best of its later three quarters and a third of its later half. The best expires only when
//! a sample arrives. So it is at least the exact minimum, and it can be older than the window by the time since the
//! last sample.

/// Estimate: value and time, us.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    value: u64,
    at: u64,
}

/// Minimum of the samples in a window of time; 0 before the first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMin {
    length: u64,
    /// Best, second and third best estimate.
    estimates: [Estimate; 3],
}

impl WindowedMin {
    /// Returns a filter over `length` us.
    pub(super) fn new(length: u64) -> Self {
        Self { length, estimates: [Estimate::default(); 3] }
    }

    /// Changes the window for later samples.
    pub(super) const fn set_length(&mut self, length: u64) {
        self.length = length;
    }

    /// Returns the best estimate.
    pub(super) const fn get(&self) -> u64 {
        self.estimates[0].value
    }

    /// Adds a sample taken at `now`.
    pub(super) fn update(&mut self, now: u64, value: u64) {
        let new = Estimate { value, at: now };
        let [best, second, third] = &mut self.estimates;
        if best.value == 0 || value <= best.value || now - third.at > self.length {
            self.estimates = [new; 3];
            return;
        }
        if value <= second.value {
            (*second, *third) = (new, new);
        } else if value <= third.value {
            *third = new;
        }
        if now - best.at > self.length {
            (*best, *second, *third) = (*second, *third, new);
            if now - best.at > self.length {
                (*best, *second) = (*second, *third);
            }
        } else if second.value == best.value && now - second.at > self.length / 4 {
            (*second, *third) = (new, new);
        } else if third.value == second.value && now - third.at > self.length / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_sample_counts_at_once_and_a_worse_one_when_the_window_has_passed() {
        let mut filter = WindowedMin::new(100);
        filter.update(1000, 50);
        filter.update(1010, 40);
        filter.update(1020, 60);
        assert_eq!(filter.get(), 40);
        // 26 us after the best, the second best is taken from the second quarter; 52 us later the third from the second
        // half.
        filter.update(1036, 70);
        filter.update(1088, 80);
        assert_eq!(filter.get(), 40);
        filter.update(1110, 90);
        assert_eq!(filter.get(), 40, "a hundred old");
        filter.update(1111, 90);
        assert_eq!(filter.get(), 70);
        filter.update(1137, 95);
        assert_eq!(filter.get(), 80);
    }

    #[test]
    fn a_silence_longer_than_the_window_forgets_everything() {
        let mut filter = WindowedMin::new(100);
        filter.update(1000, 50);
        filter.update(1200, 90);
        assert_eq!(filter.get(), 90);
        filter.set_length(10);
        filter.update(1205, 95);
        filter.update(1211, 99);
        assert_eq!(filter.get(), 95);
    }
}

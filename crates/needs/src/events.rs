#![allow(clippy::disallowed_methods, reason = "a test that hangs has to end")]

use std::thread;
use std::time::{Duration, Instant};

/// Maximum wait. Only failing tests wait this long.
const LIMIT: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Calls `look` repeatedly and returns its first value. The test fails without a value within two minutes.
pub fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT, "nothing happened within {} s", LIMIT.as_secs());
        thread::sleep(LOOK_EVERY);
    }
}

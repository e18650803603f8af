//! Connection set-up: openers, packets without payload, each of which is answered before the next one leaves.

use crate::config::Config;

/// How far the set-up is.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Answers that are still needed.
    left: u32,
    /// Number of the first opener of this round trip. Older ones were repeated, and their answers say nothing new.
    first: u64,
    /// Whether this round trip's opener has not left yet.
    due: bool,
}

impl Opening {
    pub(crate) fn new(config: &Config) -> Self {
        Self { left: if config.handshake { config.handshake_rounds } else { 0 }, first: 0, due: true }
    }

    /// Whether data may leave.
    pub(crate) const fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Packet `number` was acknowledged; the next one has `next_number`.
    pub(crate) const fn on_answer(&mut self, number: u64, next_number: u64) {
        if !self.is_over() && number >= self.first {
            self.left -= 1;
            (self.first, self.due) = (next_number, true);
        }
    }

    /// Returns whether an opener of this round trip is due; it leaves now.
    pub(crate) const fn take_due(&mut self) -> bool {
        core::mem::replace(&mut self.due, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_wait_for_as_many_answers_as_asked_for() {
        assert!(Opening::new(&Config { handshake: false, ..Config::tcp() }).is_over());
        let mut opening = Opening::new(&Config { handshake_rounds: 2, ..Config::tcp() });
        assert!(opening.take_due() && !opening.take_due());
        // Openers 1 and 2 repeat it.
        opening.on_answer(0, 3);
        assert!(!opening.is_over() && opening.take_due());
        opening.on_answer(1, 4);
        opening.on_answer(2, 4);
        assert!(!opening.is_over());
        opening.on_answer(3, 4);
        assert!(opening.is_over());
    }
}

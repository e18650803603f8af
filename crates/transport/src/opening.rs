//! Connection set-up: handshake packets without payload; the next one leaves when the previous one is answered.

use crate::config::Config;

/// Progress of the connection set-up.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Answers still needed.
    left: u32,
    /// Number of the first handshake packet of this round trip. Older ones were retransmitted, so their answers carry
    /// no news.
    first: u64,
    /// True if the handshake packet of this round trip has not left yet.
    due: bool,
}

impl Opening {
    pub(crate) fn new(config: &Config) -> Self {
        Self { left: if config.handshake { config.handshake_rounds } else { 0 }, first: 0, due: true }
    }

    /// Returns true if data may leave.
    pub(crate) const fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Handles the acknowledgement of packet `number`; the next packet has `next_number`.
    pub(crate) const fn on_answer(&mut self, number: u64, next_number: u64) {
        if !self.is_over() && number >= self.first {
            self.left -= 1;
            (self.first, self.due) = (next_number, true);
        }
    }

    /// Returns true if a handshake packet of this round trip is due, and marks it as sent.
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
        // Packets 1 and 2 retransmit the handshake packet.
        opening.on_answer(0, 3);
        assert!(!opening.is_over() && opening.take_due());
        opening.on_answer(1, 4);
        opening.on_answer(2, 4);
        assert!(!opening.is_over());
        opening.on_answer(3, 4);
        assert!(opening.is_over());
    }
}

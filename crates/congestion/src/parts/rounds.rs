//! Round trips counted by packet number.

use crate::Ack;

/// A round lasts until a packet sent after its beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    end: u64,
}

impl Rounds {
    /// Begins a round that lasts until packet `next_number` is acknowledged.
    pub(crate) fn restart(&mut self, next_number: u64) {
        self.end = next_number;
    }

    /// Whether `ack` ends the round; if so the next one has begun.
    pub(crate) fn ended(&mut self, ack: &Ack<'_>) -> bool {
        let ended = ack.newest().number >= self.end;
        if ended {
            self.end = ack.next_number;
        }
        ended
    }
}

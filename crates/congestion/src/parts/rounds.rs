//! Round trips counted by packet number.

use crate::Ack;

/// A round lasts until a packet sent after its beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    end: u64,
    /// Packets before that one with which a round is over already.
    lead: u64,
}

impl Rounds {
    /// Rounds of which the first ends with the first ACK.
    pub(crate) const NEW: Self = Self { end: 0, lead: 0 };

    /// Rounds that are over with the last packet sent before their beginning, not with the first sent after it.
    pub(crate) const fn early() -> Self {
        Self { lead: 1, ..Self::NEW }
    }

    /// Begins a round that lasts until packet `next_number` is acknowledged.
    pub(crate) fn restart(&mut self, next_number: u64) {
        self.end = next_number.saturating_sub(self.lead);
    }

    /// Whether `ack` ends the round; if so the next one has begun.
    pub(crate) fn ended(&mut self, ack: &Ack<'_>) -> bool {
        let ended = ack.newest().number >= self.end;
        if ended {
            self.restart(ack.next_number);
        }
        ended
    }
}

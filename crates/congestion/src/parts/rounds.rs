//! Round trips, counted by packet number.

use crate::Ack;

/// Round trip: it lasts until a packet sent after its beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    end: u64,
    /// Number of packets before the end whose acknowledgement already ends the round.
    lead: u64,
}

impl Rounds {
    /// Rounds of which the first ends with the first ACK.
    pub(crate) const NEW: Self = Self { end: 0, lead: 0 };

    /// Returns rounds that end with the last packet sent before their beginning instead of the first packet sent after
    /// it.
    pub(crate) const fn early() -> Self {
        Self { lead: 1, ..Self::NEW }
    }

    /// Begins a round that lasts until packet `next_number` is acknowledged.
    pub(crate) fn restart(&mut self, next_number: u64) {
        self.end = next_number.saturating_sub(self.lead);
    }

    /// Returns true if `ack` ends the round; the next round then begins.
    pub(crate) fn ended(&mut self, ack: &Ack<'_>) -> bool {
        let ended = ack.newest().number >= self.end;
        if ended {
            self.restart(ack.next_number);
        }
        ended
    }
}

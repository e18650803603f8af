//! Which packets carry data that was sent before: a log does not say it, but what it says allows to conclude it.

use std::collections::{HashSet, VecDeque};

/// Most packets that are kept for a flow.
pub(crate) const MOST_RESENDS: usize = 1 << 16;
/// Most lost packets that wait to be sent again.
const MOST_WAITING: usize = 1 << 16;

/// The packets of a flow that send lost data again, if its sender does as ours: what is lost is sent before anything new, in packets
/// of the same payload. What arrived after all is not sent again.
///
/// Who knows how many retransmissions there were can tell whether this is so: [`total`](Self::total) is the same then.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resends {
    /// Numbers of the packets, ascending.
    pub(crate) packets: Vec<u64>,
    /// How many there are, those beyond the most included.
    pub(crate) total: u64,
    /// Lost packets and their payload.
    waiting: VecDeque<(u64, u32)>,
    /// Those of them that were acknowledged after all.
    arrived: HashSet<u64>,
}

impl Resends {
    pub(crate) fn of(packets: Vec<u64>, total: u64) -> Self {
        Self { packets, total, ..Self::default() }
    }

    /// Packet `number` was declared lost.
    pub(crate) fn lost(&mut self, number: u64, payload_bytes: u32) {
        if payload_bytes > 0 && self.waiting.len() < MOST_WAITING {
            self.waiting.push_back((number, payload_bytes));
        }
    }

    /// Packet `number` does not count as lost any more.
    pub(crate) fn restored(&mut self, number: u64) {
        self.waiting.retain(|(lost, _)| *lost != number);
    }

    /// Packet `number` was acknowledged.
    #[inline]
    pub(crate) fn acked(&mut self, number: u64) {
        if !self.waiting.is_empty() {
            self.arrived.insert(number);
        }
    }

    /// Packet `number` was sent.
    #[inline]
    pub(crate) fn sent(&mut self, number: u64, payload_bytes: u32) {
        if payload_bytes > 0 && !self.waiting.is_empty() {
            self.sent_after_loss(number, payload_bytes);
        }
    }

    #[cold]
    fn sent_after_loss(&mut self, number: u64, payload_bytes: u32) {
        while let Some((lost, lost_bytes)) = self.waiting.pop_front() {
            if self.arrived.contains(&lost) {
                continue;
            }
            if lost_bytes == payload_bytes {
                self.total += 1;
                if self.packets.len() < MOST_RESENDS && self.packets.last().is_none_or(|&last| last < number)
                {
                    self.packets.push(number);
                }
            }
            break;
        }
        if self.waiting.is_empty() {
            self.arrived.clear();
        }
    }

    /// Whether packet `number` sends something again; `None` where that is not known. `told`: how many retransmissions
    /// there were, from whoever counted them.
    pub(crate) fn is_again(&self, number: u64, told: Option<u64>) -> Option<bool> {
        if told == Some(0) {
            return Some(false);
        }
        let is_complete = self.packets.len() as u64 == self.total;
        (is_complete && told == Some(self.total)).then(|| self.packets.binary_search(&number).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_data_is_sent_before_anything_new() {
        let mut resends = Resends::default();
        (0..10).for_each(|number| resends.sent(number, 1_000));
        for lost in [2, 5, 6] {
            resends.lost(lost, 1_000);
        }
        resends.acked(5);
        resends.lost(7, 1_000);
        resends.restored(7);
        (10..14).for_each(|number| resends.sent(number, 1_000));
        assert_eq!((resends.packets.as_slice(), resends.total), (&[10, 11][..], 2));
        assert_eq!(
            [9, 10, 12].map(|number| resends.is_again(number, Some(2))),
            [Some(false), Some(true), Some(false)]
        );
        // somebody counted otherwise: it is not known which they are
        assert_eq!(resends.is_again(10, Some(3)), None);
        assert_eq!(resends.is_again(10, None), None);
        assert_eq!(resends.is_again(10, Some(0)), Some(false));
    }
}

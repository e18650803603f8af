//! Estimation of the retransmitted packets. A log does not mark them, but its losses allow to conclude them.

use std::collections::{HashSet, VecDeque};

/// Maximum stored packets of a flow.
pub(crate) const MAX_RESENDS: usize = 1 << 16;
/// Maximum lost packets that wait for retransmission.
const MAX_WAITING: usize = 1 << 16;

/// Packets of a flow that retransmit lost data.
///
/// Assumes the built-in sender: it sends lost data before new data, in packets of the same payload. Packets that
/// arrived after all are not retransmitted.
///
/// If the number of retransmissions is known, it equals [`total`](Self::total) when the assumption holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resends {
    /// Numbers of the packets, ascending.
    pub(crate) packets: Vec<u64>,
    /// Number of retransmissions, including those above the maximum.
    pub(crate) total: u64,
    /// Lost packets with their payload, bytes.
    waiting: VecDeque<(u64, u32)>,
    /// Lost packets that were acknowledged after all.
    arrived: HashSet<u64>,
}

impl Resends {
    pub(crate) fn of(packets: Vec<u64>, total: u64) -> Self {
        Self { packets, total, ..Self::default() }
    }

    /// Adds the loss of packet `number`.
    pub(crate) fn add_lost(&mut self, number: u64, payload_bytes: u32) {
        if payload_bytes > 0 && self.waiting.len() < MAX_WAITING {
            self.waiting.push_back((number, payload_bytes));
        }
    }

    /// Removes packet `number` from the lost packets.
    pub(crate) fn add_restored(&mut self, number: u64) {
        self.waiting.retain(|(lost, _)| *lost != number);
    }

    /// Adds the acknowledgment of packet `number`.
    #[inline]
    pub(crate) fn add_acked(&mut self, number: u64) {
        if !self.waiting.is_empty() {
            self.arrived.insert(number);
        }
    }

    /// Adds the sending of packet `number`.
    #[inline]
    pub(crate) fn add_sent(&mut self, number: u64, payload_bytes: u32) {
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
                if self.packets.len() < MAX_RESENDS && self.packets.last().is_none_or(|&last| last < number) {
                    self.packets.push(number);
                }
            }
            break;
        }
        if self.waiting.is_empty() {
            self.arrived.clear();
        }
    }

    /// Returns true if packet `number` is a retransmission, or `None` if unknown. `expected`: counted number of
    /// retransmissions.
    pub(crate) fn is_retransmission(&self, number: u64, expected: Option<u64>) -> Option<bool> {
        if expected == Some(0) {
            return Some(false);
        }
        let is_complete = self.packets.len() as u64 == self.total;
        (is_complete && expected == Some(self.total)).then(|| self.packets.binary_search(&number).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_data_is_sent_before_anything_new() {
        let mut resends = Resends::default();
        (0..10).for_each(|number| resends.add_sent(number, 1_000));
        for lost in [2, 5, 6] {
            resends.add_lost(lost, 1_000);
        }
        resends.add_acked(5);
        resends.add_lost(7, 1_000);
        resends.add_restored(7);
        (10..14).for_each(|number| resends.add_sent(number, 1_000));
        assert_eq!((resends.packets.as_slice(), resends.total), (&[10, 11][..], 2));
        assert_eq!(
            [9, 10, 12].map(|number| resends.is_retransmission(number, Some(2))),
            [Some(false), Some(true), Some(false)]
        );
        // With another expected number, the retransmissions are unknown.
        assert_eq!(resends.is_retransmission(10, Some(3)), None);
        assert_eq!(resends.is_retransmission(10, None), None);
        assert_eq!(resends.is_retransmission(10, Some(0)), Some(false));
    }
}

//! Notes made at each packet's departure, for use at its acknowledgement.

use std::collections::VecDeque;

/// Number of packets by which an acknowledgement may be late; notes of older packets are dropped.
const REORDERED: u64 = 4096;

/// Note of type `T` for each packet that may still be acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures<T> {
    /// Notes of packet number `first` and the packets after it; `None` for numbers without a note.
    notes: VecDeque<Option<T>>,
    first: u64,
}

impl<T: Copy> Departures<T> {
    /// Stores the note of packet `number`; numbers only grow.
    pub(crate) fn note(&mut self, number: u64, note: T) {
        if self.notes.is_empty() {
            self.first = number;
        }
        while self.first + (self.notes.len() as u64) < number {
            self.notes.push_back(None);
        }
        self.notes.push_back(Some(note));
    }

    /// Returns and removes the note of packet `number`.
    pub(crate) fn take(&mut self, number: u64) -> Option<T> {
        let note = self.notes.get_mut(number.checked_sub(self.first)? as usize)?.take();
        while self
            .notes
            .front()
            .is_some_and(|oldest| oldest.is_none() || number.saturating_sub(self.first) > REORDERED)
        {
            self.notes.pop_front();
            self.first += 1;
        }
        note
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_packet_has_its_note_once() {
        let mut departures = Departures::default();
        assert_eq!(departures.take(0), None);
        for number in [5, 6, 8] {
            departures.note(number, number * 10);
        }
        assert_eq!([6, 6, 7, 4, 9].map(|number| departures.take(number)), [Some(60), None, None, None, None]);
        assert_eq!([5, 8, 8].map(|number| departures.take(number)), [Some(50), Some(80), None]);
        departures.note(20, 200);
        assert_eq!(departures.take(20), Some(200));
    }

    #[test]
    fn what_is_never_acknowledged_is_forgotten() {
        let mut departures = Departures::default();
        (0..100_000).for_each(|number| departures.note(number, number));
        for number in (1..100_000).filter(|number| number % 1000 != 0) {
            assert_eq!(departures.take(number), Some(number));
            assert!(departures.notes.len() as u64 <= 100_000 - number + REORDERED);
        }
        assert_eq!((departures.take(0), departures.take(99_000)), (None, Some(99_000)));
    }
}

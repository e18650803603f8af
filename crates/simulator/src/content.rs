//! Contents of the packets inside the path: the path itself only carries handles.

use crate::prefetch::prefetch;
use transport::{AckFrame, Data};

/// Bit that marks the handles of acknowledgements.
const ACK_BIT: u32 = 1 << 31;

/// Handle to the content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    /// Index of a data header.
    Data(u32),
    /// Index of an acknowledgement.
    Ack(u32),
}

impl Handle {
    /// Returns the handle of a path packet's token.
    #[inline]
    pub(crate) const fn of(token: u32) -> Self {
        if token & ACK_BIT == 0 { Self::Data(token) } else { Self::Ack(token & !ACK_BIT) }
    }
}

/// Reference-counted slots that are reused, so that memory is bounded by the packets in flight.
#[derive(Debug, Default)]
struct Slots<T> {
    slots: Vec<(T, u32)>,
    free: Vec<u32>,
}

impl<T: Default> Slots<T> {
    /// Fills a free slot with `fill`. The slot then has one user, unless `fill` returns false because there is nothing
    /// to send.
    #[inline]
    fn fill(&mut self, fill: impl FnOnce(&mut T) -> bool) -> Option<(u32, &T)> {
        if self.free.is_empty() {
            self.free.push(self.slots.len() as u32);
            self.slots.push((T::default(), 0));
        }
        let index = *self.free.last()?;
        let (content, users) = &mut self.slots[index as usize];
        if !fill(content) {
            return None;
        }
        self.free.pop();
        *users = 1;
        Some((index, content))
    }

    #[inline]
    fn release(&mut self, index: u32) {
        let users = &mut self.slots[index as usize].1;
        *users -= 1;
        if *users == 0 {
            self.free.push(index);
        }
    }
}

/// All contents inside the path.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    data: Slots<Data>,
    acks: Slots<AckFrame>,
    /// Maximum ranges of each flow's ACKs, if devices on the path can read them.
    readable_ranges: Vec<Option<usize>>,
}

impl Contents {
    /// Returns an empty store. `readable_ranges`: for each flow, the maximum ranges of its ACKs, if devices on the path
    /// can read them.
    pub(crate) fn new(readable_ranges: Vec<Option<usize>>) -> Self {
        Self { readable_ranges, ..Self::default() }
    }

    /// Returns true if devices on the path can see that ACK `newer` of flow number `flow` contains everything in
    /// `older`.
    pub(crate) fn is_superseded(&self, flow: u32, older: u32, newer: u32) -> bool {
        let most_ranges = self.readable_ranges[flow as usize];
        most_ranges.is_some_and(|most| self.ack(newer).supersedes(self.ack(older), most))
    }

    /// Returns the data header that `fill` fills, with its token; `None` if `fill` returns false because there is
    /// nothing to send.
    #[inline]
    pub(crate) fn new_data(&mut self, fill: impl FnOnce(&mut Data) -> bool) -> Option<(u32, &Data)> {
        self.data.fill(fill)
    }

    /// Returns the acknowledgement that `fill` fills, with its token; `None` if there is none. The frame to fill may
    /// contain an old one.
    #[inline]
    pub(crate) fn new_ack(&mut self, fill: impl FnOnce(&mut AckFrame) -> bool) -> Option<(u32, &AckFrame)> {
        let (index, frame) = self.acks.fill(fill)?;
        Some((index | ACK_BIT, frame))
    }

    #[inline]
    pub(crate) fn data(&self, index: u32) -> &Data {
        &self.data.slots[index as usize].0
    }

    #[inline]
    pub(crate) fn ack(&self, index: u32) -> &AckFrame {
        &self.acks.slots[index as usize].0
    }

    /// Prefetches the content of a packet with this token.
    #[inline]
    pub(crate) fn prefetch(&self, token: u32) {
        match Handle::of(token) {
            Handle::Data(index) => prefetch(&self.data.slots[index as usize]),
            Handle::Ack(index) => prefetch(&self.acks.slots[index as usize]),
        }
    }

    /// Adds `more` packets (fragments, duplicates) that carry this token.
    #[inline]
    pub(crate) fn share(&mut self, token: u32, more: u32) {
        match Handle::of(token) {
            Handle::Data(index) => self.data.slots[index as usize].1 += more,
            Handle::Ack(index) => self.acks.slots[index as usize].1 += more,
        }
    }

    /// Releases the token of a packet that is gone.
    #[inline]
    pub(crate) fn release(&mut self, token: u32) {
        match Handle::of(token) {
            Handle::Data(index) => self.data.release(index),
            Handle::Ack(index) => self.acks.release(index),
        }
    }

    /// Returns the number of slots in use, for leak checks.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.data.slots.len() - self.data.free.len() + self.acks.slots.len() - self.acks.free.len()
    }
}

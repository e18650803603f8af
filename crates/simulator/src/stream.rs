//! Times at which bytes of a stream were written, kept until the other end reads them.

use std::collections::VecDeque;
use units::Time;

/// Writes of one reliable flow that have not been read completely.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    /// Stream offset up to which bytes were written, and the time of the write; both ascend.
    writes: VecDeque<(u64, Time)>,
    /// Bytes read.
    read: u64,
}

impl Writes {
    /// Records that the sending socket has taken `bytes` bytes in total.
    #[inline]
    pub(crate) fn note(&mut self, now: Time, bytes: u64) {
        match self.writes.back_mut() {
            Some(last) if last.0 >= bytes => {}
            Some(last) if last.1 == now => last.0 = bytes,
            Some(_) => self.writes.push_back((bytes, now)),
            None if bytes > self.read => self.writes.push_back((bytes, now)),
            None => {}
        }
    }

    /// Records that the receiver's application has read `bytes` bytes in total. Returns the number of newly read bytes,
    /// and the sum over them of the time since they were written, byte ns.
    #[inline]
    pub(crate) fn read(&mut self, now: Time, bytes: u64) -> (u64, u128) {
        let from = self.read;
        let mut waited = 0;
        while let Some(&(end, written)) = self.writes.front().filter(|_| self.read < bytes) {
            let upto = end.min(bytes);
            waited += u128::from(upto - self.read) * u128::from((now - written).as_ns());
            self.read = upto;
            if upto == end {
                self.writes.pop_front();
            }
        }
        (self.read - from, waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn each_byte_waits_from_its_own_write() {
        let mut writes = Writes::default();
        writes.note(at(0), 1000);
        writes.note(at(10), 1000);
        writes.note(at(10), 1500);
        writes.note(at(10), 1800);
        assert_eq!(writes.read(at(30), 400), (400, 400 * 30));
        assert_eq!(writes.read(at(40), 1500), (1100, 600 * 40 + 500 * 30));
        assert_eq!(writes.read(at(40), 1500), (0, 0));
        assert_eq!(writes.read(at(50), 1800), (300, 300 * 40));
        writes.note(at(60), 1800);
        assert_eq!(writes.read(at(70), 1800), (0, 0));
    }
}

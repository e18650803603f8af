//! Check of a last line without a newline, which may be complete or truncated.

use super::direction::Direction;
use record::Record;

/// Formats of a log's lines so far.
#[derive(Default)]
pub(super) struct Lines {
    tagged: bool,
    untagged: bool,
    /// Flow numbers, modulo 256.
    flows: [u64; 4],
    /// Sizes of untagged packets, modulo 65536.
    sizes: Option<Box<[u64; 1024]>>,
    opportunity_bytes: Option<u32>,
}

impl Lines {
    #[inline]
    pub(super) fn add(&mut self, record: &Record, direction: Direction) {
        if record.event == direction.opportunity() {
            self.opportunity_bytes = Some(record.size_bytes);
        } else if record.flow == 0 {
            self.untagged = true;
            let (word, bit) = bit(record.size_bytes);
            self.sizes.get_or_insert_with(|| Box::new([0; 1024]))[word % 1024] |= bit;
        } else {
            self.tagged = true;
            let (word, bit) = bit(record.flow);
            self.flows[word % 4] |= bit;
        }
    }

    /// Returns true if the line `text` with content `record` seems complete. It must have the number of fields of
    /// earlier lines of its kind, and its last field must not seem truncated.
    pub(super) fn has_like(&self, record: &Record, text: &[u8], direction: Direction) -> bool {
        if record.event == direction.opportunity() {
            return self.opportunity_bytes == Some(record.size_bytes);
        }
        if record.flow != 0 {
            let (word, bit) = bit(record.flow);
            return self.tagged && !self.untagged && self.flows[word % 4] & bit != 0;
        }
        if self.tagged || !self.untagged {
            return false;
        }
        if record.event == direction.deliver() {
            // A complete delay has all the decimals that Pantheon writes.
            return text.len() > 4 && text[text.len() - 4] == b'.';
        }
        let (word, bit) = bit(record.size_bytes);
        self.sizes.as_ref().is_some_and(|sizes| sizes[word % 1024] & bit != 0)
    }
}

#[inline]
fn bit(number: u32) -> (usize, u64) {
    (number as usize / 64, 1 << (number % 64))
}

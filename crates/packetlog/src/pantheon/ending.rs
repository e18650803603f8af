//! Whether a last line without a newline is whole, or what is left of a longer one.

use super::direction::Direction;
use record::Record;

/// What the lines of a log were like so far.
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

    /// Whether a line, with `text` and meaning `record`, has as many fields as others of its kind had, and a last one
    /// that is not cut short, as far as that can be told.
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
            // a delay is whole if it has all the decimals that Pantheon writes
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

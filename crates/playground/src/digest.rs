//! Digest of all packets of a run.

use record::Record;

/// Odd number without a pattern: the golden ratio's fractional part.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Digest of all fields of all records in order. Runs with equal digests are equal, except in an attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    state: u64,
    records: u64,
}

impl Digest {
    /// Adds the next record.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        let words = [
            record.time_ns,
            u64::from(record.flow) << 8 | u64::from(record.event as u8),
            record.seq,
            u64::from(record.size_bytes) << 32 | u64::from(record.data_bytes),
            record.one_way_delay_ns as u64,
        ];
        for word in words {
            self.state = (self.state.rotate_left(23) ^ word).wrapping_mul(MIX);
        }
        self.records += 1;
    }

    /// Returns the number of records.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Returns the digest as 16 hexadecimal digits.
    pub fn text(&self) -> String {
        let mixed = self.state ^ self.state >> 29 ^ self.records.wrapping_mul(MIX);
        format!("{mixed:016x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Event;

    #[test]
    fn every_field_and_the_order_count() {
        let record = Record {
            time_ns: 5,
            flow: 1,
            event: Event::Send,
            seq: 7,
            size_bytes: 1500,
            data_bytes: 1448,
            one_way_delay_ns: 9,
        };
        let of = |records: &[Record]| {
            let mut digest = Digest::default();
            for record in records {
                digest.add(record);
            }
            digest.text()
        };
        let others = [
            Record { time_ns: 6, ..record },
            Record { flow: 2, ..record },
            Record { event: Event::Drop, ..record },
            Record { seq: 8, ..record },
            Record { size_bytes: 1501, ..record },
            Record { data_bytes: 1449, ..record },
            Record { one_way_delay_ns: -9, ..record },
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(of(&[record]), of(&[*other]), "field {index}");
            assert_ne!(of(&[record, *other]), of(&[*other, record]), "order {index}");
        }
        assert_ne!(of(&[]), of(&[record]));
    }
}

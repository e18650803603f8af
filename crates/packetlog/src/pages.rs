//! Checks of the page headers of a column before decoding.
//!
//! The library allocates as much memory as a page header claims, up to 2 GiB per column. Format: Apache Parquet,
//! `parquet.thrift` (`PageHeader`), in Thrift's compact protocol.

use crate::Error;
use crate::footer::place;
use parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Maximum lengths of a page header, bytes: first as in files of dumbbell, then as in other files, whose statistics may
/// contain long texts.
const HEADER_BYTES: [u64; 2] = [1 << 8, 1 << 16];
/// Maximum nesting of a header.
const MOST_DEPTH: usize = 8;

/// Checks the pages of a column of the file at `path`.
///
/// # Errors
/// Returns an error with the file's name if a page has no header, or is longer than the column.
pub(crate) fn check_pages(path: &Path, file: &File, chunk: &ColumnChunkMetaData) -> Result<(), Error> {
    let problem = place(chunk).and_then(|place| wrong_pages(file, chunk, place));
    problem.map_or(Ok(()), |problem| Err(Error::file(path, problem)))
}

/// Returns the problem if a page of the column at `place` has no header, or is longer than its column.
fn wrong_pages(file: &File, chunk: &ColumnChunkMetaData, place: Range<u64>) -> Option<String> {
    let mut at = place.start;
    while at < place.end {
        let read = |most: u64| {
            let mut header = vec![0; (place.end - at).min(most) as usize];
            file.read_exact_at(&mut header, at).ok().and_then(|()| Page::parse(&header))
        };
        let Some(page) = HEADER_BYTES.into_iter().find_map(read) else {
            return Some("is damaged: a page of it has no header".to_owned());
        };
        if i64::from(page.uncompressed) > chunk.uncompressed_size() {
            let whole = chunk.uncompressed_size();
            return Some(format!("is damaged: a page of {} bytes in a column of {whole}", page.uncompressed));
        }
        at += page.header + u64::from(page.compressed);
    }
    (at > place.end).then(|| "is damaged: a page of it is longer than its column".to_owned())
}

/// Lengths of a page and its header, bytes.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    header: u64,
    uncompressed: u32,
    compressed: u32,
}

impl Page {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut input = Input { bytes, at: 0 };
        let (mut uncompressed, mut compressed) = (None, None);
        input.structure(0, &mut |id, value| match id {
            2 => uncompressed = Some(value),
            3 => compressed = Some(value),
            _ => {}
        })?;
        let size = |value: Option<i64>| u32::try_from(value?).ok();
        Some(Self {
            header: input.at as u64,
            uncompressed: size(uncompressed)?,
            compressed: size(compressed)?,
        })
    }
}

/// Reader of values in Thrift's compact protocol.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    /// Skips a structure. Calls `whole` for each of its integer fields.
    fn structure(&mut self, depth: usize, whole: &mut dyn FnMut(i64, i64)) -> Option<()> {
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = if head >> 4 == 0 { self.whole()? } else { id.checked_add(i64::from(head >> 4))? };
            match head & 0xf {
                1 | 2 => {} // a truth value is in its type
                4..=6 => {
                    let value = self.whole()?;
                    whole(id, value);
                }
                kind => self.pass(kind, depth)?,
            }
        }
    }

    /// Skips a value of this kind.
    fn pass(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        match kind {
            1..=3 => self.byte().map(|_| ()),
            4..=6 => self.whole().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(usize::try_from(length).ok()?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                (0..count).try_for_each(|_| self.pass(head & 0xf, depth + 1))
            }
            12 => self.structure(depth + 1, &mut |_, _| {}),
            _ => None, // headers have no maps
        }
    }

    fn whole(&mut self) -> Option<i64> {
        let zigzag = self.varint()?;
        Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at = self.at.checked_add(bytes).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Header of a data page: kind 0, 300 bytes compressed to 20, 5 values, statistics with a text.
    const HEADER: [u8; 25] = [
        0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x28, // type, sizes
        0x2c, 0x15, 0x0a, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x1c, 0x58, 0x02, 0x61, 0x62, 0x11, 0x00, 0x00,
        0x00,
    ];

    #[test]
    fn a_header_ends_where_its_structure_ends() {
        let page = Page { header: 25, uncompressed: 300, compressed: 20 };
        assert_eq!(Page::parse(&[&HEADER[..], &[7; 20]].concat()), Some(page));
        for length in 0..HEADER.len() {
            assert_eq!(Page::parse(&HEADER[..length]), None);
        }
        assert_eq!(Page::parse(&[0x15, 0x00, 0x15, 0x01, 0x15, 0x28, 0x00]), None, "a size below 0");
        assert_eq!(Page::parse(&[0x1c; 100]), None, "no end of nesting");
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(page) = Page::parse(&bytes) {
                prop_assert!(page.header <= bytes.len() as u64);
            }
        }
    }
}

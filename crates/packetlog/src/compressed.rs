//! Reading of compressed logs: gzip, bzip2, xz and Zstandard, recognized by their first bytes and not by name.

use crate::Error;
use crate::regular::open_regular;
use std::fs::File;
use std::io::{BufReader, Cursor, Error as IoError, ErrorKind, Read, Result, Seek};
use std::path::Path;

/// Maximum memory of a decoder, KiB. `xz -9` and `zstd --ultra -22` need a quarter of it.
const MEMORY_KIB: u32 = 1 << 18;
/// Base-2 logarithm of the maximum Zstandard window in bytes, which equals `MEMORY_KIB`.
const WINDOW_LOG: u32 = 28;

/// Maximum length of a log, as a multiple of the compressed length. Logs of CUBIC and BBR become 3 to 7 times as long.
/// A constant rate over a path without a queue reaches 91 (`xz -9`), a decompression bomb thousands.
const MOST_TIMES: u64 = 200;
/// Length that is always allowed, bytes. Unused opportunities at a constant rate become 860 times as long; this length
/// is four minutes of them at 1 Gbit/s.
const LEAST_BYTES: u64 = 256 << 20;
/// Maximum length of a decompressed log, bytes. Pantheon's public logs have some hundred MB.
const MOST_BYTES: u64 = 8 << 30;

/// Number of bytes that identify a file type. A tar archive has its mark after the first name.
const HEAD_BYTES: u64 = 512;
const TAR_MARK: (usize, &[u8]) = (257, b"ustar");

/// Supported compression format, by the first bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Form {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // The header is followed by a block or by the end of an empty file.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            // Zstandard frame, or a skippable frame, with which `pzstd` begins.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Returns a reader of the decompressed bytes of `file`.
    fn reader(self, file: File) -> Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file))),
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(BufReader::new(file))),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(BufReader::new(file), true, MEMORY_KIB)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(file)?;
                decoder.window_log_max(WINDOW_LOG)?;
                Box::new(decoder)
            }
        })
    }
}

/// Returns the kind of an unsupported archive or compression by the first bytes. Archives can have many members.
fn archive(head: &[u8]) -> Option<&'static str> {
    let (at, mark) = TAR_MARK;
    match head {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Some("a zip archive"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("a 7z archive"),
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => Some("a rar archive"),
        [0x1f, 0x9d, ..] => Some("compressed by `compress`"),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some("compressed by `lz4`"),
        [b'L', b'Z', b'I', b'P', ..] => Some("compressed by `lzip`"),
        [0x5d, 0, 0, _, _, 0xff, 0xff, 0xff, 0xff, ..] => Some("compressed by `lzma`"),
        _ if head.get(at..).is_some_and(|rest| rest.starts_with(mark)) => Some("a tar archive"),
        _ => None,
    }
}

/// Opens a user's file and decompresses it if necessary.
///
/// # Errors
/// Returns an error if the file cannot be opened, is an archive or is compressed more than once. Later reads fail if
/// the content is too long.
pub(crate) fn open(path: &Path) -> std::result::Result<Box<dyn Read + Send>, Error> {
    let unreadable = |error| Error::io(path, "read", error);
    let mut file = open_regular(path)?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    if let Some(kind) = archive(&head) {
        return Err(unpack_first(path, format_args!("is {kind}")));
    }
    file.rewind().map_err(unreadable)?;
    let Some(form) = Form::of(&head) else { return Ok(Box::new(file)) };
    let compressed = file.metadata().map_err(unreadable)?.len();
    let mut plain = bounded(compressed, form.reader(file).map_err(unreadable)?);
    let mut head = Vec::new();
    let failed = plain.by_ref().take(HEAD_BYTES).read_to_end(&mut head).err();
    if let Some(kind) = archive(&head) {
        return Err(unpack_first(path, format_args!("has {kind} in it")));
    }
    if Form::of(&head).is_some() {
        return Err(unpack_first(path, format_args!("is compressed twice")));
    }
    let head = Cursor::new(head);
    Ok(match failed {
        Some(error) => Box::new(head.chain(Failed(Some(error)))),
        None => Box::new(head.chain(plain)),
    })
}

/// Reader that fails with an error at its first read.
struct Failed(Option<IoError>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> Result<usize> {
        Err(self.0.take().unwrap_or_else(|| IoError::from(ErrorKind::InvalidData)))
    }
}

fn unpack_first(path: &Path, problem: std::fmt::Arguments<'_>) -> Error {
    let allowed = "unpack it first; allowed is one file, plain or compressed once by gzip, bzip2, xz or zstd";
    Error::file(path, format!("{problem}: {allowed}"))
}

/// Returns a reader of the decompressed bytes. It fails beyond the maximum length for a file of `compressed` bytes.
fn bounded<R: Read>(compressed: u64, decoder: R) -> Bounded<R> {
    let most = compressed.saturating_mul(MOST_TIMES).clamp(LEAST_BYTES, MOST_BYTES);
    Bounded { decoder, compressed, most, read: 0 }
}

struct Bounded<R> {
    decoder: R,
    compressed: u64,
    most: u64,
    read: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.decoder.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => IoError::other("it ends in the middle of its compressed data"),
            _ => error,
        })?;
        self.read += read as u64;
        if self.read <= self.most {
            return Ok(read);
        }
        let Self { compressed, most, .. } = self;
        Err(IoError::other(format!(
            "its {compressed} bytes become more than {most} when they are decompressed: allowed are {MOST_TIMES} times as \
             many, at least {LEAST_BYTES} and at most {MOST_BYTES}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of bytes read from an endless text of `compressed` compressed bytes, and the error message at
    /// the end.
    fn read(compressed: u64) -> (u64, String) {
        let mut text = bounded(compressed, std::io::repeat(b'#'));
        let mut buffer = vec![0; 1 << 20];
        let mut taken = 0;
        loop {
            match text.read(&mut buffer) {
                Ok(read) => taken += read as u64,
                Err(error) => return (taken, error.to_string()),
            }
        }
    }

    #[test]
    fn what_becomes_too_much_is_refused() {
        assert_eq!(read(100).0, LEAST_BYTES);
        let (taken, problem) = read(2 << 20);
        assert_eq!(taken, 400 << 20);
        let expected = "its 2097152 bytes become more than 419430400 when they are decompressed: allowed are 200 times as \
                        many, at least 268435456 and at most 8589934592";
        assert_eq!(problem, expected);
    }
}

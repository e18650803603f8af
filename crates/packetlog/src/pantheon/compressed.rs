//! Logs that were compressed after the test, as they come: gzip, xz and Zstandard, told by their first bytes.

use std::fs::File;
use std::io::{BufReader, Error, Read, Result, Seek};

/// Most memory of a decoder, KiB: what `xz -9` and `zstd --ultra -22` need is a quarter of it.
const MEMORY_KIB: u32 = 1 << 18;
/// The same as the base-2 logarithm of a window of bytes.
const WINDOW_LOG: u32 = 28;

/// How many times as long a log may be as the compressed file. Logs of CUBIC and BBR become 3 to 7 times as long, one of
/// a constant rate over a path without a queue 91 times (`xz -9`); what was made to fill a disk thousands of times.
const MOST_TIMES: u64 = 200;
/// So long a log may be in any case, bytes. Opportunities that nobody uses, at a constant rate, become 860 times as long:
/// these are four minutes of them at 1 Gbit/s.
const LEAST_BYTES: u64 = 256 << 20;
/// No compressed log may be longer, bytes: Pantheon's public ones have some hundred MB.
const MOST_BYTES: u64 = 8 << 30;

const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of `file`, decompressed if it is compressed.
pub(super) fn plain(mut file: File) -> Result<Box<dyn Read + Send>> {
    let mut first = Vec::with_capacity(XZ.len());
    file.by_ref().take(XZ.len() as u64).read_to_end(&mut first)?;
    file.rewind()?;
    let compressed = file.metadata()?.len();
    Ok(if first.starts_with(GZIP) {
        bounded(compressed, flate2::read::MultiGzDecoder::new(BufReader::new(file)))
    } else if first.starts_with(XZ) {
        bounded(compressed, lzma_rust2::XzReader::new_mem_limit(BufReader::new(file), true, MEMORY_KIB))
    } else if first.starts_with(ZSTD) {
        let mut decoder = zstd::stream::read::Decoder::new(file)?;
        decoder.window_log_max(WINDOW_LOG)?;
        bounded(compressed, decoder)
    } else {
        Box::new(file)
    })
}

/// Returns a reader of the decompressed bytes. Reading fails beyond the bound for a file of `compressed` bytes.
fn bounded(compressed: u64, decoder: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    let most = compressed.saturating_mul(MOST_TIMES).clamp(LEAST_BYTES, MOST_BYTES);
    Box::new(Bounded { decoder, compressed, most, read: 0 })
}

struct Bounded<R> {
    decoder: R,
    compressed: u64,
    most: u64,
    read: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.read += read as u64;
        if self.read <= self.most {
            return Ok(read);
        }
        let Self { compressed, most, .. } = self;
        Err(Error::other(format!(
            "its {compressed} bytes become more than {most} when they are decompressed: allowed are {MOST_TIMES} times as \
             many, at least {LEAST_BYTES} and at most {MOST_BYTES}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bytes are read of an endless text that so many compressed bytes become, and why no more.
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

//! Logs that were compressed after the test, as they come: gzip, xz and Zstandard, told by their first bytes.

use std::fs::File;
use std::io::{BufReader, Read, Result, Seek};

/// Most memory of a decoder, KiB: what `xz -9` and `zstd --ultra -22` need is a quarter of it.
const MEMORY_KIB: u32 = 1 << 18;
/// The same as the base-2 logarithm of a window of bytes.
const WINDOW_LOG: u32 = 28;

const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of `file`, decompressed if it is compressed.
pub(super) fn plain(mut file: File) -> Result<Box<dyn Read + Send>> {
    let mut first = Vec::with_capacity(XZ.len());
    file.by_ref().take(XZ.len() as u64).read_to_end(&mut first)?;
    file.rewind()?;
    Ok(if first.starts_with(GZIP) {
        Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file)))
    } else if first.starts_with(XZ) {
        Box::new(lzma_rust2::XzReader::new_mem_limit(BufReader::new(file), true, MEMORY_KIB))
    } else if first.starts_with(ZSTD) {
        let mut decoder = zstd::stream::read::Decoder::new(file)?;
        decoder.window_log_max(WINDOW_LOG)?;
        Box::new(decoder)
    } else {
        Box::new(file)
    })
}

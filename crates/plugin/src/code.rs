//! Code of a plug-in, read once. A library or class is loaded from these bytes, even if the file changes later.
#![allow(clippy::disallowed_methods, reason = "a plug-in is a file")]

use crate::Error;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{Read, Write as _};
use std::os::fd::{FromRawFd, IntoRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Maximum size of a plug-in, bytes, equal to `input_files.LIBRARY` of the Python package.
const MOST_BYTES: u64 = 1 << 30;

/// Bytes of a plug-in's file, read once, with their SHA-256.
pub struct Code {
    pub(crate) file: PathBuf,
    pub(crate) sha256: String,
    bytes: Vec<u8>,
}

impl Code {
    /// Reads `file`. With `sha256` (hexadecimal), its bytes must have this digest.
    ///
    /// # Errors
    /// Returns an error with the file's name if it cannot be read, is not regular, is too large or has another digest.
    pub fn read(file: &Path, sha256: Option<&str>) -> Result<Self, Error> {
        let bytes = read_regular(file, MOST_BYTES).map_err(|error| error.at(file))?;
        let found = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
            // Writing to a String cannot fail.
            let _infallible = write!(text, "{byte:02x}");
            text
        });
        match sha256 {
            Some(expected) if expected != found => {
                Err(Error::Changed { found, expected: expected.to_owned() }.at(file))
            }
            _ => Ok(Self { file: file.to_owned(), sha256: found, bytes }),
        }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the bytes to a file in memory and returns its name, which only this process can use.
    ///
    /// The file stays open until the process ends. The loader identifies a library by this name, so another file must
    /// not get it.
    ///
    /// # Errors
    /// Returns the error of the system call.
    #[allow(unsafe_code, reason = "the standard library makes no files in memory")]
    pub(crate) fn in_memory(&self) -> Result<PathBuf, Error> {
        // SAFETY: the name is a text.
        let descriptor = unsafe { libc::memfd_create(c"plug-in".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(Error::System(std::io::Error::last_os_error()));
        }
        // SAFETY: it is open, and nobody else's.
        let mut file = unsafe { std::fs::File::from_raw_fd(descriptor) };
        file.write_all(&self.bytes).map_err(Error::System)?;
        Ok(format!("/proc/self/fd/{}", file.into_raw_fd()).into())
    }
}

/// Returns the bytes of `file`, which must be regular: opening a pipe would wait, and a device may never end.
///
/// # Errors
/// Returns a clause for a message with the file's name: the system's error or the allowed values.
pub fn read_regular(file: &Path, most_bytes: u64) -> Result<Vec<u8>, Error> {
    let mut options = std::fs::OpenOptions::new();
    let opened = options.read(true).custom_flags(libc::O_NONBLOCK).open(file).map_err(Error::System)?;
    if !opened.metadata().map_err(Error::System)?.is_file() {
        return Err(Error::NotRegular);
    }
    let mut bytes = Vec::new();
    opened.take(most_bytes + 1).read_to_end(&mut bytes).map_err(Error::System)?;
    if bytes.len() as u64 > most_bytes {
        return Err(Error::TooLarge { most_bytes });
    }
    Ok(bytes)
}

//! The code of a plug-in: bytes that were read once. What is loaded are these bytes, whatever the file holds by then.
#![allow(clippy::disallowed_methods, reason = "a plug-in is a file")]

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{Read, Write as _};
use std::os::fd::{FromRawFd, IntoRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Size of the largest file that is read, bytes: that of `input_files.LIBRARY` of the Python package.
const MOST_BYTES: u64 = 1 << 30;

/// A file that was read, with the digest of what it held.
pub struct Code {
    pub(crate) file: PathBuf,
    pub(crate) sha256: String,
    bytes: Vec<u8>,
}

impl Code {
    /// Reads `file`. With `sha256` (hexadecimal), it must hold what has this digest.
    ///
    /// # Errors
    /// One line naming the file: it cannot be read, is no regular file or too large, or holds something else.
    pub fn read(file: &Path, sha256: Option<&str>) -> Result<Self, String> {
        let bytes = content(file).map_err(|why| format!("{}: {why}", file.display()))?;
        let found = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
            // A String takes whatever is written.
            let _infallible = write!(text, "{byte:02x}");
            text
        });
        match sha256 {
            Some(expected) if expected != found => Err(format!(
                "{}: has changed: its SHA-256 is {found}, that of the code to load is {expected}",
                file.display()
            )),
            _ => Ok(Self { file: file.to_owned(), sha256: found, bytes }),
        }
    }

    /// What was read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name of a file in memory that holds the same. Only this process finds it.
    ///
    /// It stays open until the process ends: the loader knows a library by this name, which must not become another's.
    ///
    /// # Errors
    /// What the system says.
    #[allow(unsafe_code, reason = "the standard library makes no files in memory")]
    pub(crate) fn in_memory(&self) -> Result<PathBuf, String> {
        // SAFETY: the name is a text.
        let descriptor = unsafe { libc::memfd_create(c"plug-in".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        // SAFETY: it is open, and nobody else's.
        let mut file = unsafe { std::fs::File::from_raw_fd(descriptor) };
        file.write_all(&self.bytes).map_err(|error| error.to_string())?;
        Ok(format!("/proc/self/fd/{}", file.into_raw_fd()).into())
    }
}

/// What a regular file holds. To open a pipe would wait, and a device may never end.
fn content(file: &Path) -> Result<Vec<u8>, String> {
    let mut options = std::fs::OpenOptions::new();
    let opened = options.read(true).custom_flags(libc::O_NONBLOCK).open(file);
    let opened = opened.map_err(|error| error.to_string())?;
    let found = opened.metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("allowed is a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("allowed for a library are at most {} MiB", MOST_BYTES >> 20));
    }
    Ok(bytes)
}

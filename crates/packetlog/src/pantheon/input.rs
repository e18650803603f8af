//! Text logs as input.

use crate::{Error, Interrupts, compressed};
use std::io::Read;
use std::path::Path;

/// Text log as input: its name for messages, and its bytes.
pub struct Input {
    pub(super) name: String,
    pub(super) reader: Box<dyn Read + Send>,
    pub(super) strict: bool,
    pub(super) interrupts: Interrupts,
}

impl Input {
    /// Opens a log file, plain or compressed with gzip, bzip2, xz or Zstandard, for strict reading. Reading fails above
    /// 8 GiB, or above 256 MiB if the log is more than 200 times as long as the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Ok(Self::of(path.display().to_string(), compressed::open(path)?))
    }

    /// Creates an input from any reader. Reads are large, so the reader needs no buffer.
    pub fn new(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self::of(name.into(), Box::new(reader))
    }

    fn of(name: String, reader: Box<dyn Read + Send>) -> Self {
        Self { name, reader, strict: true, interrupts: Interrupts::none() }
    }

    /// Returns the input for lenient reading.
    pub fn leniently(self) -> Self {
        Self { strict: false, ..self }
    }

    /// Returns the input with `interrupts`, which end its reading.
    pub fn until(self, interrupts: &Interrupts) -> Self {
        Self { interrupts: interrupts.clone(), ..self }
    }

    /// Returns the first bytes, at most `most`.
    pub fn head(self, most: u64) -> Result<Vec<u8>, Error> {
        let path = Path::new(&self.name);
        let mut bytes = Vec::new();
        self.reader.take(most).read_to_end(&mut bytes).map_err(|e| Error::io(path, "read", e))?;
        Ok(bytes)
    }

    /// Returns all bytes; an error above `most` bytes.
    pub fn bytes(self, most: u64) -> Result<Vec<u8>, Error> {
        let path = Path::new(&self.name);
        let mut bytes = Vec::new();
        self.reader.take(most + 1).read_to_end(&mut bytes).map_err(|e| Error::io(path, "read", e))?;
        if bytes.len() as u64 > most {
            return Err(Error::file(path, format!("is longer than {most} bytes")));
        }
        Ok(bytes)
    }
}

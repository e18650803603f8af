//! Text logs to read.

use crate::{Error, Interrupts, compressed};
use std::io::Read;
use std::path::Path;

/// A text log to read: its name for messages, and its bytes.
pub struct Input {
    pub(super) name: String,
    pub(super) reader: Box<dyn Read + Send>,
    pub(super) strict: bool,
    pub(super) interrupts: Interrupts,
}

impl Input {
    /// A log in a file, which may be compressed with gzip, bzip2, xz or Zstandard; read strictly. One that becomes more
    /// than 200 times as long, and more than 256 MiB, or more than 8 GiB, is refused as it is read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Ok(Self::of(path.display().to_string(), compressed::open(path)?))
    }

    /// A log from anywhere. It is read in large blocks, so it needs no buffer of its own.
    pub fn new(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Self::of(name.into(), Box::new(reader))
    }

    fn of(name: String, reader: Box<dyn Read + Send>) -> Self {
        Self { name, reader, strict: true, interrupts: Interrupts::none() }
    }

    /// The same, read leniently.
    pub fn leniently(self) -> Self {
        Self { strict: false, ..self }
    }

    /// The same; reading it ends when somebody wants that.
    pub fn until(self, interrupts: &Interrupts) -> Self {
        Self { interrupts: interrupts.clone(), ..self }
    }

    /// Its first bytes, at most `most`.
    pub fn head(self, most: u64) -> Result<Vec<u8>, Error> {
        let path = Path::new(&self.name);
        let mut bytes = Vec::new();
        self.reader.take(most).read_to_end(&mut bytes).map_err(|e| Error::io(path, "read", e))?;
        Ok(bytes)
    }

    /// All of it; refused if that is more than `most` bytes.
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

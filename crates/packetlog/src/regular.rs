//! User files, which must be regular. A device may never end, and a pipe may wait for a writer.

use crate::error::Error;
use std::fs::{File, metadata};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Input file: a path or an open file.
#[derive(Clone, Debug)]
pub struct LogFile {
    path: PathBuf,
    opened: Option<Arc<File>>,
}

impl LogFile {
    /// Creates an input from an open file. The path is only for messages, since another file may have this path by now.
    pub fn opened(file: File, path: PathBuf) -> Self {
        Self { path, opened: Some(Arc::new(file)) }
    }

    /// Returns the path for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file again from its beginning.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or is not regular.
    pub(crate) fn open(&self) -> Result<File, Error> {
        let Some(file) = &self.opened else { return open_regular(&self.path) };
        // A duplicated descriptor would share its position with all other readers.
        let same = format!("/proc/self/fd/{}", file.as_raw_fd());
        File::open(same).map_err(|e| Error::io(&self.path, "open", e))
    }
}

impl<P: AsRef<Path>> From<P> for LogFile {
    fn from(path: P) -> Self {
        Self { path: path.as_ref().to_owned(), opened: None }
    }
}

/// Opens `path` for reading.
///
/// # Errors
/// Returns an error if the file cannot be opened or is not regular.
pub(crate) fn open_regular(path: &Path) -> Result<File, Error> {
    // The type is checked first, since opening a named pipe waits.
    let kind = metadata(path).map_err(|e| Error::io(path, "open", e))?.file_type();
    if !kind.is_file() {
        let what = if kind.is_dir() { "is a directory" } else { "is a pipe or a device" };
        return Err(Error::file(path, format!("{what}: allowed is a regular file")));
    }
    File::open(path).map_err(|e| Error::io(path, "open", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_open_is_read_from_its_beginning_whatever_stands_at_its_path() {
        let file = File::open("Cargo.toml").unwrap();
        let log = LogFile::opened(file, PathBuf::from("/absent"));
        let text = || std::io::read_to_string(log.open().unwrap()).unwrap();
        assert!(text().starts_with("[package]"));
        assert_eq!(text(), text());
        assert_eq!(log.path(), Path::new("/absent"));
    }

    #[test]
    fn only_regular_files_are_opened() {
        let refusal = |path: &str| open_regular(Path::new(path)).unwrap_err().to_string();
        assert_eq!(refusal("/dev/zero"), "/dev/zero: is a pipe or a device: allowed is a regular file");
        assert_eq!(refusal("/tmp"), "/tmp: is a directory: allowed is a regular file");
        assert!(refusal("/absent").contains("/absent"));
        assert!(open_regular(Path::new("Cargo.toml")).is_ok());
    }
}

//! Files that people name: one that never ends, or that waits for somebody to write, is refused.

use crate::error::Error;
use std::fs::{File, metadata};
use std::path::Path;

/// Opens `path` for reading.
///
/// # Errors
/// It cannot be opened, or is something else than a regular file.
pub(crate) fn open_regular(path: &Path) -> Result<File, Error> {
    // Before it is opened: to open a named pipe waits.
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
    fn only_regular_files_are_opened() {
        let refusal = |path: &str| open_regular(Path::new(path)).unwrap_err().to_string();
        assert_eq!(refusal("/dev/zero"), "/dev/zero: is a pipe or a device: allowed is a regular file");
        assert_eq!(refusal("/tmp"), "/tmp: is a directory: allowed is a regular file");
        assert!(refusal("/absent").contains("/absent"));
        assert!(open_regular(Path::new("Cargo.toml")).is_ok());
    }
}

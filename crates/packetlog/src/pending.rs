//! Output file that gets its name only when it is complete.

use crate::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Unfinished file `<path>.tmp`. [`Pending::commit`] makes the file durable and renames it; dropping removes it.
#[derive(Debug)]
pub(crate) struct Pending {
    path: PathBuf,
    temporary: PathBuf,
    committed: bool,
}

impl Pending {
    pub(crate) fn create(path: &Path) -> Result<(Self, File), Error> {
        let mut name = OsString::from(path);
        name.push(".tmp");
        let temporary = PathBuf::from(name);
        // An existing file belongs to a killed process, or is somebody's link. dumbbell does not write through it.
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::io(&temporary, "replace", error));
            }
            _ => {}
        }
        let file = File::create_new(&temporary).map_err(|e| Error::io(&temporary, "create", e))?;
        Ok((Self { path: path.to_owned(), temporary, committed: false }, file))
    }

    /// Returns the final name of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes `file` to the disk, renames it, and flushes the directory entry.
    pub(crate) fn commit(mut self, file: File) -> Result<(), Error> {
        file.sync_all().map_err(|e| Error::io(&self.path, "write", e))?;
        drop(file);
        fs::rename(&self.temporary, &self.path).map_err(|e| Error::io(&self.path, "rename to", e))?;
        self.committed = true;
        sync_directory_of(&self.path)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.committed {
            // A failure does no harm, since the name marks the file as incomplete.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(unix)]
fn sync_directory_of(path: &Path) -> Result<(), Error> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(directory).and_then(|d| d.sync_all()).map_err(|e| Error::io(directory, "flush", e))
}

#[cfg(not(unix))]
fn sync_directory_of(_path: &Path) -> Result<(), Error> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    #[test]
    fn a_file_that_cannot_be_made_durable_does_not_get_its_name() {
        let path = std::env::temp_dir().join(format!("dumbbell-pending-{}", std::process::id()));
        let (pending, _file) = Pending::create(&path).unwrap();
        // A pipe cannot be flushed to a disk.
        let (_reader, writer) = std::io::pipe().unwrap();
        let error = pending.commit(File::from(OwnedFd::from(writer))).unwrap_err();
        assert!(error.to_string().contains("dumbbell-pending-"), "{error}");
        assert!(!path.exists());
        assert!(!path.with_added_extension("tmp").exists());
    }
}

//! Private directories for the programs of runs, in a place where nobody else can make or exchange them.

use crate::Error;
use nix::unistd::geteuid;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The directory of root's runs.
const OF_ROOT: &str = "/run/dumbbell";
/// Names the directory that the system gives to a user for this.
const OF_USER: &str = "XDG_RUNTIME_DIR";

/// A directory for the programs of a run, removed after it.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Creates the directory of a run, named by the mark of the run's owner. A directory that exists already is refused.
    ///
    /// # Errors
    /// One line: where no directory could be made, and why.
    pub(crate) fn create(mark: &str) -> Result<Self, Error> {
        let path = home()?.join(mark);
        // Not recursive: it has to be new.
        make(&path).map_err(|error| Error::system(format!("{}", path.display()), error))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing to be done about what cannot be removed.
        let _removed = fs::remove_dir_all(&self.0);
    }
}

/// Removes the directories of runs whose owner has ended, which `is_orphaned` says of their names.
pub(crate) fn remove_orphaned(is_orphaned: impl Fn(&str) -> bool) {
    let Ok(home) = home() else { return };
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(&is_orphaned) {
            // What cannot be removed is tried again the next time.
            let removed = fs::remove_dir_all(entry.path());
            tracing::info!(directory = %entry.path().display(), ?removed, "removes what a run left that was killed");
        }
    }
}

/// The directory that has them: root's, or the user's own.
fn home() -> Result<PathBuf, Error> {
    let own = std::env::temp_dir().join(format!("dumbbell-{}", user()));
    let given = std::env::var_os(OF_USER).map(PathBuf::from).filter(|path| path.is_absolute());
    let places = [Some(PathBuf::from(OF_ROOT)), given.map(|path| path.join("dumbbell")), Some(own)];
    let mut refusals = Vec::new();
    for place in places.into_iter().flatten() {
        match require_private(&place) {
            Ok(()) => return Ok(place),
            Err(why) => refusals.push(format!("{}: {why}", place.display())),
        }
    }
    Err(Error::NoDirectory { refusals: refusals.join("; "), variable: OF_USER })
}

/// Why a directory is not safe for what programs write.
#[derive(Debug, thiserror::Error)]
enum NotPrivate {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("is no directory")]
    NoDirectory,
    #[error("belongs to somebody else")]
    OfAnother,
    #[error("others can write to it")]
    Writable,
}

/// Makes a directory that nobody else can write to, or sees that it is one.
fn require_private(path: &Path) -> Result<(), NotPrivate> {
    match make(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(NotPrivate::NoDirectory);
    }
    if found.uid() != geteuid().as_raw() {
        return Err(NotPrivate::OfAnother);
    }
    if found.mode() & 0o022 != 0 {
        return Err(NotPrivate::Writable);
    }
    Ok(())
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// The number of the user outside of the user namespace that this process may have entered.
fn user() -> u32 {
    let inside = geteuid().as_raw();
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let outside = map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        let (first, to, count) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
        inside.checked_sub(first).filter(|offset| *offset < count).and_then(|offset| to.checked_add(offset))
    });
    outside.unwrap_or(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::Owner;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn only_a_directory_of_ones_own_is_private() {
        let folder = std::env::temp_dir().join(format!("dumbbell-private-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (good, link, file, open) =
            (folder.join("good"), folder.join("link"), folder.join("file"), folder.join("open"));
        require_private(&good).unwrap();
        assert_eq!(fs::metadata(&good).unwrap().mode() & 0o777, 0o700);
        require_private(&good).unwrap();
        symlink(&good, &link).unwrap();
        fs::write(&file, "").unwrap();
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(matches!(require_private(&link), Err(NotPrivate::NoDirectory)));
        assert!(matches!(require_private(&file), Err(NotPrivate::NoDirectory)));
        assert!(matches!(require_private(&open), Err(NotPrivate::Writable)));
        if geteuid().is_root() && std::os::unix::fs::chown(&good, Some(1), None).is_ok() {
            assert!(matches!(require_private(&good), Err(NotPrivate::OfAnother)));
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_was_made_beforehand_is_not_taken() {
        let owner = Owner::next();
        let first = Scratch::create(owner.mark_text()).unwrap();
        let refusal = Scratch::create(owner.mark_text()).unwrap_err().to_string();
        assert!(refusal.contains(&first.path().display().to_string()), "{refusal}");
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
        assert!(Scratch::create(owner.mark_text()).is_ok());
    }
}

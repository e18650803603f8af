//! Generates the lists of controllers: each file or folder in `src/schemes` and `src/learned` becomes a module, and its
//! `ENTRY` joins the registry.
//!
//! A controller is a file `NAME.rs`, or a folder with a `mod.rs`. Nothing else in Rust names the controller. The list
//! names files relative to its own place. So a build that is reused for another clone does not read the files of this
//! clone.

#![allow(clippy::disallowed_methods, reason = "a build script reads and writes files")]

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    // Like the system's resolution of `..`: links and `..` in the target's name are resolved, too.
    let source = fs::canonicalize(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("src"))?;
    let out = fs::canonicalize(env::var("OUT_DIR")?)?;
    for folder in ["schemes", "learned"] {
        println!("cargo::rerun-if-changed=src/{folder}");
        fs::write(out.join(format!("{folder}.rs")), listed(&source.join(folder), &out)?)?;
    }
    Ok(())
}

/// Returns Rust code with the modules of `folder` and the list of their entries. A file in `out` includes this code.
fn listed(folder: &Path, out: &Path) -> Result<String, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let place = entry?.path();
        let is_own = place.ends_with("mod.rs");
        let file = if place.is_dir() { place.join("mod.rs") } else { place.clone() };
        if !is_own && file.extension().is_some_and(|extension| extension == "rs") {
            files.push((text(place.file_stem())?, text(Some(relative(&file, out).as_os_str()))?));
        }
    }
    files.sort(); // by their names, wherever they lie
    let mut code = String::new();
    for (name, file) in &files {
        writeln!(code, "#[path = {file:?}]\npub(crate) mod {name};")?;
    }
    let entries: Vec<String> = files.iter().map(|(name, _)| format!("{name}::ENTRY")).collect();
    writeln!(code, "pub(crate) const ENTRIES: &[crate::Entry] = &[{}];", entries.join(", "))?;
    Ok(code)
}

/// Returns the path of `file` relative to the folder `from`.
fn relative(file: &Path, from: &Path) -> PathBuf {
    let shared = file.components().zip(from.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| "..");
    up.collect::<PathBuf>().join(file.components().skip(shared).collect::<PathBuf>())
}

fn text(name: Option<&OsStr>) -> Result<String, Box<dyn Error>> {
    Ok(name.and_then(|name| name.to_str()).ok_or("a file's name is no UTF-8")?.to_owned())
}

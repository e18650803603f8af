//! Compiles `kernel/*.bpf.c` with clang into objects that the program carries, and writes the table of them.
//!
//! Without clang the build succeeds with a table without objects: only those who run a controller of ours in the kernel
//! need one. `CLANG` names another compiler.

#![allow(clippy::disallowed_methods, reason = "a build script reads files and the environment")]
#![allow(clippy::print_stdout, reason = "a build script speaks to cargo")]

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let sources = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../kernel").canonicalize()?;
    println!("cargo:rerun-if-changed={}", sources.display());
    println!("cargo:rerun-if-env-changed=CLANG");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let has_clang =
        Command::new(&clang).arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_clang {
        println!("cargo:warning={clang} not found: built without the TCP controllers of kernel/*.bpf.c");
        // A file that never exists: cargo asks again at the next build.
        println!("cargo:rerun-if-changed={}", out.join("no-clang").display());
    }
    let mut table = String::from("&[\n");
    for source in bpf_sources(&sources)? {
        println!("cargo:rerun-if-changed={}", source.path.display());
        let object = if has_clang {
            let object = out.join(format!("{}.bpf.o", source.stem));
            compile(&clang, &source.path, &object)?;
            format!("Some(include_bytes!({:?}))", object.display().to_string())
        } else {
            "None".into()
        };
        writeln!(
            table,
            "    Controller {{ name: \"bpf_{}\", summary: {:?}, object: {object} }},",
            source.stem, source.summary
        )?;
    }
    table.push(']');
    fs::write(out.join("controllers.rs"), table)?;
    Ok(())
}

struct Source {
    path: PathBuf,
    /// File name without `.bpf.c`.
    stem: String,
    summary: String,
}

fn bpf_sources(directory: &Path) -> Result<Vec<Source>> {
    let mut sources = vec![];
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".bpf.c") {
            // The second line, as kernel/README.md asks.
            let text = fs::read_to_string(&path)?;
            let summary = text.lines().nth(1).and_then(|line| line.strip_prefix("/* "));
            let summary = summary.ok_or(format!("{name}: the second line is not '/* SUMMARY'"))?;
            sources.push(Source { stem: stem.into(), summary: summary.into(), path });
        }
    }
    sources.sort_by(|a, b| a.stem.cmp(&b.stem));
    Ok(sources)
}

fn compile(clang: &str, source: &Path, object: &Path) -> Result<()> {
    let target = if env::var("CARGO_CFG_TARGET_ENDIAN")? == "big" { "bpfeb" } else { "bpfel" };
    let status = Command::new(clang)
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-nostdinc"])
        .args(["-target", target])
        .arg("-I")
        .arg(env::var("DEP_BPF_INCLUDE")?)
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{clang} could not compile {}", source.display()).into())
    }
}

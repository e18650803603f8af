//! Declarations of libraries, and loading of their files.
#![allow(clippy::disallowed_methods, reason = "libraries are files")]

use congestion::{Parameters, Start};
use plugin::{Code, Error, Library, Watch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use units::Time;

/// Directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dumbbell-plugin-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        Self(folder)
    }

    /// Builds the library of `refused.c` with fault number `wrong`; 0 is no fault.
    fn library(&self, wrong: u32) -> PathBuf {
        let library = self.0.join(format!("lib{wrong}.so"));
        let mut compiler = Command::new("cc");
        compiler.args([
            "-shared",
            "-fPIC",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused",
            &format!("-DWRONG={wrong}"),
        ]);
        compiler.arg("-I").arg("include").arg("tests/it/refused.c").arg("-o").arg(&library);
        assert!(compiler.status().expect("a C compiler").success());
        library
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failed removal does no harm.
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

fn open(file: &Path) -> Result<Arc<Library>, Error> {
    Library::open(&Code::read(file, None)?)
}

#[test]
fn what_a_library_declares_is_read() {
    let scratch = Scratch::new("declares");
    let library = open(&scratch.library(0)).unwrap();
    let controllers: Vec<_> = library.controllers().collect();
    assert_eq!(controllers.len(), 1);
    assert_eq!((controllers[0].name, controllers[0].summary), ("mine", "A test."));
    assert_eq!(controllers[0].fields, [("level", "packets")]);
    let allowed: Vec<String> = controllers[0].parameters.iter().map(congestion::Parameter::allowed).collect();
    assert_eq!(
        allowed[..4],
        ["a number from 0 to 1 s", "a whole number from -3 to 9", "true or false", "one, two"]
    );
    let parameters = Parameters::defaults(controllers[0].parameters);
    assert_eq!((parameters.number("number"), parameters.integer("integer")), (0.5, 2));
    assert!(parameters.flag("flag"));
    assert_eq!((parameters.choice("choice"), parameters.file("file")), ("two", None));
    assert!(Arc::ptr_eq(&library, &open(&scratch.0.join("lib0.so")).unwrap()), "loaded once");
}

#[test]
fn the_bytes_that_were_read_are_loaded_and_not_what_the_file_holds_by_then() {
    let scratch = Scratch::new("exchanged");
    let file = scratch.library(0);
    let code = Code::read(&file, None).unwrap();
    // The file is overwritten in place; a mapping of the file would show the change.
    std::fs::write(&file, "no library").unwrap();
    assert_eq!(Library::open(&code).unwrap().controllers().count(), 1);
    assert!(
        open(&file).map(|_| ()).unwrap_err().to_string().contains("cannot be loaded"),
        "another content, another library"
    );
}

#[test]
fn a_file_with_another_digest_is_not_taken() {
    let scratch = Scratch::new("digest");
    let file = scratch.0.join("libabc.so");
    std::fs::write(&file, "abc").unwrap();
    // FIPS 180-2, appendix B.1.
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(Code::read(&file, Some(known)).unwrap().bytes(), b"abc");
    std::fs::write(&file, "abd").unwrap();
    let refusal = Code::read(&file, Some(known)).map(|_| ()).unwrap_err().to_string();
    assert!(refusal.contains("libabc.so: has changed: its SHA-256 is "), "{refusal}");
    assert!(refusal.ends_with(&format!("that of the code to load is {known}")), "{refusal}");
    assert!(
        Code::read(&scratch.0, None)
            .map(|_| ())
            .unwrap_err()
            .to_string()
            .ends_with("allowed is a regular file")
    );
}

#[test]
fn what_a_controller_refuses_is_told_with_its_reason() {
    let scratch = Scratch::new("refuses");
    let library = open(&scratch.library(0)).unwrap();
    let watch = Arc::new(Watch::default());
    assert!(
        library
            .entry("mind", "", &watch)
            .unwrap_err()
            .to_string()
            .ends_with("unknown controller `mind`: allowed are mine")
    );
    let entry = library.entry("mine", "scheme mine (lib0.so: mine)", &watch).unwrap();
    let start = Start { now: Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: 1 };
    let controller = entry.build(&Parameters::defaults(entry.parameters), &start).unwrap();
    assert_eq!(
        watch.failure(),
        Some("scheme mine (lib0.so: mine): create refused to start: there is no table (at 0.000000 s)")
    );
    assert_eq!(controller.control().window_bytes, 14_480);
}

#[test]
fn what_is_wrong_with_a_library_is_told_in_one_line_that_names_it() {
    let scratch = Scratch::new("wrong");
    let expected = [
        (1, "controller 1: `mine`: parameter `number`: its preset 7 is not within 0 and 1"),
        (2, "controller 1: `mine`: declares the parameter `number` twice"),
        (3, "parameter `integer`: preset and range are no whole numbers up to 2^53"),
        (4, "parameter `flag`: its preset is 2: allowed is 0 or 1"),
        (5, "parameter `choice`: its preset is 2: allowed is 0 to 1"),
        (6, "parameter `choice`: a choice needs `choices`"),
        (7, "parameter `file`: its kind is 17: allowed is DUMBBELL_NUMBER to DUMBBELL_FILE"),
        (8, "name of a parameter: is NULL"),
        (9, "parameter `a b`: allowed is a name without spaces, `=` and `.`"),
        (10, "field `srtt`: the transport writes a field of this name itself"),
        (11, "field `a b`: allowed are letters, digits and _"),
        (12, "`name` = `a/b`: allowed are letters, digits and `._-`"),
        (13, "`mine`: summary: is no UTF-8"),
        (14, "declares 1000 fields: allowed is 0 to 64, and an array of them"),
        (15, "`mine`: has no function `on_ack`"),
        (16, "declares the controller `mine` twice"),
        (17, "is made for version 2 of the plug-in interface: this dumbbell has version 1"),
        (
            18,
            "its `struct dumbbell_controller` has 24 bytes, allowed is 152 to 168: it was compiled with another dumbbell.h",
        ),
        (19, "`dumbbell_plugin` returned NULL"),
        (20, "is no plug-in of dumbbell: it has no `dumbbell_plugin` (the macro DUMBBELL_PLUGIN makes it)"),
        (
            22,
            "its `struct dumbbell_ack` has 1000 bytes, allowed is 200 to 248: it was compiled with another dumbbell.h",
        ),
    ];
    for (wrong, message) in expected {
        let library = scratch.library(wrong);
        let refusal = open(&library).map(|_| ()).unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("{}: ", library.display())), "{refusal}");
        assert!(refusal.ends_with(message), "{wrong}: {refusal}");
        assert!(!refusal.contains('\n'));
    }
}

#[test]
fn a_library_of_the_first_header_of_this_interface_is_still_taken() {
    let scratch = Scratch::new("first");
    let library = open(&scratch.library(21)).unwrap();
    assert_eq!(library.controllers().map(|controller| controller.name).collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn files_that_are_no_libraries_are_refused() {
    let scratch = Scratch::new("none");
    let file = scratch.0.join("libnone.so");
    assert!(open(&file).map(|_| ()).unwrap_err().to_string().contains("No such file"));
    std::fs::write(&file, "no library").unwrap();
    let refusal = open(&file).map(|_| ()).unwrap_err().to_string();
    assert!(refusal.contains("libnone.so: cannot be loaded: ") && !refusal.contains('\n'), "{refusal}");
}

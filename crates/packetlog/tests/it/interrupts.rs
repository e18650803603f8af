//! Long work that is told to end, ends: whatever is read.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use packetlog::pantheon::{Direction, Input, Log, import};
use packetlog::{Error, Interrupts};
use std::io::Read;

/// A text that never ends.
struct Endless(&'static [u8]);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let whole = buffer.len() / self.0.len() * self.0.len();
        for part in buffer[..whole].chunks_exact_mut(self.0.len()) {
            part.copy_from_slice(self.0);
        }
        Ok(whole)
    }
}

fn at_once() -> Interrupts {
    Interrupts::when(|| true)
}

#[test]
fn logs_without_end_are_read_until_somebody_wants_that_to_end() {
    type Form = fn(Input) -> Log;
    let cases: [(Form, &[u8]); 4] = [
        (Log::Merged, b"# nothing\n"),
        (Log::Merged, b"1.000 + 1500 1\n"),
        (Log::MmLink, b"# nothing\n"),
        (Log::MmLink, b"1 + 1504\n1 d 1 1504\n"),
    ];
    for (form, text) in cases {
        let log = form(Input::new("endless.log", Endless(text)).until(&at_once()));
        let ended = import(log, Direction::Data, &mut |_| Ok(())).unwrap_err();
        assert!(matches!(ended, Error::Interrupted), "{ended}");
    }
}

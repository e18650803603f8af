//! Files of tables: our own format, and Remy's.

use super::table::Table;
use super::{dna, text};
use strict_input::Refusal;

impl Table {
    /// The table in a file: our own format, or that of Remy.
    ///
    /// # Errors
    /// One line: what is wrong with it.
    pub fn read(contents: &[u8]) -> Result<Self, Refusal> {
        if contents.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
            return text::read(contents).map(|(table, _)| table);
        }
        dna::read(contents)
            .map_err(|fault| {
                Refusal::new(format!(
                    "{fault}: allowed are tables of `dumbbell train remy` and Remy's .dna files"
                ))
            })
            .and_then(Self::new)
    }
}

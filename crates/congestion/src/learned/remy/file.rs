//! Files of tables: dumbbell's own format, and Remy's.

use super::table::Table;
use super::{dna, text};
use strict_input::Refusal;

impl Table {
    /// Reads a table from a file in dumbbell's own format or in Remy's.
    ///
    /// # Errors
    /// One line that describes the fault.
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

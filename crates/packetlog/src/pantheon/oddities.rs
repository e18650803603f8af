//! Oddities of a log that Pantheon's analysis accepts.

use std::fmt;

/// Oddity of a log with the first line that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// Name of the log.
    pub log: String,
    /// Number of the first such line, from 1.
    pub line: u64,
    /// Description of the oddity.
    pub what: String,
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.log, self.line, self.what)
    }
}

/// Kinds of oddities.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Time earlier than a time before it; the size is the step in ns.
    StepBack,
    /// Time before the log's zero; the size is the difference in ns.
    Negative,
    /// More than three decimals.
    Decimals,
    /// Blanks before the first field.
    Blank,
    /// Number in a notation that Python parses but does not write.
    Notation,
    /// A byte order mark.
    Mark,
    /// No newline at the end.
    Unterminated,
}

const KINDS: usize = 7;

#[derive(Clone, Copy, Default)]
struct Found {
    lines: u64,
    first: u64,
    largest_ns: u64,
}

/// Counts of each kind in one log.
#[derive(Default)]
pub(super) struct Oddities([Found; KINDS]);

impl Oddities {
    #[cold]
    pub(super) fn note(&mut self, kind: Kind, line: u64, size_ns: u64) {
        let found = &mut self.0[kind as usize];
        if found.lines == 0 {
            found.first = line;
        }
        found.lines += 1;
        found.largest_ns = found.largest_ns.max(size_ns);
    }

    /// Returns the oddities as sentences.
    pub(super) fn list(&self, log: &str) -> Vec<Oddity> {
        let kinds = [
            Kind::StepBack,
            Kind::Negative,
            Kind::Decimals,
            Kind::Blank,
            Kind::Notation,
            Kind::Mark,
            Kind::Unterminated,
        ];
        let found = kinds.into_iter().map(|kind| (kind, self.0[kind as usize]));
        let found = found.filter(|(_, found)| found.lines > 0);
        found
            .map(|(kind, found)| Oddity { log: log.to_owned(), line: found.first, what: found.what(kind) })
            .collect()
    }
}

impl Found {
    fn what(self, kind: Kind) -> String {
        let ms = self.largest_ns as f64 / 1e6;
        let (is, largest) = if self.lines == 1 { ("", "by") } else { (" (first here)", "by up to") };
        let lines = if self.lines == 1 { "1 line".to_owned() } else { format!("{} lines", self.lines) };
        match kind {
            Kind::StepBack => {
                format!("{lines} earlier than a line before{is}: the clock stepped back {largest} {ms} ms")
            }
            Kind::Negative => format!("{lines} before the log's zero{is}, {largest} {ms} ms"),
            Kind::Decimals => {
                format!("{lines} with more than 3 decimals{is}: delays count in whole us, times in whole ns")
            }
            Kind::Blank => format!("{lines} with blanks at the start{is}"),
            Kind::Notation => format!("{lines} with numbers in another notation than Pantheon's{is}"),
            Kind::Mark => "a byte order mark at the start, left out".to_owned(),
            Kind::Unterminated => "no newline at the end of the last line, which is whole".to_owned(),
        }
    }
}

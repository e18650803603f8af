//! What people look at of a run: series of any part of it, packets, the life of one, all as bytes or JSON. No file, no clock.
//!
//! A [`Pyramid`] keeps minima, maxima and sums of a run over time, and what is rare: any part of a long run is shown from it at once.
//! What is looked at more closely is read from the run's [`Rows`]. [`View`] is both together; [`Columns`] is the format of what it
//! answers.

mod bins;
mod bytes;
mod checkpoints;
mod columns;
mod error;
mod gather;
mod life;
mod packets;
mod pyramid;
mod rare;
mod reading;
mod resends;
mod rows;
mod series;
mod shown;
mod sums;
mod thinned;
mod window;
mod words;

pub use columns::Columns;
pub use error::{Cause, Error};
pub use pyramid::{Owner, Pyramid, PyramidBuilder};
pub use rare::RareKind;
pub use rows::{NoRows, RecordVisitor, Rows, SampleVisitor};
pub use series::{Described, Wanted};

use std::collections::HashMap;

/// A run as it is looked at: its pyramid, and its rows.
#[derive(Clone, Debug)]
pub struct View<'a, R: Rows + ?Sized> {
    pyramid: &'a Pyramid,
    rows: &'a R,
    /// How many retransmissions each flow had, where that is known.
    retransmissions: HashMap<u32, u64>,
}

impl<'a, R: Rows + ?Sized> View<'a, R> {
    /// Of a run with this pyramid and these rows.
    pub fn new(pyramid: &'a Pyramid, rows: &'a R) -> Self {
        Self { pyramid, rows, retransmissions: HashMap::new() }
    }

    /// The same, where it is known how many retransmissions each flow (by number) had: then it is known which packets they are.
    #[must_use]
    pub fn with_retransmissions(mut self, counts: impl IntoIterator<Item = (u32, u64)>) -> Self {
        self.retransmissions = counts.into_iter().collect();
        self
    }
}

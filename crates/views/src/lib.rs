//! Views of a run: series of any part, packets, and the life of one packet, as bytes or JSON. The crate uses no files
//! and no clock.
//!
//! A [`Pyramid`] contains minima, maxima and sums over time, and rare events. It shows any part of a long run at
//! once. Closer views need the run's [`Rows`]. A [`View`] combines both. [`Columns`] is the format of its results.

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
mod series_rows;
mod sums;
mod thinned;
mod window;
mod words;

pub use columns::Columns;
pub use error::{Cause, Error};
pub use pyramid::{Owner, Pyramid, PyramidBuilder};
pub use rare::RareKind;
pub use rows::{NoRows, RecordVisitor, Rows, SampleVisitor};
pub use series::{SeriesDescription, SeriesSelector};

use std::collections::HashMap;

/// View of a run: its pyramid and its rows.
#[derive(Clone, Debug)]
pub struct View<'a, R: Rows + ?Sized> {
    pyramid: &'a Pyramid,
    rows: &'a R,
    /// Number of retransmissions by flow, if known.
    retransmissions: HashMap<u32, u64>,
}

impl<'a, R: Rows + ?Sized> View<'a, R> {
    /// Returns a view of a run with this pyramid and these rows.
    pub fn new(pyramid: &'a Pyramid, rows: &'a R) -> Self {
        Self { pyramid, rows, retransmissions: HashMap::new() }
    }

    /// Sets the number of retransmissions of each flow (by number). The view then knows which packets are
    /// retransmissions.
    #[must_use]
    pub fn with_retransmissions(mut self, counts: impl IntoIterator<Item = (u32, u64)>) -> Self {
        self.retransmissions = counts.into_iter().collect();
        self
    }
}

//! Ctrl-C and the like, heard in the middle of long work.

use crate::Error;
use std::fmt;
use std::sync::Arc;

/// Steps of work between two looks: a tenth of a second.
const STEPS_PER_LOOK: u64 = 1 << 20;

/// Tells long work whether somebody wants it to end: then it ends with [`Error::Interrupted`].
#[derive(Clone, Default)]
pub struct Interrupts {
    is_wanted: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    steps: u64,
}

impl Interrupts {
    /// Nobody ever does.
    pub fn none() -> Self {
        Self::default()
    }

    /// Somebody does when `is_wanted` says so, which is asked now and then.
    pub fn when(is_wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { is_wanted: Some(Arc::new(is_wanted)), steps: 0 }
    }

    /// Some steps of work were done; one is about what a line of a log or a record costs.
    ///
    /// # Errors
    /// The work is to end.
    #[inline]
    pub fn after(&mut self, steps: u64) -> Result<(), Error> {
        self.steps += steps;
        if self.steps < STEPS_PER_LOOK { Ok(()) } else { self.look() }
    }

    #[cold]
    fn look(&mut self) -> Result<(), Error> {
        self.steps = 0;
        match &self.is_wanted {
            Some(is_wanted) if is_wanted() => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Interrupts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupts").finish_non_exhaustive()
    }
}

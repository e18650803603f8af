//! Interruption of long work, for example by Ctrl-C.

use crate::Error;
use std::fmt;
use std::sync::Arc;

/// Number of work steps between two checks: a tenth of a second.
const STEPS_PER_LOOK: u64 = 1 << 20;

/// Checks whether long work should end; the work then fails with [`Error::Interrupted`].
#[derive(Clone, Default)]
pub struct Interrupts {
    is_wanted: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    steps: u64,
}

impl Interrupts {
    /// Returns an instance that never interrupts.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns an instance that interrupts when `is_wanted` returns true. It is called now and then.
    pub fn when(is_wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { is_wanted: Some(Arc::new(is_wanted)), steps: 0 }
    }

    /// Counts finished work steps. A step costs about as much as a line of a log or a record.
    ///
    /// # Errors
    /// Returns an error if the work is interrupted.
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

//! Bytes of a file, with the value that a controller has parsed from them.

use core::any::Any;
use core::fmt::{self, Debug, Formatter};
use core::ops::Deref;
use std::sync::{Arc, OnceLock};
use strict_input::Refusal;

/// Contents of a file. Clones share the bytes and the parsed value: a thousand flows with one file store it once.
#[derive(Clone)]
pub struct Contents(Arc<Held>);

struct Held {
    bytes: Box<[u8]>,
    made: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Contents {
    /// Returns the value that `make` parses from the bytes. A clone returns the value of the first call.
    ///
    /// # Errors
    /// The error that `make` returns.
    pub(crate) fn made<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce(&[u8]) -> Result<T, Refusal>,
    ) -> Result<Arc<T>, Refusal> {
        let before = self.0.made.get().map(Arc::clone);
        if let Some(Ok(made)) = before.map(Arc::downcast) {
            return Ok(made);
        }
        let made = Arc::new(make(self)?);
        // A value that another thread or another type stored first stays: it is equal, or needed equally often.
        let _ = self.0.made.set(Arc::<T>::clone(&made));
        Ok(made)
    }
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl<T: Into<Box<[u8]>>> From<T> for Contents {
    fn from(bytes: T) -> Self {
        Self(Arc::new(Held { bytes: bytes.into(), made: OnceLock::new() }))
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Debug for Contents {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_contents_is_made_once_for_all_that_share_them() {
        let contents = Contents::from(&[1, 2, 3][..]);
        assert_eq!(contents.made::<usize>(|_| Err(Refusal::new("no"))).unwrap_err().to_string(), "no");
        let first = contents.made(|bytes| Ok(bytes.len())).unwrap();
        let again = contents.clone().made::<usize>(|_| Err(Refusal::new("made twice"))).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other = contents.made(|bytes| Ok(bytes[0])).unwrap();
        assert_eq!((*first, *other), (3, 1));
        assert!(contents.made::<usize>(|_| Err(Refusal::new("made twice"))).is_ok());
    }
}

//! Lists from another machine of which a few bytes must not become many.

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::marker::PhantomData;

/// Reads a list of at most `MAX` entries.
///
/// # Errors
/// What the list is read from says; a longer list.
pub(crate) fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MAX: usize>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(Few::<T, MAX>(PhantomData))
}

struct Few<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Few<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "at most {MAX} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut read = Vec::new();
        while let Some(entry) = entries.next_element()? {
            if read.len() == MAX {
                return Err(A::Error::invalid_length(MAX + 1, &self));
            }
            read.push(entry);
        }
        Ok(read)
    }
}

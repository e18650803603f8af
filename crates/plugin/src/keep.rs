//! Texts that live as long as the process: names that controllers of plug-ins bring, where ours are constants.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The text, for good. Each takes memory once, however often it is kept.
pub fn keep(text: &str) -> &'static str {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let new: &'static str = String::leak(text.to_owned());
    kept.insert(new);
    new
}

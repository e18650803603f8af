//! Strings that live as long as the process, for names of plug-in controllers. Built-in names are constants.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Returns a permanent copy of the string. Repeated calls with equal strings use no more memory.
pub fn keep(text: &str) -> &'static str {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let new: &'static str = String::leak(text.to_owned());
    kept.insert(new);
    new
}

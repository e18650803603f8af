//! What arrives in a simulated run, for all trainers.

use record::{Event, Record};
use runs::Observer;

/// Tells of packets that arrive, and of nothing else: one kind of observer for all trainers, for each kind makes another
/// copy of the simulator to compile.
pub(crate) struct Delivered<'a>(pub(crate) &'a mut dyn FnMut(&Record));

impl Observer for Delivered<'_> {
    #[inline]
    fn record(&mut self, record: &Record) {
        if record.event == Event::Deliver {
            (self.0)(record);
        }
    }
}

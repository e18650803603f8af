//! A sender's state after every event, without what stayed as it was.

use congestion::FieldSink;

/// The state of one flow as it was last passed on.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    state: Vec<Field>,
}

/// A field of a flow's state and the value last passed on.
#[derive(Clone, Debug)]
struct Field {
    name: &'static str,
    bits: u64,
}

impl Changes {
    /// Passes on to `sink` those of the `fields` that are not as they were when this was last called, and the field called
    /// `always` in any case: where it comes again, another event has happened at the same time.
    #[inline]
    pub fn pass(
        &mut self,
        always: &'static str,
        sink: &mut dyn FieldSink,
        fields: impl FnOnce(&mut dyn FieldSink),
    ) {
        fields(&mut ChangeSink { sink, state: &mut self.state, always, position: 0 });
    }
}

/// Passes on what differs from the last time. Fields come in the same order each time, though not always all of them.
struct ChangeSink<'a> {
    sink: &'a mut dyn FieldSink,
    state: &'a mut Vec<Field>,
    always: &'static str,
    /// Where the next field is expected.
    position: usize,
}

impl FieldSink for ChangeSink<'_> {
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
        let expected = self.position..self.state.len();
        let found = expected.clone().find(|&position| self.state[position].name == name);
        let bits = value.to_bits();
        if let Some(position) = found {
            self.position = position + 1;
            if self.state[position].bits == bits && name != self.always {
                return;
            }
            self.state[position].bits = bits;
        } else {
            self.state.insert(expected.start, Field { name, bits });
            self.position = expected.start + 1;
        }
        self.sink.put(name, unit, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<(&'static str, f64)>);

    impl FieldSink for Seen {
        fn put(&mut self, name: &'static str, _: &'static str, value: f64) {
            self.0.push((name, value));
        }
    }

    #[test]
    fn only_changes_are_passed_on_and_what_is_wanted_always() {
        let mut changes = Changes::default();
        let mut pass = |always, state: &[(&'static str, f64)]| {
            let mut seen = Seen::default();
            changes.pass(always, &mut seen, |sink| {
                for &(name, value) in state {
                    sink.put(name, "", value);
                }
            });
            seen.0
        };
        assert_eq!(pass("", &[("in_flight", 1.0), ("cwnd", 2.0)]), [("in_flight", 1.0), ("cwnd", 2.0)]);
        assert_eq!(pass("", &[("in_flight", 1.0), ("cwnd", 3.0)]), [("cwnd", 3.0)]);
        // A field that comes later than the others, and the others as before.
        assert_eq!(pass("", &[("in_flight", 1.0), ("mode", 0.0), ("cwnd", 3.0)]), [("mode", 0.0)]);
        assert_eq!(pass("in_flight", &[("in_flight", 1.0), ("cwnd", 3.0)]), [("in_flight", 1.0)]);
        assert_eq!(pass("", &[("in_flight", 1.0), ("mode", 0.0), ("cwnd", 3.0)]), []);
    }
}

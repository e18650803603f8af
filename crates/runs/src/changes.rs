//! Changes of a sender's state between events.

use congestion::FieldSink;

/// State of one flow as last passed on.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    state: Vec<Field>,
}

/// Field of a flow's state with the value last passed on.
#[derive(Clone, Debug)]
struct Field {
    name: &'static str,
    bits: u64,
}

impl Changes {
    /// Passes the `fields` that changed since the last call on to `sink`, and the field `always` in any case.
    ///
    /// A repeated `always` field marks another event at one time.
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

/// Sink that passes changed fields on. Fields come in one order, though some may be missing.
struct ChangeSink<'a> {
    sink: &'a mut dyn FieldSink,
    state: &'a mut Vec<Field>,
    always: &'static str,
    /// Expected position of the next field.
    position: usize,
}

impl FieldSink for ChangeSink<'_> {
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
        let expected = self.position..self.state.len();
        let place = expected.clone().find(|&position| self.state[position].name == name);
        let bits = value.to_bits();
        if let Some(position) = place {
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
    struct PutFields(Vec<(&'static str, f64)>);

    impl FieldSink for PutFields {
        fn put(&mut self, name: &'static str, _: &'static str, value: f64) {
            self.0.push((name, value));
        }
    }

    #[test]
    fn only_changes_are_passed_on_and_what_is_wanted_always() {
        let mut changes = Changes::default();
        let mut pass = |always, state: &[(&'static str, f64)]| {
            let mut fields = PutFields::default();
            changes.pass(always, &mut fields, |sink| {
                for &(name, value) in state {
                    sink.put(name, "", value);
                }
            });
            fields.0
        };
        assert_eq!(pass("", &[("in_flight", 1.0), ("cwnd", 2.0)]), [("in_flight", 1.0), ("cwnd", 2.0)]);
        assert_eq!(pass("", &[("in_flight", 1.0), ("cwnd", 3.0)]), [("cwnd", 3.0)]);
        // A new field appears in the middle, the other fields are unchanged.
        assert_eq!(pass("", &[("in_flight", 1.0), ("mode", 0.0), ("cwnd", 3.0)]), [("mode", 0.0)]);
        assert_eq!(pass("in_flight", &[("in_flight", 1.0), ("cwnd", 3.0)]), [("in_flight", 1.0)]);
        assert_eq!(pass("", &[("in_flight", 1.0), ("mode", 0.0), ("cwnd", 3.0)]), []);
    }
}

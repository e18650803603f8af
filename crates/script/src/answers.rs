//! Answers of a controller, by name.

use crate::expect::FieldValue;
use congestion::{Control, Controller, FieldSink};
use units::Time;

/// Fields in the order in which they were reported.
#[derive(Debug, Default)]
pub(crate) struct Fields(pub(crate) Vec<FieldValue>);

impl FieldSink for Fields {
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
        self.0.push(FieldValue { name: name.to_owned(), unit: unit.to_owned(), value });
    }
}

impl Fields {
    pub(crate) fn find(&self, name: &str) -> Option<&FieldValue> {
        self.0.iter().find(|field| field.name == name)
    }
}

/// Returns the control and the state of `controller`: `window`, `pacing`, `burst` and `wake`, then its own fields.
///
/// A controller without a field `cwnd` gets it from its window, in packets of `mss_bytes`.
pub(crate) fn answers(controller: &dyn Controller, mss_bytes: u32) -> (Control, Fields) {
    let control = controller.control();
    let mut fields = Fields::default();
    let window = if control.window_bytes == u64::MAX { f64::INFINITY } else { control.window_bytes as f64 };
    let wake = if control.wake_at == Time::NEVER { f64::INFINITY } else { control.wake_at.as_secs_f64() };
    fields.put("window", "bytes", window);
    fields.put("pacing", "Mbit/s", control.pacing.map_or(f64::INFINITY, units::Rate::mbps));
    fields.put("burst", "bytes", control.burst_bytes as f64);
    fields.put("wake", "s", wake);
    controller.fields(&mut fields);
    if fields.find("cwnd").is_none() {
        fields.put("cwnd", "packets", window / f64::from(mss_bytes));
    }
    (control, fields)
}

//! qlog events of any version in one form.

use super::problem::Problem;
use serde_json::{Map, Value};

/// Format of a trace's events and their times.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Position of time, name and data in events that are arrays (draft-00 and draft-01).
    columns: Option<Columns>,
    /// True if each time counts from the event before.
    pub(super) is_delta: bool,
    /// Milliseconds per unit of time.
    pub(super) ms: f64,
    /// Origin of the trace's times, in units; zero if the trace has none.
    reference: f64,
    /// Time of the first event, in units.
    first: Option<f64>,
    last: f64,
}

#[derive(Debug)]
struct Columns {
    time: usize,
    name: usize,
    data: usize,
    /// Position of the path number, which picoquic writes.
    path: Option<usize>,
}

/// Event in the form that the importer uses.
#[derive(Debug)]
pub(super) struct Event<'a> {
    /// Time since the trace's first event, ns; never decreases.
    pub(super) time_ns: u64,
    /// Name without category, in lower case.
    pub(super) name: String,
    pub(super) data: &'a Value,
    /// Path of the event, if the number is not in `data`.
    pub(super) path: Option<u64>,
}

impl Dialect {
    /// Reads the format from the description of a trace.
    ///
    /// # Errors
    ///
    /// Returns the problem of the description.
    pub(super) fn of(info: &Map<String, Value>) -> Result<Self, Problem> {
        let common = |key: &str| info.get("common_fields").and_then(|fields| fields.get(key));
        let columns = match info.get("event_fields") {
            Some(Value::Array(fields)) if !fields.is_empty() => Some(Columns::of(fields)?),
            _ => None,
        };
        let has_delta_column = columns.is_some() && column(info, "delta_time").is_some();
        let format = common("time_format").and_then(Value::as_str).unwrap_or_default();
        let is_delta = has_delta_column || matches!(format, "delta" | "relative_to_previous_event");
        let units = info.get("configuration").and_then(|configuration| configuration.get("time_units"));
        let ms = match units.or_else(|| common("time_units")).and_then(Value::as_str) {
            None | Some("ms") => 1.0,
            Some("us") => 1e-3,
            Some(other) => return Err(Problem::TimeUnits(other.to_owned())),
        };
        let reference = common("reference_time").and_then(number).unwrap_or(0.0);
        Ok(Self { columns, is_delta, ms, reference, first: None, last: 0.0 })
    }

    /// Returns the time of the first event by the trace's clock, ns; 0 before the first event.
    pub(super) fn first_ns(&self) -> u64 {
        self.first.map_or(0, |first| ((self.reference + first) * self.ms * 1e6).round() as u64)
    }

    /// Returns the event in `value`, or `None` for the empty event at the end of some stacks' lists.
    ///
    /// # Errors
    ///
    /// Returns the problem of the event.
    pub(super) fn read<'a>(&mut self, value: &'a Value) -> Result<Option<Event<'a>>, &'static str> {
        let (time, name, data, path) = match (value, &self.columns) {
            (Value::Object(fields), _) if fields.is_empty() => return Ok(None),
            (Value::Array(fields), _) if fields.is_empty() => return Ok(None),
            (Value::Object(fields), _) => {
                let name = fields.get("name").or_else(|| fields.get("type"));
                (fields.get("time"), name, fields.get("data"), None)
            }
            (Value::Array(fields), Some(at)) => {
                let path = at.path.and_then(|path| count(fields.get(path)?));
                (fields.get(at.time), fields.get(at.name), fields.get(at.data), path)
            }
            (Value::Array(_), None) => return Err("is an array, but the trace has no `event_fields`"),
            _ => return Err("is neither an object nor an array"),
        };
        let time = time.and_then(number).ok_or("has no number `time`")?;
        let name = name.and_then(Value::as_str).ok_or("has no text `name`")?;
        let name = name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
        Ok(Some(Event { time_ns: self.time_ns(time)?, name, data: data.unwrap_or(&Value::Null), path }))
    }

    fn time_ns(&mut self, time: f64) -> Result<u64, &'static str> {
        let since = match self.first {
            // The first delta counts from the reference time, which does not matter here.
            None => 0.0,
            Some(_) if self.is_delta => self.last + time,
            Some(first) => time - first,
        };
        let last = self.last.max(since);
        let ns = (last * self.ms * 1e6).round();
        if ns >= 2f64.powi(62) {
            return Err("has a time more than a century after the first");
        }
        self.first.get_or_insert(time);
        self.last = last;
        Ok(ns as u64)
    }
}

impl Columns {
    fn of(fields: &[Value]) -> Result<Self, Problem> {
        let find = |names: &[&str]| {
            let is = |field: &Value| {
                field.as_str().is_some_and(|text| names.iter().any(|name| text.eq_ignore_ascii_case(name)))
            };
            let position = fields.iter().position(is);
            position.ok_or_else(|| Problem::NoColumn(names.join(", ")))
        };
        Ok(Self {
            time: find(&["time", "relative_time", "delta_time"])?,
            name: find(&["event", "event_type", "name", "type"])?,
            data: find(&["data"])?,
            path: find(&["path_id"]).ok(),
        })
    }
}

fn column(info: &Map<String, Value>, name: &str) -> Option<usize> {
    info.get("event_fields")?.as_array()?.iter().position(|field| field.as_str() == Some(name))
}

/// Returns a finite number. Some stacks write numbers as strings.
pub(super) fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|number| number.is_finite())
}

/// Returns a count. Some stacks write counts as strings.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns the value of the first of `keys` that `value` has. Dots in a key lead into objects.
pub(super) fn find<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| key.split('.').try_fold(value, |inner, part| inner.get(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn times(info: Value, times: &[f64]) -> Vec<u64> {
        let Value::Object(info) = info else { panic!("an object") };
        let mut dialect = Dialect::of(&info).unwrap();
        let read = |time: &f64| {
            let value = json!({"time": time, "name": "a:B", "data": {}});
            dialect.read(&value).unwrap().unwrap().time_ns
        };
        times.iter().map(read).collect()
    }

    #[test]
    fn the_first_event_was_at_the_time_of_the_traces_own_clock() {
        let first = |info: Value, time: f64| {
            let Value::Object(info) = info else { panic!("an object") };
            let mut dialect = Dialect::of(&info).unwrap();
            assert_eq!(dialect.first_ns(), 0);
            for time in [time, time + 5.0] {
                dialect.read(&json!({"time": time, "name": "a:b", "data": {}})).unwrap();
            }
            dialect.first_ns()
        };
        // aioquic writes the wall clock without saying so.
        assert_eq!(first(json!({}), 1_553_986_553_572.0), 1_553_986_553_572_000_000);
        let relative = json!({"common_fields": {"reference_time": "1553986553570"}});
        assert_eq!(first(relative, 2.0), 1_553_986_553_572_000_000);
        let of_another_clock =
            json!({"common_fields": {"reference_time": {"clock_type": "monotonic", "epoch": "unknown"}}});
        assert_eq!(first(of_another_clock, 2.0), 2_000_000);
        assert_eq!(first(json!({"configuration": {"time_units": "us"}}), 7.0), 7_000);
    }

    #[test]
    fn times_count_from_the_first_event_in_every_format() {
        let absolute = json!({"common_fields": {"time_format": "absolute"}});
        assert_eq!(times(absolute, &[1_553_986_553_572.0, 1_553_986_553_574.5]), [0, 2_500_000]);
        let relative = json!({"common_fields": {"time_format": "relative_to_epoch"}});
        // An event that goes back gets the time of the event before.
        assert_eq!(times(relative, &[7.0, 9.0, 8.0, 10.0]), [0, 2_000_000, 2_000_000, 3_000_000]);
        let delta = json!({"common_fields": {"time_format": "delta"}});
        assert_eq!(times(delta, &[1500.0, 3.0, 5.0, 7.0]), [0, 3_000_000, 8_000_000, 15_000_000]);
        // Other deltas may equal the first delta, thus it does not identify the first event.
        let delta = json!({"common_fields": {"time_format": "delta"}});
        assert_eq!(times(delta.clone(), &[5.0, 5.0, 5.0]), [0, 5_000_000, 10_000_000]);
        assert_eq!(times(delta, &[0.0, 0.0, 5.0, 0.0]), [0, 0, 5_000_000, 5_000_000]);
        let us = json!({"configuration": {"time_units": "us"}});
        assert_eq!(times(us, &[10.0, 25.0]), [0, 15_000]);
    }

    #[test]
    fn arrays_are_read_by_their_columns() {
        let Value::Object(info) =
            json!({"event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"]})
        else {
            panic!("an object")
        };
        let mut dialect = Dialect::of(&info).unwrap();
        let value = json!(["5", "TRANSPORT", "PACKET_SENT", {"a": 1}]);
        let event = dialect.read(&value).unwrap().unwrap();
        assert_eq!((event.time_ns, &*event.name, &event.data["a"]), (0, "packet_sent", &json!(1)));
        assert!(dialect.read(&json!([])).unwrap().is_none());
        assert!(dialect.read(&json!([true, "a", "b", {}])).unwrap_err().contains("time"));
        assert!(dialect.read(&json!(3)).is_err());
    }

    #[test]
    fn what_a_trace_cannot_say_of_itself_is_refused() {
        let refusal = |info: Value| Dialect::of(info.as_object().unwrap()).unwrap_err();
        assert_eq!(
            refusal(json!({"configuration": {"time_units": "s"}})),
            Problem::TimeUnits("s".to_owned())
        );
        let columns = refusal(json!({"event_fields": ["category", "event", "data"]})).to_string();
        assert!(columns.contains("time"), "{columns}");
    }
}

//! Description of a run in sentences.

use crate::View;
use crate::error::Error;
use crate::pyramid::Owner;
use crate::rows::Rows;
use measure::reading::{Facts, ReadingMeter};
use std::collections::HashMap;
use std::ops::ControlFlow;

impl<R: Rows + ?Sized> View<'_, R> {
    /// Returns the events of the run with their causes as JSON: `{"sentences": [...]}`. Reads all rows.
    ///
    /// `facts` is JSON with known facts about the run ([`Facts`]); `{}` if there are none.
    ///
    /// # Errors
    /// Returns an error if the facts have another format, or the rows cannot be read.
    pub fn reading(&self, facts: &str) -> Result<String, Error> {
        let is_object = facts.trim_start().starts_with('{');
        let parsed: Option<Facts> = serde_json::from_str(facts).ok().filter(|_| is_object);
        let facts = parsed.ok_or_else(|| Error::InvalidArgument {
            key: "facts",
            value: facts.chars().take(100).collect(),
            allowed: "an object with `flows`, as in facts.json",
        })?;
        let mut meter = ReadingMeter::new(facts);
        self.rows.records(0, u64::MAX, &mut |record| {
            meter.record(record);
            ControlFlow::Continue(())
        })?;
        let sampled = self.pyramid.sampled.iter();
        let units: HashMap<(&Owner, &str), &str> =
            sampled.map(|series| ((&series.owner, series.field.as_str()), series.unit.as_str())).collect();
        self.rows.samples(0, u64::MAX, &mut |time_ns, owner, field, value| {
            match owner {
                Owner::Flow(flow) => {
                    let unit = units.get(&(owner, field)).copied().unwrap_or("");
                    meter.flow_value(time_ns, *flow, field, unit, value);
                }
                Owner::Link(link) => meter.link_value(time_ns, link, field, value),
                Owner::Path => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(serde_json::json!(meter.finish()).to_string())
    }
}

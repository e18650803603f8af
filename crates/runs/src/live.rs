//! Observation of a run in progress, for example for a progress display, a page or a training loop.

use crate::Observer;
use crate::columns::{FlowSamples, LinkSamples};
use core::ops::ControlFlow;
use measure::Sample;
use units::Time;

/// State of a run at the end of a sample interval.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// Time of the moment.
    pub at: Time,
    /// State of the flows; in full logs every change since the previous moment.
    pub flows: FlowSamples,
    /// State of the links.
    pub links: LinkSamples,
}

/// Observer that calls a function at the end of every sample interval. The run ends if the function breaks, with its
/// reason.
#[derive(Debug)]
pub struct Live<F> {
    moment: Moment,
    tell: F,
    reason: Option<String>,
}

impl<F: FnMut(&Moment) -> ControlFlow<String>> Live<F> {
    /// Returns an observer that calls `tell`.
    pub fn new(tell: F) -> Self {
        Self { moment: Moment::default(), tell, reason: None }
    }
}

impl<F: FnMut(&Moment) -> ControlFlow<String>> Observer for Live<F> {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.moment.at = sample.at;
        if self.reason.is_none() {
            self.reason = (self.tell)(&self.moment).break_value();
        }
        self.moment.flows.clear();
        self.moment.links.clear();
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        self.moment.flows.flow(at, flow, field, unit, value);
    }

    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        self.moment.links.link(at, link, field, unit, value);
    }

    fn stop(&self) -> Option<String> {
        self.reason.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_is_told_once_and_the_first_reason_to_stop_stays() {
        let mut moments = Vec::new();
        let mut live = Live::new(|moment: &Moment| {
            let links = (0..moment.links.value.len()).map(|row| moment.links.owner.get(row).to_owned());
            moments.push((moment.at, moment.flows.value.clone(), links.collect::<Vec<_>>()));
            if moments.len() < 2 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(format!("enough after {}", moments.len()))
            }
        });
        for second in 1..=3 {
            let at = Time::from_secs_f64(f64::from(second));
            live.flow_value(at, 1, "cwnd", "packets", f64::from(second));
            live.link_value(at, "data/link", "queue", "packets", 0.0);
            live.link_value(at, "ack/link", "queue", "packets", 0.0);
            assert_eq!(live.stop().is_some(), second > 2);
            live.sample(&Sample { at, ..Sample::default() });
        }
        assert_eq!(live.stop().as_deref(), Some("enough after 2"));
        let links = ["data/link".to_owned(), "ack/link".to_owned()].to_vec();
        let at = |second| Time::from_secs_f64(second);
        assert_eq!(moments, [(at(1.0), vec![1.0], links.clone()), (at(2.0), vec![2.0], links)]);
    }
}

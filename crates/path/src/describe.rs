//! Description of a path: base RTT, capacity, loss, links and bottleneck, as specified and over time.

use crate::Error;
use crate::change::Change;
use crate::element::Table;
use crate::encapsulation::MtuChange;
use crate::spec::{ElementSpec, PathSpec, names};
use crate::subpath::Subpath;
use crate::until::{Until, to_the_end};
use serde::Serialize;
use units::{Span, Time};

/// Times (s since the start of the run, the first is 0) with the values that hold from then on.
pub type Steps = Vec<(f64, f64)>;

/// Description of a path. The base RTT is that of a flow that passes the whole path. Flows may have a different base
/// RTT, or pass a subpath only.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Description {
    /// Sum of the fixed delays of both directions at the start, ms.
    pub base_rtt_ms: f64,
    /// Base RTT over time, ms; `None` if a delay walks at random, or if there is no delay.
    pub base_rtts_ms: Option<Steps>,
    /// Capacity of the narrowest link of the data direction over time, Mbit/s. `None` unless all links have a constant
    /// rate, except for schedules.
    pub rates_mbps: Option<Steps>,
    /// Probability that independent losses drop a packet of the data direction, over time. `None` without such an
    /// element, or if the probability walks.
    pub losses: Option<Steps>,
    /// Parts of the base RTT at the start; the delays of the data direction first.
    pub delays: Vec<DelayDescription>,
    /// Links; those of the data direction first.
    pub links: Vec<LinkDescription>,
    /// Index of the link with the least capacity in the data direction.
    pub bottleneck: Option<usize>,
}

/// Description of one link at the start.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct LinkDescription {
    /// Name in statistics: `data/link`.
    pub name: String,
    /// `data` or `ack`.
    pub direction: &'static str,
    /// Element index of the link within the direction, from 0.
    pub element: usize,
    /// Kind of the element.
    pub kind: &'static str,
    /// Average capacity, Mbit/s; `None` without a limit.
    pub rate_mbps: Option<f64>,
}

/// Delay of every packet at the start, from the setting `delay_ms` of an element.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct DelayDescription {
    /// `data` or `ack`.
    pub direction: &'static str,
    /// Element index within the direction, from 0.
    pub element: usize,
    /// The delay, ms; more than 0.
    pub delay_ms: f64,
}

type Quantity<T> = fn(&dyn Table) -> T;

fn delay_ms(table: &dyn Table) -> f64 {
    table.delay_ms()
}

/// Returns the average capacity of a link, if it has a limit.
fn limit_mbps(table: &dyn Table) -> Option<f64> {
    table.capacity().map(|capacity| capacity.mbps).filter(|mbps| mbps.is_finite())
}

fn span(ms: f64) -> Span {
    Span::from_secs_f64(ms / 1e3)
}

impl ElementSpec {
    /// Returns a quantity of the element at the start.
    fn first<T>(&self, quantity: Quantity<T>) -> T {
        quantity(self.at_start().table())
    }

    /// Returns a quantity after each scheduled change of the settings, in the order of time. The specification must
    /// have been checked.
    fn changes<T>(&self, quantity: Quantity<T>) -> impl Iterator<Item = (Time, T)> {
        let states = self.states(&mut to_the_end).unwrap_or_default();
        let changes = self.schedule().iter().zip(states);
        changes.filter_map(move |(change, state)| Some((change.at(), state?.first(quantity))))
    }

    /// Returns true if a quantity walks at random.
    fn walks<T: PartialEq>(&self, quantity: Quantity<T>) -> bool {
        let mut keys = self.walk().into_iter().flat_map(|walk| &walk.keys);
        keys.any(|(name, walk)| {
            let with = |value| {
                let mut element = self.clone();
                element.set(name, value).ok().map(|()| quantity(element.table()))
            };
            with(walk.min) != with(walk.max)
        })
    }
}

/// Returns a combined quantity of several elements over time; `None` if it walks.
///
/// # Errors
/// The error of `until`.
fn over_time<'a, T: PartialEq + Copy>(
    elements: impl Iterator<Item = &'a ElementSpec>,
    quantity: Quantity<T>,
    combine: impl Fn(&mut dyn Iterator<Item = T>) -> T,
    until: Until<'_>,
) -> Result<Option<Vec<(Time, T)>>, Error> {
    let mut values = Vec::new();
    let mut changes = Vec::new();
    for (index, element) in elements.enumerate() {
        if element.walks(quantity) {
            return Ok(None);
        }
        values.push(element.first(quantity));
        changes.extend(element.changes(quantity).map(|(at, value)| (at, index, value)));
        until(1 + element.schedule().len() as u64)?;
    }
    // The sort is stable: of several changes of one element at one time the last counts.
    changes.sort_by_key(|&(at, ..)| at);
    let mut steps = Vec::new();
    if changes.first().is_none_or(|&(at, ..)| at > Time::ZERO) {
        steps.push((Time::ZERO, combine(&mut values.iter().copied())));
    }
    for now in changes.chunk_by(|one, other| one.0 == other.0) {
        for &(_, index, value) in now {
            values[index] = value;
        }
        let value = combine(&mut values.iter().copied());
        until((now.len() + values.len()) as u64)?;
        if steps.last().is_none_or(|&(_, last)| last != value) {
            steps.push((now[0].0, value));
        }
    }
    Ok(Some(steps))
}

fn steps(steps: Vec<(Time, f64)>) -> Steps {
    steps.into_iter().map(|(at, value)| (at.as_secs_f64(), value)).collect()
}

fn links_of(elements: &[ElementSpec], direction: &'static str) -> impl Iterator<Item = LinkDescription> {
    elements.iter().zip(names(elements)).enumerate().filter_map(move |(index, (element, name))| {
        element.first(|table| table.capacity())?;
        Some(LinkDescription {
            name: format!("{direction}/{name}"),
            direction,
            element: index,
            kind: element.kind(),
            rate_mbps: element.first(limit_mbps),
        })
    })
}

fn delays_of(elements: &[ElementSpec], direction: &'static str) -> impl Iterator<Item = DelayDescription> {
    elements.iter().enumerate().filter_map(move |(element, spec)| {
        let delay_ms = spec.first(delay_ms);
        (delay_ms > 0.0).then_some(DelayDescription { direction, element, delay_ms })
    })
}

impl PathSpec {
    /// Describes the path.
    ///
    /// # Errors
    /// The errors of [`PathSpec::validate`].
    pub fn describe(&self) -> Result<Description, Error> {
        self.describe_until(&mut to_the_end)
    }

    /// Describes the path, even if its schedule is long: `until` can end the work.
    ///
    /// # Errors
    /// The errors of [`PathSpec::validate`] and of `until`.
    pub fn describe_until(&self, until: Until<'_>) -> Result<Description, Error> {
        self.validate_until(until)?;
        let all = || self.data.iter().chain(&self.ack);
        let links: Vec<LinkDescription> =
            links_of(&self.data, "data").chain(links_of(&self.ack, "ack")).collect();
        let limited = links.iter().enumerate().filter(|(_, link)| link.direction == "data");
        let limited = limited.filter_map(|(index, link)| Some((index, link.rate_mbps?)));
        Ok(Description {
            base_rtt_ms: all().map(|element| element.first(delay_ms)).sum(),
            base_rtts_ms: self.base_rtts(until)?,
            rates_mbps: self.rates(until)?,
            losses: self.losses(until)?,
            delays: delays_of(&self.data, "data").chain(delays_of(&self.ack, "ack")).collect(),
            bottleneck: limited.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(index, _)| index),
            links,
        })
    }

    fn base_rtts(&self, until: Until<'_>) -> Result<Option<Steps>, Error> {
        let rtts = over_time(self.data.iter().chain(&self.ack), delay_ms, |delays| delays.sum(), until)?;
        Ok(rtts.filter(|rtts| rtts.iter().any(|&(_, ms)| ms > 0.0)).map(steps))
    }

    fn rates(&self, until: Until<'_>) -> Result<Option<Steps>, Error> {
        let links = || self.data.iter().filter(|element| element.table().capacity().is_some());
        let steady = links().all(|link| link.table().capacity().is_some_and(|capacity| capacity.steady));
        if !steady || links().next().is_none() {
            return Ok(None);
        }
        let rate = |table: &dyn Table| limit_mbps(table).unwrap_or(f64::INFINITY);
        Ok(over_time(links(), rate, |rates| rates.fold(f64::INFINITY, f64::min), until)?.map(steps))
    }

    fn losses(&self, until: Until<'_>) -> Result<Option<Steps>, Error> {
        let lossy = || self.data.iter().filter(|element| element.table().loss().is_some());
        if lossy().next().is_none() {
            return Ok(None);
        }
        let loss = |table: &dyn Table| table.loss().unwrap_or(0.0);
        let combine =
            |losses: &mut dyn Iterator<Item = f64>| losses.fold(0.0, |lost, loss| lost + loss - lost * loss);
        Ok(over_time(lossy(), loss, combine, until)?.map(steps))
    }

    /// Returns the sum of the fixed delays of both directions at the start.
    pub fn base_rtt(&self) -> Span {
        let elements = self.data.iter().chain(&self.ack);
        elements.fold(Span::ZERO, |sum, element| sum + span(element.first(delay_ms)))
    }

    /// Returns the sum of the fixed delays of these subpaths at the start.
    pub fn base_rtt_within(&self, [data, ack]: [Subpath; 2]) -> Span {
        let elements = data.of(&self.data).iter().chain(ack.of(&self.ack));
        elements.fold(Span::ZERO, |sum, element| sum + span(element.first(delay_ms)))
    }

    /// Returns the sum of the fixed delays of these subpaths, at the start and after every scheduled change, with the
    /// time. Empty if a delay walks at random.
    pub fn base_rtts_within(&self, [data, ack]: [Subpath; 2]) -> Vec<(Time, Span)> {
        let elements = data.of(&self.data).iter().chain(ack.of(&self.ack));
        let delay = |table: &dyn Table| span(table.delay_ms());
        let sum = |delays: &mut dyn Iterator<Item = Span>| delays.fold(Span::ZERO, |sum, delay| sum + delay);
        over_time(elements, delay, sum, &mut to_the_end).ok().flatten().unwrap_or_default()
    }

    /// Returns the time of the last scheduled change of an element or the MTU before `end`; changes of queues do not
    /// count.
    pub fn last_change(&self, end: Time) -> Option<Time> {
        let changes = self.data.iter().chain(&self.ack).flat_map(ElementSpec::schedule);
        let changes = changes.filter(|change| !change.settings.is_empty()).map(Change::at);
        let changes = changes.chain(self.schedule.iter().map(MtuChange::at));
        changes.filter(|&at| at > Time::ZERO && at < end).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn path(data: &str, ack: &str) -> PathSpec {
        serde_json::from_str(&format!(r#"{{"data": [{data}], "ack": [{ack}]}}"#)).unwrap()
    }

    fn describe_json(data: &str, ack: &str) -> Description {
        path(data, ack).describe().unwrap()
    }

    #[test]
    fn links_are_named_as_in_statistics_and_the_narrowest_is_the_bottleneck() {
        let description = describe_json(
            r#"{"kind": "link", "rate_mbps": 30}, {"kind": "delay", "delay_ms": 1}, {"kind": "link", "rate_mbps": 20},
               {"kind": "shaper", "name": "isp", "rate_mbps": 20, "burst_bytes": 9}, {"kind": "netem", "delay_ms": 2}"#,
            r#"{"kind": "cellular", "mean_mbps": 3}"#,
        );
        let names: Vec<(&str, usize)> =
            description.links.iter().map(|link| (link.name.as_str(), link.element)).collect();
        let expected =
            [("data/link", 0), ("data/link-2", 2), ("data/isp", 3), ("data/netem", 4), ("ack/cellular", 0)];
        assert_eq!(names, expected);
        let rates: Vec<Option<f64>> = description.links.iter().map(|link| link.rate_mbps).collect();
        assert_eq!(rates, [Some(30.0), Some(20.0), Some(20.0), None, Some(3.0)]);
        assert_eq!((description.bottleneck, description.base_rtt_ms), (Some(1), 3.0));
        assert_eq!(description.rates_mbps, None);
    }

    #[test]
    fn traces_can_carry_their_opportunities_on_average() {
        let rate =
            |trace: &str| describe_json(&format!(r#"{{"kind": "trace", {trace}}}"#), "").links[0].rate_mbps;
        // 3 x 1500 bytes in 6 ms; also in mode mahimahi, without its headers; 10 x 500 bytes in 5 ms.
        assert_eq!(rate(r#""times_ms": [1, 2, 6]"#), Some(6.0));
        assert_eq!(rate(r#""times_ms": [1, 2, 6], "mode": "mahimahi""#), Some(6.0));
        let even = r#""even": {"lines": 10, "period_ms": 5}, "opportunity_bytes": 500"#;
        assert_eq!(rate(even), Some(8.0));
        assert_eq!(rate(r#""poisson": {"rate_mbps": 2.5}"#), Some(2.5));
    }

    #[test]
    fn rates_delays_and_losses_follow_their_schedules() {
        let description = describe_json(
            r#"{"kind": "link", "rate_mbps": 9, "schedule": [{"at_s": 4, "rate_mbps": 3}, {"at_s": 6, "rate_mbps": 20}]},
               {"kind": "link", "rate_mbps": 12, "schedule": [{"at_s": 5, "queue": {"packets": 9}}],
                "queue": {"kind": "droptail", "packets": 5}},
               {"kind": "loss", "probability": 0.5, "schedule": [{"at_s": 2, "probability": 0.0}]},
               {"kind": "loss", "probability": 0.5}, {"kind": "delay", "delay_ms": 28},
               {"kind": "reorder", "probability": 0.1, "delay_ms": 7}"#,
            r#"{"kind": "netem", "delay_ms": 10.5}, {"kind": "delay", "delay_ms": 2,
                "schedule": [{"at_s": 5, "delay_ms": 80}]}"#,
        );
        assert_eq!(description.rates_mbps, Some(vec![(0.0, 9.0), (4.0, 3.0), (6.0, 12.0)]));
        assert_eq!(description.losses, Some(vec![(0.0, 0.75), (2.0, 0.5)]));
        // Reordered packets are late, but not every packet is reordered.
        assert_eq!(description.base_rtts_ms, Some(vec![(0.0, 40.5), (5.0, 118.5)]));
        assert_eq!((description.base_rtt_ms, description.bottleneck), (40.5, Some(0)));
        let delay = |direction, element, delay_ms| DelayDescription { direction, element, delay_ms };
        assert_eq!(description.delays, [delay("data", 4, 28.0), delay("ack", 0, 10.5), delay("ack", 1, 2.0)]);
    }

    #[test]
    fn what_walks_at_random_is_known_at_the_start_only() {
        let walk = r#""corr": 0.5, "std": 1.0, "min": 10.0, "max": 30.0"#;
        let description = describe_json(
            &format!(
                r#"{{"kind": "link", "rate_mbps": 9, "walk": {{"rate_mbps": {{{walk}}}}}}},
                   {{"kind": "link", "rate_mbps": 25}}, {{"kind": "loss", "probability": 0.1}},
                   {{"kind": "delay", "delay_ms": 1, "walk": {{"delay_ms": {{{walk}, "start": 11.0}}}}}}"#
            ),
            "",
        );
        assert_eq!((description.rates_mbps, description.base_rtts_ms), (None, None));
        assert_eq!(description.losses, Some(vec![(0.0, 0.1)]));
        // 20 in the middle of 10 to 30.
        assert_eq!((description.links[0].rate_mbps, description.bottleneck), (Some(20.0), Some(0)));
        assert_eq!(description.base_rtt_ms, 11.0);
        let empty = describe_json("", "");
        assert_eq!(
            (empty.losses, empty.base_rtts_ms, empty.rates_mbps, empty.bottleneck),
            (None, None, None, None)
        );
        assert_eq!(empty.delays, []);
    }

    /// Reference implementation: computes all states of all elements again for each time.
    fn anew_for_each_time(path: &PathSpec, quantity: Quantity<f64>) -> Vec<(Time, f64)> {
        let elements = || path.data.iter().chain(&path.ack);
        let mut times = vec![Time::ZERO];
        times.extend(elements().flat_map(ElementSpec::schedule).map(Change::at));
        times.sort_unstable();
        times.dedup();
        let after = |element: &ElementSpec, at: Time| {
            let states = element.states(&mut to_the_end).unwrap();
            let states = element.schedule().iter().zip(states).filter(|(change, _)| change.at() <= at);
            states
                .filter_map(|(_, state)| state)
                .next_back()
                .unwrap_or_else(|| element.clone())
                .first(quantity)
        };
        let mut steps: Vec<(Time, f64)> = Vec::new();
        for at in times {
            let value = elements().map(|element| after(element, at)).sum();
            if steps.last().is_none_or(|last| last.1 != value) {
                steps.push((at, value));
            }
        }
        steps
    }

    proptest! {
        #[test]
        fn steps_are_those_of_all_states_at_each_time(
            elements in prop::collection::vec((1.0..50.0, prop::collection::vec((0u32..6, 1.0..50.0), 0..8)), 0..5),
        ) {
            let links = elements.into_iter().map(|(rate_mbps, mut schedule)| {
                schedule.sort_by_key(|&(half_s, _)| half_s);
                let changes = schedule.into_iter().map(|(half_s, rate_mbps)| {
                    // Every fifth change is a change of the queue only, without a rate.
                    let at_s = f64::from(half_s) / 2.0;
                    if rate_mbps < 10.0 {
                        json!({"at_s": at_s, "queue": {"packets": 9}})
                    } else {
                        json!({"at_s": at_s, "rate_mbps": rate_mbps})
                    }
                });
                let queue = json!({"kind": "droptail", "packets": 5});
                let schedule = changes.collect::<Vec<_>>();
                json!({"kind": "link", "rate_mbps": rate_mbps, "queue": queue, "schedule": schedule})
            });
            let table = json!({"data": links.collect::<Vec<_>>(), "ack": []});
            let path: PathSpec = serde_json::from_value(table).unwrap();
            path.validate().unwrap();
            let rate: Quantity<f64> = |table| limit_mbps(table).unwrap_or(0.0);
            let result = over_time(path.data.iter(), rate, |rates| rates.sum(), &mut to_the_end);
            prop_assert_eq!(result.unwrap().unwrap(), anew_for_each_time(&path, rate));
        }
    }

    #[test]
    fn a_long_schedule_takes_steps_in_proportion_and_can_be_ended() {
        let steps_of = |changes: u32| {
            let changes: Vec<_> =
                (0..changes).map(|i| json!({"at_s": f64::from(i) / 1e3, "rate_mbps": 1 + i % 7})).collect();
            let table = json!({"data": [{"kind": "link", "rate_mbps": 9, "schedule": changes}], "ack": []});
            let path: PathSpec = serde_json::from_value(table).unwrap();
            let mut steps = 0;
            let result = path.describe_until(&mut |more| {
                steps += more;
                Ok(())
            });
            assert_eq!(result.unwrap().rates_mbps.map(|rates| rates.len()), Some(changes.len()));
            let ended = path.describe_until(&mut |_| Err(crate::Interruption)).unwrap_err().to_string();
            assert!(ended.ends_with("interrupted"), "{ended}");
            steps
        };
        let (short, long) = (steps_of(100), steps_of(10_000));
        assert!((90 * short..110 * short).contains(&long), "{short} {long}");
    }

    #[test]
    fn a_path_with_a_fault_is_not_described() {
        let error = path(r#"{"kind": "link", "rate_mbps": 0}"#, "").describe().unwrap_err().to_string();
        assert!(error.contains("data[0] (link): rate_mbps = 0"), "{error}");
    }

    #[test]
    fn schedules_say_when_anything_changes_last() {
        let json = r#"{
            "data": [{"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 9},
                      "schedule": [{"at_s": 7, "rate_mbps": 6}, {"at_s": 9, "queue": {"packets": 5}}]},
                     {"kind": "delay", "delay_ms": 20, "schedule": [{"at_s": 3, "delay_ms": 40}]}],
            "ack": [{"kind": "delay", "delay_ms": 20, "schedule": [{"at_s": 3, "delay_ms": 30},
                     {"at_s": 5, "delay_ms": 10}]}]}"#;
        let spec: PathSpec = serde_json::from_str(json).unwrap();
        let at = |s: u64| Time::ZERO + Span::from_secs(s);
        assert_eq!((spec.last_change(at(20)), spec.last_change(at(7))), (Some(at(7)), Some(at(5))));
        assert_eq!(spec.last_change(at(3)), None);
    }
}

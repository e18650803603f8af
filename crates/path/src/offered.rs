//! Delivery opportunities of a direction, without any traffic.

use crate::{Direction, ElementSpec, Error, OpportunitiesFault, Packet, PacketEvent, Tap, Until};
use units::{Span, Time};

/// Size of an opportunity that can be a line of a trace, bytes.
const PACKET_BYTES: u32 = 1500;
/// Maximum number of opportunities: 2 Gbit/s for a minute.
const MOST_OPPORTUNITIES: usize = 10_000_000;

/// Returns the opportunities of the single trace, Poisson or cellular link among `elements`, from the start to
/// `length`. They equal those of a run with this `seed` and `name` of the direction.
///
/// # Errors
/// One line: there is not exactly one such link, its opportunities do not serve a full packet of 1500 bytes, or there
/// are too many. The error of `until`.
pub fn opportunities(
    elements: &[ElementSpec],
    name: &str,
    seed: u64,
    length: Span,
    until: Until<'_>,
) -> Result<Vec<Time>, Error> {
    at_most(MOST_OPPORTUNITIES, elements, name, seed, length, until)
}

fn at_most(
    most: usize,
    elements: &[ElementSpec],
    name: &str,
    seed: u64,
    length: Span,
    until: Until<'_>,
) -> Result<Vec<Time>, Error> {
    let offers =
        |element: &&ElementSpec| element.table().capacity().is_some_and(|capacity| capacity.opportunities);
    let links = elements.iter().filter(offers).count();
    if links != 1 {
        return Err(refusal(name, OpportunitiesFault::Elements(links)));
    }
    let mut direction = Direction::build(elements, name, seed)?;
    let mut times = Times { list: Vec::new(), most, fault: None };
    let end = Time::ZERO + length;
    while times.fault.is_none() && direction.next_event() <= end && direction.next_event() != Time::NEVER {
        direction.advance(direction.next_event(), &mut times);
        until(direction.take_steps())?;
    }
    match times.fault {
        Some(fault) => Err(refusal(name, fault)),
        None => Ok(times.list),
    }
}

fn refusal(direction: &str, fault: OpportunitiesFault) -> Error {
    Error::Opportunities { direction: direction.to_owned(), fault }
}

struct Times {
    list: Vec<Time>,
    most: usize,
    /// Reason why these opportunities cannot be a trace.
    fault: Option<OpportunitiesFault>,
}

impl Tap for Times {
    fn packet(&mut self, _now: Time, _event: PacketEvent, _packet: &Packet) {}

    fn opportunity(&mut self, now: Time, bytes: u32) {
        if bytes != PACKET_BYTES {
            self.fault = Some(OpportunitiesFault::Size { bytes, expected: PACKET_BYTES });
        } else if self.list.len() == self.most {
            let (most, now_s) = (self.most, now.as_secs_f64());
            self.fault = Some(OpportunitiesFault::TooMany { most, now_s });
        } else {
            self.list.push(now);
        }
    }

    /// Returns false after a fault: a link then plans no more opportunities, not even at the current time.
    fn wants_opportunities(&self) -> bool {
        self.fault.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, at_ms, elements};
    use crate::until::{Interruption, to_the_end};

    #[test]
    fn they_are_those_of_a_run_with_the_same_seed() {
        let json = r#"[{"kind": "delay", "delay_ms": 3}, {"kind": "cellular", "mean_mbps": 3}]"#;
        let times = opportunities(&elements(json), "data", 5, Span::from_ms(4000), &mut to_the_end).unwrap();
        let mut bench = Bench::seeded(json, 5);
        bench.log.wants_opportunities = true;
        // Traffic does not matter.
        (0..100).for_each(|i| bench.send(at_ms(i * 9), 1200));
        bench.run_until(at_ms(4000));
        let run_times: Vec<Time> = bench.log.opportunities.iter().map(|(time, _)| *time).collect();
        assert!(times.len() > 100);
        assert_eq!(times, run_times);
    }

    #[test]
    fn traces_come_back_as_they_went_in() {
        let json = r#"[{"kind": "trace", "times_ms": [0, 2, 2, 5], "mode": "mahimahi"}]"#;
        let times = opportunities(&elements(json), "data", 1, Span::from_ms(7), &mut to_the_end).unwrap();
        assert_eq!(times, [0, 2, 2, 5, 5, 7, 7].map(at_ms));
    }

    #[test]
    fn other_paths_are_refused() {
        for (json, part) in [
            (r#"[{"kind": "link", "rate_mbps": 5}]"#, "data: 0 elements"),
            (
                r#"[{"kind": "cellular", "mean_mbps": 3}, {"kind": "poisson", "rate_mbps": 5}]"#,
                "data: 2 elements",
            ),
            (
                r#"[{"kind": "poisson", "rate_mbps": 5, "opportunity_bytes": 700}]"#,
                "opportunities of 700 bytes",
            ),
        ] {
            let length = Span::from_ms(100);
            let error =
                opportunities(&elements(json), "data", 1, length, &mut to_the_end).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn opportunities_of_another_size_end_it_at_once() {
        // The time between opportunities, 0.008 ns, is rounded to zero.
        let fast = r#""rate_mbps": 1000000, "opportunity_bytes": 1"#;
        let later =
            r#""rate_mbps": 1, "schedule": [{"at_s": 1, "rate_mbps": 1000000, "opportunity_bytes": 1}]"#;
        for (keys, most) in [(fast, 1), (later, 200)] {
            let json = format!(r#"[{{"kind": "poisson", {keys}}}]"#);
            let mut steps = 0;
            let result =
                opportunities(&elements(&json), "data", 1, Span::from_secs(1_000_000), &mut |more| {
                    steps += more;
                    Ok(())
                });
            assert_eq!(
                result.unwrap_err().to_string(),
                "data: opportunities of 1 bytes: must be 1500 in a trace"
            );
            assert!(steps <= most, "{steps}");
        }
    }

    #[test]
    fn as_many_as_are_allowed_and_one_more() {
        let json = r#"[{"kind": "trace", "even": {"lines": 10, "period_ms": 1}}]"#;
        let count = |ms| {
            let elements = elements(json);
            at_most(50, &elements, "data", 1, Span::from_ms(ms), &mut to_the_end).map(|times| times.len())
        };
        assert_eq!(count(5), Ok(50));
        let why = "data: more than 50 opportunities in 0.0051 s: allowed are at most 50";
        assert_eq!(count(6).unwrap_err().to_string(), why);
    }

    #[test]
    fn who_waits_can_end_it() {
        let json = r#"[{"kind": "poisson", "rate_mbps": 10}]"#;
        let mut calls = 0;
        let result = opportunities(&elements(json), "data", 1, Span::from_secs(1_000_000), &mut |_| {
            calls += 1;
            if calls < 1000 { Ok(()) } else { Err(Interruption) }
        });
        assert_eq!(result.unwrap_err().to_string(), "interrupted");
    }
}

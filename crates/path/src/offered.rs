//! The delivery opportunities of a direction, without any traffic.

use crate::{Direction, ElementSpec, Packet, PacketEvent, Tap};
use units::{Span, Time};

/// What opportunities serve if they are to be lines of a trace, bytes.
const PACKET_BYTES: u32 = 1500;

/// When the one trace, Poisson or cellular link among `elements` has opportunities from the start to `length`, as it has
/// them in a run with this `seed` and `name` of the direction.
///
/// # Errors
/// One line: there is not exactly one such link, or its opportunities serve no full packet of 1500 bytes.
pub fn opportunities(
    elements: &[ElementSpec],
    name: &str,
    seed: u64,
    length: Span,
) -> Result<Vec<Time>, String> {
    let offers =
        |element: &&ElementSpec| element.table().capacity().is_some_and(|capacity| capacity.opportunities);
    let links = elements.iter().filter(offers).count();
    if links != 1 {
        return Err(format!(
            "{name}: {links} elements with delivery opportunities (trace, poisson, cellular): exactly one is needed"
        ));
    }
    let mut direction = Direction::build(elements, name, seed)?;
    let mut times = Times::default();
    let end = Time::ZERO + length;
    while direction.next_event() <= end && direction.next_event() != Time::NEVER {
        direction.advance(direction.next_event(), &mut times);
    }
    if let Some(bytes) = times.other_bytes {
        return Err(format!("{name}: opportunities of {bytes} bytes: must be {PACKET_BYTES} in a trace"));
    }
    Ok(times.list)
}

#[derive(Default)]
struct Times {
    list: Vec<Time>,
    other_bytes: Option<u32>,
}

impl Tap for Times {
    fn packet(&mut self, _now: Time, _event: PacketEvent, _packet: &Packet) {}

    fn opportunity(&mut self, now: Time, bytes: u32) {
        self.list.push(now);
        if bytes != PACKET_BYTES {
            self.other_bytes = Some(bytes);
        }
    }

    fn wants_opportunities(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, at_ms, elements};

    #[test]
    fn they_are_those_of_a_run_with_the_same_seed() {
        let json = r#"[{"kind": "delay", "delay_ms": 3}, {"kind": "cellular", "mean_mbps": 3}]"#;
        let times = opportunities(&elements(json), "data", 5, Span::from_ms(4000)).unwrap();
        let mut bench = Bench::seeded(json, 5);
        bench.log.wants_opportunities = true;
        // Traffic does not matter.
        (0..100).for_each(|i| bench.send(at_ms(i * 9), 1200));
        bench.run_until(at_ms(4000));
        let seen: Vec<Time> = bench.log.opportunities.iter().map(|(time, _)| *time).collect();
        assert!(times.len() > 100);
        assert_eq!(times, seen);
    }

    #[test]
    fn traces_come_back_as_they_went_in() {
        let json = r#"[{"kind": "trace", "times_ms": [0, 2, 2, 5], "mode": "mahimahi"}]"#;
        let times = opportunities(&elements(json), "data", 1, Span::from_ms(7)).unwrap();
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
            let error = opportunities(&elements(json), "data", 1, Span::from_ms(100)).unwrap_err();
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        }
    }
}

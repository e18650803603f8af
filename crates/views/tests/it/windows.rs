//! Windows compared with all samples of a run.

use crate::runs_in_memory::{SimulatedRun, flow, path, run};
use crate::table::Table;
use proptest::prelude::*;
use record::Event;
use std::sync::LazyLock;
use views::{NoRows, Pyramid, SeriesSelector, View};

/// Two flows with losses and a sample for every event.
static RAN: LazyLock<SimulatedRun> =
    LazyLock::new(|| run(&path(40.0, 20.0, 60, &[]), &[flow("cubic"), flow("bbr")], 6.0, "full"));

/// Returns the one-way delays of all delivered packets of a flow: time, ns, and delay, ms.
fn delays(ran: &SimulatedRun, flow: u32) -> Vec<(f64, f64)> {
    let packets = &ran.memory.packets;
    let rows = (0..packets.time_ns.len())
        .filter(|&row| packets.flow[row] == flow && packets.event[row] == Event::Deliver as u8);
    rows.map(|row| (packets.time_ns[row] as f64, packets.one_way_delay_ns[row] as f64 / 1e6)).collect()
}

/// Returns the values of a flow's field.
fn field(ran: &SimulatedRun, flow: u32, field: &str) -> Vec<(f64, f64)> {
    let flows = &ran.memory.flows;
    let rows =
        (0..flows.time_ns.len()).filter(|&row| flows.owner[row] == flow && flows.field.get(row) == field);
    rows.map(|row| (flows.time_ns[row] as f64, flows.value[row])).collect()
}

/// Checks that each row has the minimum and maximum of all samples from its time to the time of the next row.
fn check(
    rows: &[(f64, f64, f64)],
    samples: &[(f64, f64)],
    from: f64,
    to: f64,
    columns: usize,
) -> Result<(), TestCaseError> {
    let inside: Vec<_> = samples.iter().filter(|(time, _)| (from..to).contains(time)).collect();
    prop_assert_eq!(rows.is_empty(), inside.is_empty());
    prop_assert!(rows.len() <= 2 * columns, "{} rows", rows.len());
    prop_assert!(rows.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    prop_assert!(rows.iter().all(|row| (from..to).contains(&row.0) && row.1 <= row.2));
    for &&(time, value) in &inside {
        // If several rows have one time, any of them may contain the value.
        let holds = rows.iter().enumerate().any(|(place, row)| {
            let end = rows.get(place + 1).map_or(f64::INFINITY, |next| next.0);
            row.0 <= time && time <= end && row.1 <= value && value <= row.2
        });
        prop_assert!(holds, "{} at {}", value, time);
    }
    Ok(())
}

fn wanted(text: &str) -> Vec<SeriesSelector> {
    SeriesSelector::list(text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_peak_is_lost_however_closely_one_looks(
        from in 0.0..6e9_f64, log_span in 3.0..9.9_f64, columns in 1u32..3_000,
    ) {
        let ran = &*RAN;
        let span = libm_pow10(log_span);
        let (from, to) = (from.floor(), (from + span).ceil());
        let view = View::new(&ran.pyramid, &ran.memory);
        let bytes = view.window(from, to, columns, &wanted(r#"["one_way_delay", ["flow 1", "cwnd"]]"#)).unwrap();
        let table = Table::of(&bytes);
        for flow in [1, 2] {
            let rows = table.series(flow - 1);
            let samples = delays(ran, flow as u32);
            // A bin that begins before the window may contain earlier samples.
            check(&rows, &samples, from, to, columns.max(1_024) as usize)?;
            let all: f64 = samples.iter().filter(|(time, _)| (from..to).contains(time)).map(|one| one.1).fold(0.0, f64::max);
            let most = rows.iter().map(|row| row.2).fold(0.0, f64::max);
            let near = samples.iter().filter(|(time, _)| (from - 6e9 / 4_096.0..to + 6e9 / 4_096.0).contains(time));
            prop_assert!(all <= most && most <= near.map(|one| one.1).fold(0.0, f64::max));
        }
        let cwnd = field(ran, 1, "cwnd");
        let rows = table.series(2);
        // A series that holds begins with the value at the window's beginning.
        let before = cwnd.iter().rev().find(|(time, _)| *time <= from);
        if let Some((_, value)) = before {
            prop_assert_eq!(rows[0].0, from);
            prop_assert!(rows[0].1 <= *value && *value <= rows[0].2);
        }
        let inside: Vec<_> = rows.iter().copied().skip(usize::from(before.is_some())).collect();
        if cwnd.iter().any(|(time, _)| (from..to).contains(time)) && !inside.is_empty() {
            let highest = cwnd.iter().filter(|(time, _)| (from..to).contains(time)).map(|one| one.1).fold(0.0, f64::max);
            prop_assert!(rows.iter().any(|row| row.2 >= highest));
        }
    }

    #[test]
    fn bars_hold_every_byte(from in 0.0..5e9_f64, log_span in 5.0..9.7_f64, columns in 2u32..2_000) {
        let ran = &*RAN;
        let (from, to) = (from.floor(), (from + libm_pow10(log_span)).ceil());
        let view = View::new(&ran.pyramid, &ran.memory);
        let table = Table::of(&view.window(from, to, columns, &wanted(r#"["throughput", "send_rate"]"#)).unwrap());
        let packets = &ran.memory.packets;
        for (place, (event, flow)) in
            [(Event::Deliver, 1), (Event::Deliver, 2), (Event::Send, 1), (Event::Send, 2)].into_iter().enumerate()
        {
            let width = table.meta["series"][place]["bin_ns"].as_f64().unwrap();
            let rows = table.series(place);
            prop_assert!(rows.len() <= columns as usize + 2, "{} bars", rows.len());
            for (bar, mbps, same) in rows {
                prop_assert_eq!(mbps, same);
                let inside = (0..packets.time_ns.len()).filter(|&row| {
                    let time = packets.time_ns[row] as f64;
                    packets.event[row] == event as u8 && packets.flow[row] == flow && (bar..bar + width).contains(&time)
                });
                let bytes: f64 = inside.map(|row| f64::from(packets.size_bytes[row])).sum();
                prop_assert!((mbps - bytes * 8e3 / width).abs() < 1e-6, "{} {}", mbps, bytes);
            }
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_shown(place in 0usize..1_000_000, byte: u8, cut in 0usize..1_000_000) {
        let bytes = RAN.pyramid.to_bytes();
        let mut other = bytes.clone();
        let place = place % other.len();
        other[place] ^= byte.max(1);
        let refused = Pyramid::from_bytes(&other).unwrap_err().to_string();
        prop_assert!(!refused.contains('\n'));
        prop_assert!(Pyramid::from_bytes(&bytes[..cut % bytes.len()]).is_err());
    }
}

fn libm_pow10(exponent: f64) -> f64 {
    let mut value = 1.0;
    for _ in 0..exponent as u32 {
        value *= 10.0;
    }
    value * (1.0 + 9.0 * exponent.fract())
}

#[test]
fn a_pyramid_is_the_same_after_it_was_written_and_read() {
    let read = Pyramid::from_bytes(&RAN.pyramid.to_bytes()).unwrap();
    assert_eq!((read.records(), read.samples()), (RAN.pyramid.records(), RAN.pyramid.samples()));
    assert_eq!(read.to_bytes(), RAN.pyramid.to_bytes());
    let asked = wanted(r#"["throughput", "one_way_delay", "rtt", "mode", "queue"]"#);
    let window = |pyramid| View::new(pyramid, &NoRows).window(0.0, 6e9, 1_500, &asked).unwrap();
    assert!(window(&read) == window(&RAN.pyramid));
    assert_eq!(
        Pyramid::from_bytes(b"PAR1").unwrap_err().to_string(),
        "this is no index of a run: it begins otherwise"
    );
    let empty = Pyramid::default();
    assert_eq!(Pyramid::from_bytes(&empty.to_bytes()).unwrap().to_bytes(), empty.to_bytes());
}

#[test]
fn modes_come_by_name_and_drops_one_by_one() {
    let view = View::new(&RAN.pyramid, &RAN.memory);
    let table = Table::of(&view.window(0.0, 6e9, 100, &[]).unwrap());
    let (kinds, texts) = (table.texts("event_kind"), table.texts("event_text"));
    let modes: Vec<_> =
        kinds.iter().zip(&texts).filter(|(kind, _)| *kind == "mode").map(|(_, text)| text.as_str()).collect();
    for mode in ["startup", "drain", "probe_bw", "slow start"] {
        assert!(modes.contains(&mode), "{mode} in {modes:?}");
    }
    let dropped = kinds.iter().filter(|kind| *kind == "drop").count();
    let logged = RAN.memory.packets.event.iter().filter(|&&event| event == Event::Drop as u8).count();
    assert!(dropped == logged && logged > 0);
    assert_eq!(table.meta["events"]["thinned"], false);
    assert!(table.numbers("event_time_ns").is_sorted());
}

#[test]
fn what_cannot_be_asked_is_refused_in_one_line() {
    let view = View::new(&RAN.pyramid, &RAN.memory);
    let refused = |from: f64, to: f64, columns| view.window(from, to, columns, &[]).unwrap_err().to_string();
    assert_eq!(refused(5.0, 5.0, 10), "t1_ns = 5: allowed is a time after t0_ns");
    assert_eq!(refused(-1.0, 5.0, 10), "t0_ns = -1: allowed is a time from 0");
    assert_eq!(refused(f64::NAN, 5.0, 10), "t0_ns = NaN: allowed is a time from 0");
    assert_eq!(refused(0.0, f64::NAN, 10), "t1_ns = NaN: allowed is a time after t0_ns");
    assert_eq!(refused(0.0, 5.0, 0), "columns = 0: allowed is a number from 1 to 16384");
    assert!(view.packets(0.0, 1.0, 0, 0).is_err());
    assert!(view.window(1e18, 4e18, 100, &wanted(r#"["throughput"]"#)).is_ok());
}

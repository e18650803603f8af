//! Test of a flow between two ends over plain UDP sockets, each with its own clock and log, as on two machines.
//!
//! The test needs no privilege, TUN device or emulated path.
#![allow(clippy::disallowed_methods, reason = "the test is about real sockets")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use congestion::Registry;
use endpoint::{
    Clock, Correction, FlowReport, Journal, Session, Wire, merged, monotonic_ns, receive_udp, send_udp,
};
use measure::RunMeter;
use record::{Event, Record};
use runs::{Backend, Ends, RunSpec, meter_config};
use serde_json::json;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::thread;
use units::{Span, Time};

const BYTES: u64 = 1_000_000;
/// Lead of the receiver's clock over the sender's.
const AHEAD: Span = Span::from_secs(5);

fn specification() -> RunSpec {
    let spec = json!({
        "seed": 1, "duration_s": 2.0, "warmup_s": 0.0, "log": "full",
        "path": {"data": [], "ack": []},
        "flows": [{"scheme": "cubic", "controller": "cubic", "application": {"kind": "fixed", "bytes": BYTES}}],
    });
    serde_json::from_value(spec).unwrap()
}

/// Sends and receives the flow of `spec`. Returns the reports of both ends on the sender's clock.
fn transfer(spec: &RunSpec) -> FlowReport {
    let open = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (near, far) = (open(), open());
    near.connect(far.local_addr().unwrap()).unwrap();
    let (start_ns, stop) = (monotonic_ns(), AtomicBool::new(false));
    let end = Time::ZERO + spec.duration();
    let here = Session { clock: Clock::starting_at(start_ns), end, stop: &stop, board: None };
    let there = Session {
        clock: Clock::starting_at(start_ns - AHEAD.as_ns()),
        end: end + AHEAD,
        stop: &stop,
        board: None,
    };
    let journal = || Journal::of(0, spec.log).with_packets();
    let Ends { config, sender, receiver } = spec.ends(0, &Registry::builtin()).unwrap();
    thread::scope(|scope| {
        let receiving =
            scope.spawn(|| receive_udp(&config, receiver, (&far, Wire::plain()), there, journal()).unwrap());
        let sent = send_udp(spec, 0, sender, (&near, Wire::plain()), here, journal()).unwrap();
        let behind = Correction::constant(-(AHEAD.as_ns() as i64));
        FlowReport::of((sent, Correction::NONE), (receiving.join().unwrap(), behind))
    })
}

#[test]
fn a_flow_between_two_ends_is_measured_from_their_own_logs() {
    let spec = specification();
    let report = transfer(&spec);
    let records: Vec<Record> = merged(report.logs()).collect();
    let of = |event| records.iter().filter(move |record| record.event == event);
    assert!(records.is_sorted_by_key(|record| record.time_ns));
    // All bytes arrive, and only sent ones, since loopback neither loses nor duplicates.
    assert_eq!(of(Event::Deliver).map(|record| u64::from(record.data_bytes)).sum::<u64>(), BYTES);
    assert!(of(Event::Deliver).count() <= of(Event::Send).count());
    assert!((1..=of(Event::AckSend).count()).contains(&of(Event::AckDeliver).count()));
    assert_eq!(of(Event::Acked).count(), of(Event::Deliver).count());
    // Without the correction each delay would be five seconds too long or too short.
    for record in of(Event::Deliver).chain(of(Event::AckDeliver)) {
        assert!((0..AHEAD.as_ns() as i64).contains(&record.one_way_delay_ns), "{record:?}");
    }
    for event in [Event::Send, Event::Deliver] {
        assert_eq!(of(event).map(|record| record.size_bytes).max(), Some(1500));
    }
    let mut meter = RunMeter::new(meter_config(&spec, Backend::Emulation));
    for record in &records {
        meter.record(record);
    }
    let stats = meter.finish(&[], std::slice::from_ref(report.counters()));
    assert_eq!(stats.flows[0].data_bytes_delivered, Some(BYTES));
}

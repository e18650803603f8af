//! Both sides of a run on this machine, over loopback, in threads: what needs no privilege.

use super::join::{Joined, join};
use super::remote_endpoint::{Meet, Met, Open, RemoteEndpoint, RunPart, TunnelKind};
use super::report::SideReport;
use congestion::Registry;
use endpoint::monotonic_ns;
use measure::RunMeter;
use record::{Event, Record};
use runs::{Backend, Observer, RunSpec, meter_config};
use serde_json::json;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn specification(controllers: &[&str], reverse: bool) -> RunSpec {
    let flows: Vec<_> = controllers
        .iter()
        .map(|name| {
            json!({"scheme": name, "controller": name, "reverse": reverse, "transport": {"payload_bytes": 1200},
                   "application": {"kind": "fixed", "bytes": 300_000}})
        })
        .collect();
    let spec = json!({"seed": 1, "duration_s": 1.0, "warmup_s": 0.0, "log": "full", "flows": flows,
                      "path": {"data": [], "ack": [], "overhead_bytes": 16, "mtu_bytes": 1500}});
    serde_json::from_value(spec).unwrap()
}

/// Two keys, for what leaves and what arrives; the other side has them the other way round.
fn keys(count: usize, salt: usize) -> Vec<(String, String)> {
    let key = |number: usize| format!("{:064x}", number + 1000 * salt + 1);
    (0..count).map(|index| (key(2 * index), key(2 * index + 1))).collect()
}

fn swapped(keys: &[(String, String)]) -> Vec<(String, String)> {
    keys.iter().map(|(first, second)| (second.clone(), first.clone())).collect()
}

/// Lets two sides meet that were opened for `flows`, with these keys.
fn met(
    sides: [&mut RemoteEndpoint; 2],
    flows: usize,
    keys: [Vec<(String, String)>; 2],
    patience_s: f64,
) -> [Met; 2] {
    let [near, far] = sides;
    let opened = [&mut *near, &mut *far].map(|side| side.open(&Open { flows, ports: None }).unwrap().ports);
    meet_at([near, far], &opened, keys, patience_s)
}

/// Lets two open sides meet; `opened` is where the first and the second is reached.
fn meet_at(
    [near, far]: [&mut RemoteEndpoint; 2],
    opened: &[Vec<u16>; 2],
    keys: [Vec<(String, String)>; 2],
    patience_s: f64,
) -> [Met; 2] {
    let [here, there] = keys;
    let request = |ports: &[u16], keys, asks| Meet {
        address: Ipv4Addr::LOCALHOST,
        ports: ports.to_vec(),
        keys,
        asks,
        patience_s,
        most_mtu_bytes: 1500,
        trace: false,
    };
    let (first, second) = (request(&opened[1], here, true), request(&opened[0], there, false));
    thread::scope(|scope| {
        let far = scope.spawn(move || far.meet(&second, &|| false).unwrap());
        let near = near.meet(&first, &|| false).unwrap();
        [near, far.join().unwrap()]
    })
}

/// Keeps what it is told.
#[derive(Default)]
struct Kept(Vec<Record>);

impl Observer for Kept {
    fn record(&mut self, record: &Record) {
        self.0.push(*record);
    }
}

/// A run of `spec` between two sides; what is joined of it, and its records.
fn run(spec: &RunSpec, meanwhile: impl Fn(&[Met; 2]) + Sync) -> (Joined, Kept, RunMeter) {
    let (mut near, mut far) = (RemoteEndpoint::default(), RemoteEndpoint::default());
    let keys = keys(spec.flows.len() + 1, 0);
    let other = swapped(&keys);
    let met = met([&mut near, &mut far], spec.flows.len(), [keys, other], 5.0);
    run_between([near, far], &met, spec, meanwhile)
}

/// A run between two sides that have met.
fn run_between(
    [mut near, mut far]: [RemoteEndpoint; 2],
    met: &[Met; 2],
    spec: &RunSpec,
    meanwhile: impl Fn(&[Met; 2]) + Sync,
) -> (Joined, Kept, RunMeter) {
    near.ask(0.2, 200.0, &|| false).unwrap();
    let part = |first: bool| RunPart {
        sends: first,
        first,
        tunnels: vec![TunnelKind::None; spec.flows.len()],
        inner_mtu_bytes: 1400,
        asks_per_s: 100.0,
        bandwidth_cap_mbps: None,
    };
    let start_ns = monotonic_ns() + 50_000_000;
    let over = AtomicBool::new(false);
    let one = |side: &mut RemoteEndpoint, first: bool| {
        side.run(spec, &part(first), &Registry::builtin(), None, &|| Ok(start_ns), &|| false).unwrap();
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                meanwhile(met);
                thread::sleep(Duration::from_millis(20));
            }
        });
        let other = scope.spawn(|| one(&mut far, false));
        one(&mut near, true);
        other.join().unwrap();
        over.store(true, Ordering::Relaxed);
    });
    let sent = |side: &mut RemoteEndpoint| {
        let bytes = side.finish().unwrap().to_bytes().unwrap();
        SideReport::from_bytes(&bytes, 1 << 30).unwrap()
    };
    let mut observers = (Kept::default(), RunMeter::new(meter_config(spec, Backend::Emulation)));
    let joined = join(spec, true, sent(&mut near), sent(&mut far), &[], &mut observers).unwrap();
    (joined, observers.0, observers.1)
}

#[test]
#[ignore = "real time: make test-real"]
fn a_run_between_two_sides_is_measured_by_both() {
    for reverse in [false, true] {
        let spec = specification(&["cubic", "copa"], reverse);
        let (joined, records, meter) = run(&spec, |_| {});
        let stats = joined.totals.stats(meter).unwrap();
        assert_eq!(stats.flows.len(), 2);
        for flow in &stats.flows {
            assert_eq!(flow.data_bytes_delivered, Some(300_000));
        }
        let of = |event| records.0.iter().filter(move |record| record.event == event);
        assert_eq!(of(Event::Send).count(), of(Event::Deliver).count());
        // One clock, and loopback takes next to no time.
        for record in of(Event::Deliver).chain(of(Event::AckDeliver)) {
            assert!(record.one_way_delay_ns.abs() < 50_000_000, "{record:?}");
        }
        // What the tag adds is on the wire, and in the log.
        assert_eq!(of(Event::Send).map(|record| record.size_bytes).max(), Some(1200 + 52 + 16));
        assert!(records.0.is_sorted_by_key(|record| record.time_ns));
        let [low, high] = joined.clocks.uncertainty_ms;
        assert!(low <= 0.0 && high >= 0.0 && high - low < 50.0, "{low} {high}");
        assert!(joined.clocks.skew_ppm.abs() < 500.0 && joined.clocks.answered > 20);
        assert_eq!(joined.flows.iter().map(|flow| flow.guarded.forged).sum::<u64>(), 0);
        assert_eq!((joined.channel.forged, joined.lost_at_ends), (0, 0));
    }
}

#[test]
#[ignore = "real time: make test-real"]
fn what_others_send_is_counted_and_does_nothing() {
    let spec = specification(&["cubic"], false);
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (joined, _, meter) = run(&spec, |[near, far]| {
        for peer in near.peers.iter().chain(&far.peers) {
            for length in [0, 1, 16, 33, 61, 300] {
                stranger.send_to(&vec![0xd0; length], peer).unwrap();
            }
        }
    });
    let stats = joined.totals.stats(meter).unwrap();
    assert_eq!(stats.flows[0].data_bytes_delivered, Some(300_000));
    assert!(joined.flows[0].guarded.forged > 20, "{:?}", joined.flows[0].guarded);
    assert_eq!((joined.flows[0].guarded.moved, joined.channel.moved), (0, 0));
    assert!(joined.channel.forged > 20);
}

#[test]
#[ignore = "real time: make test-real"]
fn sides_with_another_secret_do_not_meet() {
    let (mut near, mut far) = (RemoteEndpoint::default(), RemoteEndpoint::default());
    let found = met([&mut near, &mut far], 1, [keys(2, 0), keys(2, 1)], 0.4);
    for side in found {
        assert_eq!(side.heard, [(false, false); 2]);
        assert!(side.mtu.is_none());
    }
    assert!(near.ask(0.05, 100.0, &|| false).unwrap().is_empty());
}

#[test]
#[ignore = "real time: make test-real"]
fn the_loopback_device_takes_all_that_is_tried() {
    let (mut near, mut far) = (RemoteEndpoint::default(), RemoteEndpoint::default());
    let keys = keys(1, 0);
    let other = swapped(&keys);
    let [found, _] = met([&mut near, &mut far], 0, [keys, other], 5.0);
    let mtu = found.mtu.unwrap();
    assert_eq!((mtu.there, mtu.back), (1500, 1500));
}

#[test]
fn a_run_that_was_not_met_or_not_made_is_refused() {
    let mut side = RemoteEndpoint::default();
    let spec = specification(&["cubic"], false);
    let part = RunPart {
        sends: true,
        first: true,
        tunnels: vec![TunnelKind::None],
        inner_mtu_bytes: 1400,
        asks_per_s: 0.0,
        bandwidth_cap_mbps: None,
    };
    let error =
        side.run(&spec, &part, &Registry::builtin(), None, &|| Ok(0), &|| false).unwrap_err().to_string();
    assert_eq!(error, "run: 0 flows were opened");
    assert_eq!(side.ask(1.0, 1.0, &|| false).unwrap_err().to_string(), "the other side was not met");
    assert_eq!(side.finish().unwrap_err().to_string(), "there was no run");
    for bytes in [&b""[..], b"no report", &zstd::bulk::compress(b"no report", 3).unwrap()] {
        assert!(
            SideReport::from_bytes(bytes, 1 << 30)
                .unwrap_err()
                .to_string()
                .starts_with("report of a side: not readable: ")
        );
    }
}

#[test]
#[ignore = "real time: make test-real"]
fn requests_that_make_no_sense_are_refused_and_keep_nothing() {
    let mut side = RemoteEndpoint::default();
    let error = side.open(&Open { flows: 100_000, ports: None }).unwrap_err().to_string();
    assert_eq!(error, "open: flows = 100000: allowed is 0 to 255");
    // The second of two ports is somebody's: what was opened before is let go.
    let (first, taken) = (1024..60_000)
        .step_by(97)
        .find_map(|port| {
            let taken = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port + 1)).ok()?;
            UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).ok().map(|_| (port, taken))
        })
        .unwrap();
    side.open(&Open { flows: 1, ports: Some((first, first + 1)) }).unwrap_err().to_string();
    drop((UdpSocket::bind((Ipv4Addr::UNSPECIFIED, first)).unwrap(), taken));
    let meet = |side: &mut RemoteEndpoint, most_mtu_bytes: u32| {
        let ports = side.open(&Open { flows: 0, ports: None }).unwrap().ports;
        let meet = Meet {
            address: Ipv4Addr::LOCALHOST,
            ports,
            keys: keys(1, 0),
            asks: true,
            patience_s: 0.1,
            most_mtu_bytes,
            trace: false,
        };
        side.meet(&meet, &|| false)
    };
    for most_mtu_bytes in [0, 59, 575, 9217, u32::MAX] {
        let error = meet(&mut side, most_mtu_bytes).unwrap_err().to_string();
        assert_eq!(error, format!("meet: most_mtu_bytes = {most_mtu_bytes}: allowed is 576 to 9216"));
    }
    meet(&mut side, 1500).unwrap();
    for per_s in [1e-300, 1e300, f64::NAN, f64::INFINITY, -1.0] {
        assert!(side.ask(0.01, per_s, &|| false).unwrap().is_empty());
    }
}

#[test]
fn a_report_of_other_flows_or_impossible_times_is_refused() {
    let spec = specification(&["cubic"], false);
    let report = |start_ns: u64, flow: u32| {
        let mut log = endpoint::EventLog::default();
        log.event(units::Time::ZERO, Event::Send, flow, 0, 100);
        let tunnel =
            super::tunnel::TunnelReport { logs: [log, endpoint::EventLog::default()], ..Default::default() };
        let half = super::report::FlowHalf { tunnel: Some(tunnel), ..Default::default() };
        SideReport {
            start_ns,
            flows: vec![half],
            programs: Vec::new(),
            asked: 0,
            exchanges: Vec::new(),
            guarded: endpoint::Guarded::default(),
            lost_at_ends: 0,
            real_time: true,
        }
    };
    let refusal =
        |remote| join(&spec, true, report(0, 0), remote, &[], &mut Kept::default()).unwrap_err().to_string();
    assert_eq!(refusal(report(0, 7)), "a side that receives flow 1 reports `send` of flow 8");
    assert_eq!(refusal(report(0, 0)), "a side that receives flow 1 reports `send` of flow 1");
    assert_eq!(refusal(report(u64::MAX, 0)), "a side reports times that no clock shows");
}

#[test]
#[ignore = "real time: make test-real"]
fn a_rate_above_the_cap_ends_the_run() {
    // One of them is over before a second is.
    [5.0, 0.9].into_iter().for_each(above_the_cap);
}

fn above_the_cap(duration_s: f64) {
    let (mut near, mut far) = (RemoteEndpoint::default(), RemoteEndpoint::default());
    let mut spec = specification(&["cubic"], false);
    spec.flows[0].application = transport::ApplicationSpec::Greedy;
    spec.duration_s = duration_s;
    let keys = keys(2, 0);
    let other = swapped(&keys);
    met([&mut near, &mut far], 1, [keys, other], duration_s);
    let part = |first: bool| RunPart {
        sends: first,
        first,
        tunnels: vec![TunnelKind::None],
        inner_mtu_bytes: 1400,
        asks_per_s: 0.0,
        bandwidth_cap_mbps: Some(1.0),
    };
    let (start_ns, stopped) = (monotonic_ns(), AtomicBool::new(false));
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            let stop = || stopped.load(Ordering::Relaxed);
            // Either is right: it was stopped, or a run of less than a second was over before it could be.
            let _ = far.run(&spec, &part(false), &Registry::builtin(), None, &|| Ok(start_ns), &stop);
        });
        let error = near.run(&spec, &part(true), &Registry::builtin(), None, &|| Ok(start_ns), &|| false);
        stopped.store(true, Ordering::Relaxed);
        error.unwrap_err().to_string()
    });
    assert!(error.contains("the bandwidth cap is 1 Mbit/s"), "{error}");
}

/// What somebody on the way between two sides does to their datagrams.
#[derive(Clone, Copy, PartialEq)]
enum Attack {
    /// Sends a copy of each ahead of it, from a port of its own.
    CopyAhead,
    /// Cuts every fifth of the long ones.
    Cut,
    /// Changes the last byte of every fifth of the long ones, which is padding.
    Replace,
}

/// Somebody on the way between two sides: each reaches the other at the ports of the attacker, who passes on.
struct Between {
    /// By socket of the sides: where the first reaches the second, where the second reaches the first, and the port
    /// that copies come from.
    sockets: Vec<[UdpSocket; 3]>,
    sides: [Vec<u16>; 2],
    attack: Attack,
    /// Bytes of datagrams of the first side that were passed on as they were; IP and UDP among them.
    passed_bytes: u64,
    attacked: u64,
}

impl Between {
    fn new(sides: [Vec<u16>; 2], attack: Attack) -> Self {
        let socket = |_| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        let sockets = sides[0].iter().map(|_| [0; 3].map(socket)).collect();
        Self { sockets, sides, attack, passed_bytes: 0, attacked: 0 }
    }

    /// Where the first and the second side are reached.
    fn ports(&self) -> [Vec<u16>; 2] {
        let port = |which: usize| move |sockets: &[UdpSocket; 3]| sockets[which].local_addr().unwrap().port();
        [1, 0].map(|which| self.sockets.iter().map(port(which)).collect())
    }

    /// Passes on until `over`.
    fn work(&mut self, over: &AtomicBool) {
        let (mut bytes, mut long) = (vec![0; 1 << 16], 0_u64);
        while !over.load(Ordering::Relaxed) {
            let mut any = false;
            for (index, sockets) in self.sockets.iter().enumerate() {
                for from in 0..2 {
                    while let Ok((length, _)) = sockets[from].recv_from(&mut bytes) {
                        any = true;
                        let to = (Ipv4Addr::LOCALHOST, self.sides[1 - from][index]);
                        let mut datagram = &mut bytes[..length];
                        long += u64::from(length > 1000);
                        let strikes = length > 1000 && long.is_multiple_of(5);
                        match self.attack {
                            Attack::CopyAhead => {
                                sockets[2].send_to(datagram, to).unwrap();
                            }
                            Attack::Cut if strikes => datagram = &mut datagram[..120],
                            Attack::Replace if strikes => datagram[length - 1] ^= 1,
                            _ if from == 0 => self.passed_bytes += length as u64 + 28,
                            _ => {}
                        }
                        self.attacked += u64::from(strikes);
                        sockets[1 - from].send_to(datagram, to).unwrap();
                    }
                }
            }
            if !any {
                thread::sleep(Duration::from_micros(200));
            }
        }
    }
}

/// A run of `spec` with somebody on the way.
fn run_attacked(spec: &RunSpec, attack: Attack) -> (Joined, Kept, RunMeter, Between) {
    let mut sides = [RemoteEndpoint::default(), RemoteEndpoint::default()];
    let flows = spec.flows.len();
    let opened = sides.each_mut().map(|side| side.open(&Open { flows, ports: None }).unwrap().ports);
    let mut between = Between::new(opened, attack);
    let (reached, over) = (between.ports(), AtomicBool::new(false));
    let own = keys(flows + 1, 0);
    let other = swapped(&own);
    let (joined, kept, meter) = thread::scope(|scope| {
        let works = scope.spawn(|| between.work(&over));
        let [near, far] = &mut sides;
        let met = meet_at([near, far], &reached, [own, other], 5.0);
        let ran = run_between(sides, &met, spec, |_| {});
        over.store(true, Ordering::Relaxed);
        works.join().unwrap();
        ran
    });
    (joined, kept, meter, between)
}

#[test]
#[ignore = "real time: make test-real"]
fn who_copies_greetings_ahead_from_another_port_moves_no_peer() {
    let spec = specification(&["cubic"], false);
    let (joined, records, meter, _) = run_attacked(&spec, Attack::CopyAhead);
    assert_eq!(joined.totals.stats(meter).unwrap().flows[0].data_bytes_delivered, Some(300_000));
    let guarded = joined.flows[0].guarded;
    assert_eq!((guarded.moved, joined.channel.moved, guarded.forged), (0, 0, 0));
    // The copies came first: they count, and the originals are told from them.
    assert!(guarded.replayed > 200, "{guarded:?}");
    let of = |event| records.0.iter().filter(move |record| record.event == event).count();
    assert!(of(Event::Deliver) <= of(Event::Send));
}

#[test]
#[ignore = "real time: make test-real"]
fn what_was_cut_or_replaced_on_the_way_is_not_delivered() {
    for attack in [Attack::Cut, Attack::Replace] {
        // One in five is lost: that takes its time.
        let spec = RunSpec { duration_s: 4.0, ..specification(&["cubic"], false) };
        let (joined, records, meter, between) = run_attacked(&spec, attack);
        assert!(between.attacked > 40, "{}", between.attacked);
        // Others were lost by the sides while they looked for the MTU.
        assert!(joined.flows[0].guarded.forged > 20, "{:?}", joined.flows[0].guarded);
        // The sender retransmits rejected packets, so every byte arrives in the end; only authentic packets count.
        assert_eq!(joined.totals.stats(meter).unwrap().flows[0].data_bytes_delivered, Some(300_000));
        let delivered = records.0.iter().filter(|record| record.event == Event::Deliver);
        let bytes: u64 = delivered.map(|record| u64::from(record.size_bytes)).sum();
        assert!(bytes > 300_000 && bytes <= between.passed_bytes, "{bytes} of {}", between.passed_bytes);
    }
}

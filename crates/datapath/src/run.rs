//! One run with real packets, from specification to statistics.

use crate::Error;
use crate::direction_thread::{DirectionReport, Gauges};
use crate::emulation::{Pair, Traffic, Work, close, device_mtu, joined, start_directions};
use crate::emulation_lock::EmulationLock;
use crate::flow::{self, FlowThreads, Sockets, readings};
use crate::lateness::{Lateness, LatenessReport, bound, stalled};
use crate::lateness_error::{EndError, LatenessError, Verdict};
use crate::live::{LiveFile, Publisher};
use crate::observer_events::{Delivered, tell_flows};
use crate::open_files::allow_files;
use crate::owner::{Owner, clean_up};
use crate::program_flow::{EndsHere, ProgramFlow, ProgramReport};
use crate::program_samples::ProgramSample;
use crate::scheduling::EndReport;
use crate::scratch::Scratch;
use congestion::Registry;
use endpoint::{Board, Clock, ClockedLog, FlowReport, MOST_FLOWS, Scheduled, Session, merged, monotonic_ns};
use measure::Sample;
use path::LinkTally;
use runs::{Backend, CapacityMeter, LogLevel, Observer, RunSpec, Totals, link_counters, tell};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use units::{Span, Time};

/// Time between "everything is ready" and the start of the run, and more for the threads of each flow: what starts later than
/// the clock is late.
const LEAD_NS: u64 = 20_000_000;
const LEAD_OF_A_FLOW_NS: u64 = 1_000_000;
/// How often programs and the request to stop are looked at.
const POLL: Duration = Duration::from_millis(2);

/// How the emulation went.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct EmulationReport {
    /// How late departures were, both directions.
    pub lateness_us: LatenessReport,
    /// Whether the scheduler preferred the threads of the run to ordinary programs (which takes root).
    pub real_time: bool,
    /// How late a sending end of ours woke up at most, us; `None` if all are programs.
    pub ends_latest_us: Option<i64>,
    /// Packets that the devices at the ends dropped in silence.
    pub tx_dropped: u64,
    /// Packets that the sockets of our own ends and of the kernel's TCP had no room for.
    pub socket_dropped: u64,
    /// How far lateness made the numbers of the run wrong.
    pub lateness_error: LatenessError,
    /// Why the numbers of the run are further off than they may be, if so.
    pub degraded: Option<String>,
    /// How late the run was, where its numbers are good all the same.
    pub remark: Option<String>,
    /// Why it must not be used, if so.
    pub invalid: Option<String>,
    /// What the ends of flows had of the processors.
    pub ends: Vec<EndReport>,
    /// What the programs of the run did.
    pub programs: Vec<ProgramReport>,
}

/// What a run leaves behind, beside what it told its observer.
#[derive(Clone, Debug)]
pub struct Emulated {
    /// What was counted; its events are the packet events recorded.
    pub totals: Totals,
    /// How the emulation went.
    pub emulation: EmulationReport,
}

/// Runs `spec` with real packets and controllers of `registry` while this process holds `lock`. Once the run is over,
/// `observer` is told what happened; meanwhile it is asked whether to give up, and `live` shows how the run goes. What the
/// programs write as qlogs goes to `kept`, the directory of the run's files.
///
/// # Errors
/// One line: what is wrong with the specification, what this machine does not permit, which program failed and what it
/// printed last, or that the run was stopped.
pub fn run(
    spec: &RunSpec,
    registry: &Registry,
    lock: EmulationLock,
    live: Option<&LiveFile>,
    kept: Option<&Path>,
    observer: &mut dyn Observer,
) -> Result<Emulated, Error> {
    spec.validate(Backend::Emulation, registry)?;
    if spec.flows.len() > MOST_FLOWS {
        return Err(Error::TooManyFlows(spec.flows.len()));
    }
    let stop = || observer.stop().is_some();
    allow_files(spec.flows.len())?;
    clean_up();
    let owner = Owner::next();
    let scratch = Scratch::create(owner.mark_text())?;
    tracing::info!(flows = spec.flows.len(), seed = spec.seed, scratch = %scratch.path().display(), "emulation begins");
    let outcome = carry_out(Planned { spec, registry, live, kept }, scratch.path(), &stop);
    // Also what follows would disturb the next run.
    let told = outcome.and_then(|outcome| tell_all(spec, outcome, observer));
    drop(lock);
    tracing::info!("emulation is over: its lock is given back");
    told
}

/// What is to be done, and the controllers for it.
#[derive(Clone, Copy)]
struct Planned<'a> {
    spec: &'a RunSpec,
    registry: &'a Registry,
    live: Option<&'a LiveFile>,
    kept: Option<&'a Path>,
}

/// What the threads of a run leave behind.
struct Outcome {
    directions: [DirectionReport; 2],
    flows: Vec<Option<FlowReport>>,
    programs: Vec<ProgramReport>,
    ends: Vec<EndReport>,
    /// For flows of programs: what to say if nothing was delivered.
    silences: Vec<Option<String>>,
    /// What the programs of each flow have written about themselves.
    samples: Vec<Vec<ProgramSample>>,
    /// Why the run must not be used, as its programs see it.
    objections: Vec<String>,
    tx_dropped: u64,
    socket_dropped: u64,
}

fn carry_out(planned: Planned<'_>, scratch: &Path, stop: &dyn Fn() -> bool) -> Result<Outcome, Error> {
    let spec = planned.spec;
    let mtu_bytes = device_mtu(&spec.path);
    let pairs: Vec<Pair> =
        (0..spec.flows.len()).map(|index| Pair::create(index, mtu_bytes)).collect::<Result<_, _>>()?;
    tracing::info!(pairs = pairs.len(), mtu_bytes, "network namespaces made");
    let outcome = with_pairs(planned, &pairs, scratch, stop);
    let tx_dropped = pairs.iter().map(Pair::dropped).sum::<Result<u64, Error>>();
    // What a program does not read in time is its own affair.
    let ours = spec.flows.iter().zip(&pairs).filter(|(flow, _)| flow.program.is_none());
    let socket_dropped = ours.map(|(_, pair)| pair.dropped_at_sockets()).sum::<Result<u64, Error>>();
    close(pairs);
    tracing::info!("network namespaces closed");
    Ok(Outcome { tx_dropped: tx_dropped?, socket_dropped: socket_dropped?, ..outcome? })
}

fn with_pairs(
    planned: Planned<'_>,
    pairs: &[Pair],
    scratch: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<Outcome, Error> {
    let spec = planned.spec;
    // Who lowers programs that spin has to come before them.
    let _watchful = spec.flows.iter().any(|flow| flow.program.is_some()).then(Scheduled::watchful);
    let indexed = || spec.flows.iter().zip(pairs).enumerate();
    let sockets: Vec<Sockets> =
        indexed().map(|(_, (flow, pair))| Sockets::open(flow, pair)).collect::<Result<_, _>>()?;
    // Programs that are dropped are ended: whatever goes wrong from here on, none is left.
    let programs = indexed().map(|(index, (_, pair))| {
        let ends = |flow: &_, program: &_| EndsHere::of_pair(flow, program, pair);
        ProgramFlow::start(spec, index, ends, scratch)
    });
    let mut programs: Vec<Option<ProgramFlow<'_>>> = programs.collect::<Result<_, _>>()?;
    programs.iter_mut().flatten().try_for_each(|program| program.wait_until_ready(stop))?;
    let traffic = spec.flows.iter().map(|flow| {
        let (data, ack) = readings(flow)?;
        let readable_ranges = if flow.is_core() { flow.config()?.readable_ranges() } else { None };
        Ok(Traffic { data, ack, readable_ranges, extra: spec.extra_delay(flow) })
    });
    let traffic: Vec<Traffic> = traffic.collect::<Result<_, Error>>()?;
    let clock = Clock::starting_at(monotonic_ns() + LEAD_NS + LEAD_OF_A_FLOW_NS * spec.flows.len() as u64);
    tracing::info!(duration_s = spec.duration().as_secs_f64(), "the clock of the run starts");
    let outcome = with_programs(planned, pairs, sockets, &traffic, &mut programs, clock, stop);
    programs.iter_mut().flatten().for_each(ProgramFlow::end);
    let mut outcome = outcome?;
    for program in &mut programs {
        outcome
            .samples
            .push(program.as_mut().map_or(Ok(Vec::new()), |program| program.samples(clock, planned.kept))?);
        outcome.objections.extend(program.as_mut().and_then(ProgramFlow::objection));
        outcome.ends.extend(program.iter_mut().flat_map(ProgramFlow::ends));
        outcome.programs.extend(program.iter_mut().flat_map(ProgramFlow::reports));
        outcome.silences.push(program.as_ref().map(ProgramFlow::silence));
    }
    Ok(outcome)
}

fn with_programs(
    Planned { spec, registry, live, .. }: Planned<'_>,
    pairs: &[Pair],
    sockets: Vec<Sockets>,
    traffic: &[Traffic],
    programs: &mut [Option<ProgramFlow<'_>>],
    clock: Clock,
    stop: &dyn Fn() -> bool,
) -> Result<Outcome, Error> {
    let stopped = AtomicBool::new(false);
    let session = Session { clock, end: Time::ZERO + spec.duration(), stop: &stopped, board: None };
    let gauges = [(); 2].map(|()| Arc::new(Gauges::of(spec.flows.len())));
    let boards: Vec<Board> = spec.flows.iter().map(|_| Board::default()).collect();
    let mut publisher = Publisher::of_run(live, spec, &gauges, &boards);
    let work = Work {
        path: &spec.path,
        seed: spec.seed,
        session,
        sample_interval: Span::from_secs_f64(spec.sample_interval_s),
        most_packets: spec.most_packets,
        log: true,
        full_log: spec.log == LogLevel::Full,
        gauges: &gauges,
    };
    thread::scope(|scope| {
        // Whatever ends this closure early must end the threads too, or the scope would wait for them until the end.
        let started = (|| {
            let directions = start_directions(scope, work, pairs, traffic)?;
            let flows = sockets.into_iter().zip(pairs).enumerate();
            let flows: Vec<_> = flows
                .map(|(index, (sockets, pair))| {
                    let session = Session { board: Some(&boards[index]), ..session };
                    flow::start(scope, spec, registry, session, index, pair, sockets)
                })
                .collect::<Result<_, _>>()?;
            Ok::<_, Error>((directions, flows))
        })();
        let mut started = started;
        let watched = match &mut started {
            Ok((_, flows)) => watch(session, programs, flows, &gauges, &mut publisher, stop),
            Err(_) => Err(Error::Stopped),
        };
        if let Err(why) = &watched {
            tracing::warn!(%why, "all threads of the run are stopped");
            stopped.store(true, Ordering::Relaxed);
        }
        let ([data, ack], flows) = started?;
        let directions = (joined(data), joined(ack));
        let (mut reports, mut ends) = (Vec::new(), Vec::new());
        let mut failure = watched.err();
        for (index, mut threads) in flows.into_iter().enumerate() {
            let watched = threads.iter_mut().flat_map(|threads| threads.watched.iter_mut());
            ends.extend(
                watched.zip(["sender", "receiver"]).filter_map(|(end, side)| end.report(index + 1, side)),
            );
            reports.push(threads.map(FlowThreads::join).transpose().unwrap_or_else(|error| {
                failure.get_or_insert(error);
                None
            }));
        }
        let directions = [directions.0?, directions.1?];
        match failure {
            Some(failure) => Err(failure),
            None => Ok(Outcome {
                directions,
                flows: reports,
                programs: Vec::new(),
                ends,
                silences: Vec::new(),
                samples: Vec::new(),
                objections: Vec::new(),
                tx_dropped: 0,
                socket_dropped: 0,
            }),
        }
    })
}

/// Waits for the end of the run; starts and ends programs meanwhile.
fn watch(
    session: Session<'_>,
    programs: &mut [Option<ProgramFlow<'_>>],
    flows: &mut [Option<FlowThreads<'_>>],
    gauges: &[Arc<Gauges>; 2],
    publisher: &mut Publisher<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(), Error> {
    loop {
        let now = session.clock.now();
        if session.is_over(now) {
            return Ok(());
        }
        for program in programs.iter_mut().flatten() {
            program.step(now)?;
        }
        let ours = flows.iter_mut().flatten().flat_map(|threads| &mut threads.watched);
        ours.for_each(|end| end.look(true));
        Gauges::require_room(gauges)?;
        publisher.publish(now);
        if stop() {
            return Err(Error::Stopped);
        }
        thread::sleep(POLL);
    }
}

/// Tells the observer what the threads left behind, and sums it up.
fn tell_all(spec: &RunSpec, outcome: Outcome, observer: &mut dyn Observer) -> Result<Emulated, Error> {
    let Outcome {
        directions: [data, ack],
        flows,
        programs,
        mut ends,
        silences,
        samples,
        objections,
        tx_dropped,
        socket_dropped,
    } = outcome;
    // Both directions sample at the same times; one may have been stopped a sample earlier.
    let samples_of_links = || data.samples.iter().zip(&ack.samples);
    let mut capacities = [CapacityMeter::default(), CapacityMeter::default()];
    let mut sample = |observer: &mut dyn Observer, (at, data): &(Time, Vec<LinkTally>), ack: &[LinkTally]| {
        let states: Vec<_> =
            flows.iter().map(|flow| flow.as_ref().and_then(|flow| flow.state(*at))).collect();
        let [of_data, of_ack] = &mut capacities;
        let capacity_bits = [of_data.take(data.iter()), of_ack.take(ack.iter())];
        observer.sample(&Sample { at: *at, flows: &states, capacity_bits });
    };
    let mut due = samples_of_links().peekable();
    let logs = || {
        let of_lanes = [&data.log, &ack.log].map(ClockedLog::from);
        of_lanes.into_iter().chain(flows.iter().flatten().flat_map(FlowReport::logs))
    };
    let mut delivered = Delivered::of(spec);
    for record in merged(logs()) {
        while let Some((data, ack)) = due.next_if(|(data, _)| data.0.as_ns() <= record.time_ns) {
            sample(observer, data, &ack.1);
        }
        delivered.count(&record);
        observer.record(&record);
    }
    due.for_each(|(data, ack)| sample(observer, data, &ack.1));
    delivered.require(silences)?;
    tell_flows(&flows, &samples, observer);
    for ((at, data), (_, ack)) in samples_of_links() {
        for (links, name) in [(data, "data"), (ack, "ack")] {
            for link in links {
                tell::link_fields(observer, *at, name, link);
            }
        }
    }
    let totals = Totals {
        links: link_counters(&data.direction, &ack.direction, spec),
        senders: flows.iter().flatten().map(|flow| flow.counters().clone()).collect(),
        events: logs().map(|clocked| clocked.log.len()).sum(),
    };
    let refused = data.refused + ack.refused;
    let invalid = if refused > 0 {
        let why = data.refusal.or(ack.refusal).unwrap_or_default();
        Some(format!("{refused} packets were refused by the device at their receiver: {why}"))
    } else {
        let dropped = tx_dropped + socket_dropped;
        let lost = (dropped > 0).then(|| {
            format!("{dropped} packets were dropped outside the path, because this machine could not keep up")
        });
        lost.or_else(|| objections.into_iter().next())
    };
    let ends_latest = flows.iter().flatten().map(FlowReport::latest).max();
    for end in &mut ends {
        let [sender, receiver] = flows[end.flow - 1].as_ref().map_or([None; 2], FlowReport::punctuality);
        end.late = if end.side == "sender" { sender } else { receiver };
    }
    let (lateness_us, lateness_error, Verdict { degraded, remark }) =
        judged(spec, [data.lateness, ack.lateness], &ends, ends_latest);
    let emulation = EmulationReport {
        lateness_error,
        degraded,
        remark,
        ends_latest_us: ends_latest.map(|latest| (latest.as_ns() / 1000) as i64),
        lateness_us,
        real_time: data.real_time && ack.real_time,
        tx_dropped,
        socket_dropped,
        invalid,
        ends,
        programs,
    };
    let LatenessReport { packets, p50, p99, max, .. } = emulation.lateness_us;
    tracing::info!(packets, p50_us = p50, p99_us = p99, max_us = max, "lateness of departures");
    if let Some(why) = emulation.invalid.as_ref().or(emulation.degraded.as_ref()) {
        tracing::warn!(%why, "the run is not as it should be");
    }
    Ok(Emulated { totals, emulation })
}

/// Returns how late a run was, by its directions, by its ends and by the longest time that one of these stood still, how far
/// that made its numbers wrong, and what is said of it.
fn judged(
    spec: &RunSpec,
    mut directions: [Lateness; 2],
    ends: &[EndReport],
    ends_latest: Option<Span>,
) -> (LatenessReport, LatenessError, Verdict) {
    let (base_rtt, duration) = (spec.path.base_rtt(), spec.duration());
    let mut lateness = directions[0].clone();
    lateness.merge(&directions[1]);
    let loss_based = spec.flows.iter().all(|flow| flow.loss_based);
    let report = lateness.report(base_rtt, duration, loss_based);
    let worst = (1..=spec.flows.len()).fold(EndError::default(), |worst, flow| {
        let in_kernel = spec.flows[flow - 1].kernel.is_some();
        let of_flow = ends.iter().filter(|end| end.flow == flow).map(|end| end.error(in_kernel));
        worst.max(of_flow.fold(EndError::default(), EndError::and))
    });
    let error = LatenessError::none(base_rtt).with_path(directions.each_mut(), &report, duration).with_ends(
        worst,
        ends_latest,
        duration,
    );
    let cause = report.remark().or_else(|| ends_latest.and_then(|latest| stalled(latest, base_rtt)));
    let cause = cause.or_else(|| {
        let late = ends.iter().filter_map(|end| {
            let remark = end.remark(&spec.flows[end.flow - 1].scheme, bound(base_rtt))?;
            Some((end.wait_p99_us, remark))
        });
        late.max_by_key(|&(wait_us, _)| wait_us).map(|(_, remark)| remark)
    });
    let verdict = error.verdict(cause.as_deref());
    (report, error, verdict)
}

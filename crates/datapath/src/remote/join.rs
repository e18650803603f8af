//! One run of what the two sides of it report: their clocks compared, their logs put into one order, its observer told.

use super::report::{FlowHalf, SideReport};
use super::tunnel::TunnelReport;
use crate::Error;
use crate::ReportFault;
use crate::lateness::{bound, stalled};
use crate::lateness_error::{EndError, LatenessError, Verdict};
use crate::observer_events::{Delivered, tell_flows};
use crate::program_flow::ProgramReport;
use clocks::{Fit, Minima, Point, Reference, fit_minima};
use endpoint::{
    ClockedLog, Correction, EventLog, FlowReport, Guarded, Punctuality, SenderReport, Stretch, merged,
};
use measure::Sample;
use record::{Event, Record};
use runs::{Observer, RunSpec, Totals};
use schemars::JsonSchema;
use serde::Serialize;
use units::{Span, Time};

/// Latest time that a clock may show, ns: 73 years after its start. Differences of such are numbers still.
const LATEST_NS: u64 = i64::MAX as u64 / 4;

/// What a run between two machines leaves behind, beside what it told its observer.
#[derive(Debug)]
pub struct Joined {
    /// What was counted; its events are the packet events recorded.
    pub totals: Totals,
    /// How far apart the clocks were: remote less local.
    pub clocks: Compared,
    /// What happened around the packets, flow by flow.
    pub flows: Vec<Carried>,
    /// Packets that ends behind tunnels lost, on both sides.
    pub lost_at_ends: u64,
    /// How late a sending end of ours woke up at most; `None` if all are programs.
    pub ends_latest: Option<Span>,
    /// Whether the schedulers of both sides preferred the run's threads to ordinary programs.
    pub real_time: bool,
    /// What the channel beside the flows was sent by others.
    pub channel: Guarded,
    /// Why the run must not be used, if so.
    pub invalid: Option<String>,
    /// Why its times are not those of the network alone, if so: an end or a tunnel was late.
    pub degraded: Option<String>,
    /// How late an end or a tunnel was, where the numbers are good all the same.
    pub remark: Option<String>,
    /// What the programs of the run did.
    pub programs: Vec<ProgramReport>,
}

/// The comparison of two clocks.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Compared {
    /// True less stated one-way delay of data lies between these, ms.
    pub uncertainty_ms: [f64; 2],
    /// What differences of delays over time are exact to, us.
    pub residual_us: f64,
    /// Remote less local clock at the start of the run, each counted from when it told its side to begin, ms.
    pub offset_ms: f64,
    /// How much faster the remote clock was, ppm.
    pub skew_ppm: f64,
    /// Shortest round trip seen, ms.
    pub rtt_ms: f64,
    /// Questions for the time, and those that were answered.
    pub asked: u64,
    /// See above.
    pub answered: u64,
    /// Times of the run at which a clock was set: when (s), by how much (ms), in how long a time that happened (ms).
    pub steps: Vec<[f64; 3]>,
    /// Times of the run at which the path changed: when (s), by how much there and back (ms).
    pub changes: Vec<[f64; 3]>,
    /// Other knowledge of the clocks, and why it was refused if it was.
    pub references: Vec<clocks::ReferenceVerdict>,
    /// How it was found, and by whom first.
    pub method: String,
}

/// What happened around the packets of a flow.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub struct Carried {
    /// What was not the peer's, on both sides.
    pub guarded: Guarded,
    /// Of it, what had come before: to the local side, to the remote one.
    pub copies: [u64; 2],
    /// Datagrams that sockets on the network had no room for.
    pub dropped: u64,
    /// Packets that devices behind the tunnel refused.
    pub refused: u64,
    /// How late dumbbell's own ends and tunnels took datagrams and timers: on the local side, on the remote one.
    pub late: [Option<Punctuality>; 2],
}

/// Puts the reports of the two sides of a run of `spec` together; `local_sends` tells where data of ordinary flows leaves.
/// The run's own clock is the local one.
///
/// # Errors
/// One line: reports that do not fit, clocks that cannot be compared, a program that sent nothing.
pub fn join(
    spec: &RunSpec,
    local_sends: bool,
    local: SideReport,
    remote: SideReport,
    references: &[Reference],
    observer: &mut dyn Observer,
) -> Result<Joined, Error> {
    if local.flows.len() != spec.flows.len() || remote.flows.len() != spec.flows.len() {
        return Err(ReportFault::OtherFlows.into());
    }
    let times = [local.start_ns, remote.start_ns].into_iter().chain(
        local.exchanges.iter().flat_map(|it| [it.asked_ns, it.heard_ns, it.answered_ns, it.returned_ns]),
    );
    if times.into_iter().any(|ns| ns > LATEST_NS) {
        return Err(ReportFault::Times.into());
    }
    let epochs = [local.start_ns as i64, remote.start_ns as i64];
    let (asked, answered) = (local.asked, local.exchanges.len() as u64);
    let [mut there, mut back] = [Minima::default(), Minima::default()];
    let mut rtt_ns = i64::MAX;
    // Times that the local clock shows again when it was set back are left out: they are in order of arrival here.
    let mut shown = [i64::MIN; 2];
    let mut new = |which: usize, at_ns: i64| {
        let latest = shown[which];
        shown[which] = latest.max(at_ns);
        at_ns > latest
    };
    for exchange in &local.exchanges {
        let [asked, heard, answered, returned] =
            [exchange.asked_ns, exchange.heard_ns, exchange.answered_ns, exchange.returned_ns]
                .map(|ns| ns as i64);
        if new(0, asked) {
            there.extend([Point { at_ns: asked, apparent_ns: heard - asked }]);
        }
        if new(1, returned) {
            back.extend([Point { at_ns: returned, apparent_ns: returned - answered }]);
        }
        rtt_ns = rtt_ns.min(returned - asked - (answered - heard));
    }
    let channel = local.guarded + remote.guarded;
    let lost_at_ends = local.lost_at_ends + remote.lost_at_ends;
    let real_time = local.real_time && remote.real_time;
    let programs = local.programs.into_iter().chain(remote.programs).collect();
    let sends = |index: usize| local_sends != spec.flows[index].reverse;
    let flows: Vec<Flow> =
        local.flows.into_iter().zip(remote.flows).map(|(here, there)| Flow::of(here, there)).collect();
    if let Some(objection) =
        flows.iter().enumerate().find_map(|(index, flow)| flow.objection(index, sends(index)))
    {
        return Err(ReportFault::Flow(objection).into());
    }
    // As if the clocks agreed that both began at the same moment.
    let apart = epochs[1] - epochs[0];
    let as_it_seems = Correction::NONE;
    // An end whose clock is set back lets it stand until it has caught up: of what happened meanwhile, only the first has
    // the time that it happened at.
    let mut stood = vec![[[None; 2]; 2]; spec.flows.len()];
    for record in merged(flows.iter().flat_map(|flow| flow.logs(&as_it_seems))) {
        let is_there = match record.event {
            Event::Deliver => sends(record.flow as usize - 1),
            Event::AckDeliver => !sends(record.flow as usize - 1),
            _ => continue,
        };
        let arrived_ns = record.time_ns as i64 + epochs[0];
        let (delay_ns, minima) = (record.one_way_delay_ns, if is_there { &mut there } else { &mut back });
        let ends_ns = [Some(arrived_ns - delay_ns), Some(arrived_ns)];
        let before = std::mem::replace(&mut stood[record.flow as usize - 1][usize::from(is_there)], ends_ns);
        if before[0] == ends_ns[0] || before[1] == ends_ns[1] {
            continue;
        }
        minima.extend([if is_there {
            Point { at_ns: arrived_ns - delay_ns, apparent_ns: delay_ns + apart }
        } else {
            Point { at_ns: arrived_ns, apparent_ns: delay_ns - apart }
        }]);
    }
    let fit = fit_minima(&there, &back, references)?;
    let clocks = compared(&fit, epochs, local_sends, rtt_ns, (asked, answered));
    let correction = correction(&fit, epochs);
    let JoinedTotals { totals, flows, ends_latest, invalid } =
        tell_all(spec, flows, sends, &correction, observer)?;
    let Verdict { degraded, remark } =
        late(spec, &flows, ends_latest, Span::from_ns(rtt_ns.max(0).unsigned_abs()));
    Ok(Joined {
        totals,
        clocks,
        flows,
        lost_at_ends,
        ends_latest,
        real_time,
        channel,
        invalid,
        degraded,
        remark,
        programs,
    })
}

/// Returns what is said of a run with this shortest round trip, by what each side measured of itself.
fn late(spec: &RunSpec, flows: &[Carried], ends_latest: Option<Span>, rtt: Span) -> Verdict {
    let worst = flows.iter().fold(EndError::default(), |worst, carried| {
        let of_sides = carried.late.iter().flatten().map(EndError::from);
        worst.max(of_sides.fold(EndError::default(), EndError::and))
    });
    let each = flows.iter().zip(&spec.flows).enumerate().flat_map(|(index, (carried, flow))| {
        carried.late.iter().zip(["local", "remote"]).filter_map(move |(late, side)| {
            let who = format!("{side}: flow {} ({})", index + 1, flow.scheme);
            late.as_ref().and_then(|late| late.remark(&who, bound(rtt)))
        })
    });
    let cause = ends_latest.and_then(|latest| stalled(latest, rtt)).into_iter().chain(each).next();
    LatenessError::none(rtt).with_ends(worst, ends_latest, spec.duration()).verdict(cause.as_deref())
}

/// What the remote log needs to be in local time of the run.
fn correction(fit: &Fit, epochs: [i64; 2]) -> Correction {
    let stretches = fit.pieces.iter().map(|piece| {
        // What the remote clock shows when the piece begins.
        let from_ns = piece.from_ns + piece.offset_ns - epochs[1];
        Stretch {
            from_ns,
            add_ns: piece.from_ns - epochs[0] - from_ns,
            rate: -piece.skew / (1.0 + piece.skew),
        }
    });
    Correction::of(stretches.collect())
}

fn compared(
    fit: &Fit,
    epochs: [i64; 2],
    local_sends: bool,
    rtt_ns: i64,
    (asked, answered): (u64, u64),
) -> Compared {
    let ms = |ns: i64| ns as f64 / 1e6;
    let at_s = |ns: i64| (ns - epochs[0]) as f64 / 1e9;
    // What the remote clock is ahead too much makes delays to it too long.
    let bounds = if local_sends { [-fit.high_ns, -fit.low_ns] } else { [fit.low_ns, fit.high_ns] };
    let steps = fit.steps.iter().map(|step| [at_s(step.at_ns), ms(step.by_ns), ms(step.uncertain_ns)]);
    let changes = fit.changes.iter().map(|it| [at_s(it.at_ns), ms(it.forward_by_ns), ms(it.backward_by_ns)]);
    Compared {
        uncertainty_ms: bounds.map(ms),
        residual_us: fit.residual_ns as f64 / 1e3,
        offset_ms: ms(fit.theta_ns(epochs[0])),
        skew_ppm: fit.pieces[0].skew * 1e6,
        rtt_ms: ms(rtt_ns),
        asked,
        answered,
        steps: steps.collect(),
        changes: changes.collect(),
        references: fit.references.clone(),
        method: fit.method.clone(),
    }
}

/// Both halves of a flow.
struct Flow {
    local: FlowHalf,
    remote: FlowHalf,
}

impl Flow {
    fn of(local: FlowHalf, remote: FlowHalf) -> Self {
        Self { local, remote }
    }

    /// Returns why the halves cannot be those of flow number `index` (from 0), if so; `sends` tells whether data leaves
    /// the local side.
    fn objection(&self, index: usize, sends: bool) -> Option<String> {
        [(&self.local, sends), (&self.remote, !sends)].into_iter().find_map(|(half, sends)| {
            let other =
                half.sender.as_ref().map(SenderReport::flow).filter(|flow| *flow as usize != index + 1);
            other
                .map(|flow| {
                    format!("a side reports the counters of flow {flow} as those of flow {}", index + 1)
                })
                .or_else(|| packet_logs(half).find_map(|log| log.objection(index, sends)))
        })
    }

    /// All logs of packets, those of the remote side with this correction.
    fn logs<'a>(&'a self, correction: &'a Correction) -> impl Iterator<Item = ClockedLog<'a>> {
        let remote = packet_logs(&self.remote).map(move |log| ClockedLog { log, correction });
        packet_logs(&self.local).map(ClockedLog::from).chain(remote)
    }

    fn carried(&self) -> Carried {
        let halves = [&self.local, &self.remote];
        let [here, there] = halves.map(|half| {
            let of_ends = half.sender.as_ref().map_or(Guarded::default(), SenderReport::guarded)
                + half.receiver.as_ref().map_or(Guarded::default(), endpoint::ReceiverReport::guarded);
            of_ends + half.tunnel.as_ref().map_or(Guarded::default(), |tunnel| tunnel.guarded)
        });
        let refused = halves.into_iter().flat_map(|half| &half.tunnel).map(|tunnel| tunnel.refused).sum();
        let copies = [here.replayed, there.replayed];
        let late = halves.map(|half| {
            let tunnel = half.tunnel.as_ref().map(|tunnel| tunnel.punctuality);
            let sender = half.sender.as_ref().and_then(SenderReport::punctuality);
            tunnel.or(sender).or_else(|| half.receiver.as_ref()?.punctuality())
        });
        let dropped = self.local.dropped + self.remote.dropped;
        Carried { guarded: here + there, copies, dropped, refused, late }
    }
}

fn packet_logs(half: &FlowHalf) -> impl Iterator<Item = &EventLog> {
    let of_sender = half.sender.iter().flat_map(SenderReport::logs);
    let of_receiver = half.receiver.iter().flat_map(endpoint::ReceiverReport::logs);
    of_sender.chain(of_receiver).chain(half.tunnel.iter().flat_map(|TunnelReport { logs, .. }| logs))
}

/// What is known when everything is told.
struct JoinedTotals {
    totals: Totals,
    flows: Vec<Carried>,
    ends_latest: Option<Span>,
    invalid: Option<String>,
}

fn tell_all(
    spec: &RunSpec,
    flows: Vec<Flow>,
    sends: impl Fn(usize) -> bool,
    correction: &Correction,
    observer: &mut dyn Observer,
) -> Result<JoinedTotals, Error> {
    let carried = flows.iter().map(Flow::carried).collect();
    let (mut reports, mut tunnels, mut samples) = (Vec::new(), Vec::new(), Vec::new());
    let (mut silences, mut invalid) = (Vec::new(), None);
    for (index, Flow { local, remote }) in flows.into_iter().enumerate() {
        let (local, remote) = ((local, Correction::NONE), (remote, correction.clone()));
        let ((sending, at_sender), (receiving, at_receiver)) =
            if sends(index) { (local, remote) } else { (remote, local) };
        reports.push(sending.sender.zip(receiving.receiver).map(|(sent, received)| {
            FlowReport::of((sent, at_sender.clone()), (received, at_receiver.clone()))
        }));
        let both = sending.samples.into_iter().map(|sample| sample.corrected(&at_sender));
        let both = both.chain(receiving.samples.into_iter().map(|sample| sample.corrected(&at_receiver)));
        let mut both: Vec<_> = both.collect();
        both.sort_by_key(|sample| sample.at);
        samples.push(both);
        silences.push(
            sending.silence.zip(receiving.silence).map(|(sender, receiver)| format!("{sender}; {receiver}")),
        );
        invalid = invalid.or(sending.objection).or(receiving.objection);
        tunnels.push([(sending.tunnel, at_sender), (receiving.tunnel, at_receiver)]);
    }
    let of_tunnels = || {
        tunnels.iter().flatten().flat_map(|(tunnel, correction)| {
            tunnel.iter().flat_map(|tunnel| &tunnel.logs).map(move |log| ClockedLog { log, correction })
        })
    };
    let logs = || of_tunnels().chain(reports.iter().flatten().flat_map(FlowReport::logs));
    let end_ns = spec.duration().as_ns();
    let mut delivered = Delivered::of(spec);
    let mut samples_due = Grid::of(spec);
    let mut events = 0;
    for record in merged(logs()) {
        // What happens in the last moments of a clock that goes faster is no later than the end.
        let record = Record { time_ns: record.time_ns.min(end_ns), ..record };
        samples_due.take(Time::from_ns(record.time_ns), &reports, observer);
        delivered.count(&record);
        observer.record(&record);
        events += 1;
    }
    samples_due.take(Time::ZERO + spec.duration(), &reports, observer);
    delivered.require(silences)?;
    tell_flows(&reports, &samples, observer);
    let senders = reports.iter().flatten().map(|flow| flow.counters().clone()).collect();
    let ends_latest = reports.iter().flatten().map(FlowReport::latest).max();
    Ok(JoinedTotals {
        totals: Totals { links: Vec::new(), senders, events },
        flows: carried,
        ends_latest,
        invalid,
    })
}

/// The sampling times of a run.
struct Grid {
    next: Time,
    interval: Span,
}

impl Grid {
    fn of(spec: &RunSpec) -> Self {
        let interval = Span::from_secs_f64(spec.sample_interval_s);
        Self { next: Time::ZERO + interval, interval }
    }

    /// Tells the samples that are due at `now`. No link tells anything of a network.
    fn take(&mut self, now: Time, flows: &[Option<FlowReport>], observer: &mut dyn Observer) {
        while self.next <= now {
            let states: Vec<_> =
                flows.iter().map(|flow| flow.as_ref().and_then(|flow| flow.state(self.next))).collect();
            observer.sample(&Sample { at: self.next, flows: &states, capacity_bits: [None; 2] });
            self.next += self.interval;
        }
    }
}

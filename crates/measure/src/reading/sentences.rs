//! Composition of sentences from the collected records and samples.

use super::episodes::Episode;
use super::limits::{Limit, limits};
use super::links::Link;
use super::meter::ReadingMeter;
use super::modes::Mode;
use super::packets::FlowPackets;
use super::sentence::{Reading, Sentence};
use super::states::FlowStates;
use super::words::{at, bytes, count, percent, span};
use std::collections::BTreeMap;

/// Maximum number of sentences.
const MOST: usize = 30;
/// Maximum number of flows that are described one by one.
const MOST_FLOWS: usize = 6;
/// Maximum number of episodes with one cause that are described one by one.
const ONE_BY_ONE: usize = 3;
/// Shortest time without packets that gets a sentence, ns, and in round trips.
const LEAST_STALL_NS: u64 = 200_000_000;
const STALL_ROUND_TRIPS: u64 = 4;
/// Minimum share of a flow's time that the sentence on its limits mentions.
const LEAST_SHARE: f64 = 0.005;
/// Shortest time without a delivery that counts as an outage, ns, and in round trips.
const LEAST_OUTAGE_NS: u64 = 100_000_000;
const OUTAGE_ROUND_TRIPS: u64 = 3;
/// Number of parts of a run, in bins of delays, from which the part with the most queueing is chosen.
const PARTS: usize = 20;

/// Sentence with its rank; sentences of rank 0 matter most.
type Draft = (u8, Sentence);

/// Cause of lost packets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    Queue(String),
    /// Partly a queue, partly elsewhere.
    Mixed(String),
    Outage,
    Elsewhere,
    Unknown,
}

impl ReadingMeter {
    /// Returns the reading of the run.
    pub fn finish(mut self) -> Reading {
        let planned_ns = self.facts.duration_ns.filter(|ns| (0.0..1e18).contains(ns)).unwrap_or(0.0);
        self.end_ns = self.end_ns.max(planned_ns as u64);
        for state in self.states.values_mut() {
            state.finish(self.end_ns);
        }
        Reading { sentences: sentences(&self) }
    }
}

fn sentences(meter: &ReadingMeter) -> Vec<Sentence> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut numbers: Vec<u32> =
        meter.flows.keys().chain(meter.states.keys()).copied().filter(|&flow| flow > 0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let bytes_of = |flow: &u32| meter.flows.get(flow).map_or(0, |flow| flow.delivered_bytes);
    shares(meter, &numbers, &mut drafts);
    let mut spoken = numbers.clone();
    spoken.sort_by_key(|flow| std::cmp::Reverse(bytes_of(flow)));
    spoken.truncate(MOST_FLOWS);
    for flow in spoken {
        let teller = Teller {
            meter,
            flow,
            who: who(meter, flow, numbers.len()),
            packets: meter.flows.get(&flow),
            states: meter.states.get(&flow),
        };
        teller.slow_start(&mut drafts);
        teller.losses(&mut drafts);
        teller.marks(&mut drafts);
        teller.limits(&mut drafts);
        teller.modes(&mut drafts);
        teller.delays(&mut drafts);
        teller.pauses(&mut drafts);
        teller.timeouts(&mut drafts);
        teller.retransmissions(&mut drafts);
    }
    queues(meter, &mut drafts);
    drafts.sort_by_key(|(weight, sentence)| (*weight, sentence.from_ns));
    drafts.truncate(MOST);
    let mut sentences: Vec<Sentence> = drafts.into_iter().map(|(_, sentence)| sentence).collect();
    sentences.sort_by_key(|sentence| (sentence.from_ns, sentence.flow));
    sentences
}

/// Returns the name of a flow in sentences.
fn who(meter: &ReadingMeter, flow: u32, flows: usize) -> String {
    let scheme =
        meter.facts.flows.iter().find(|fact| fact.flow == flow).and_then(|fact| fact.scheme.as_deref());
    match scheme.filter(|scheme| !scheme.is_empty()) {
        Some(scheme) if flows > 1 => format!("Flow {flow} ({scheme})"),
        Some(scheme) => format!("The flow ({scheme})"),
        None if flows > 1 => format!("Flow {flow}"),
        None => "The flow".to_owned(),
    }
}

fn sentence(
    kind: &'static str,
    flow: Option<u32>,
    (from_ns, to_ns): (u64, u64),
    text: String,
    evidence: &[(&'static str, f64)],
) -> Sentence {
    let evidence: BTreeMap<_, _> = evidence.iter().copied().filter(|(_, value)| value.is_finite()).collect();
    Sentence { text, from_ns, to_ns: to_ns.max(from_ns), flow, kind, evidence }
}

/// Adds a sentence on the flows' shares of all delivered data.
fn shares(meter: &ReadingMeter, numbers: &[u32], drafts: &mut Vec<Draft>) {
    let total = meter.network.delivered_bytes as f64;
    let mut shares: Vec<(u32, f64)> = numbers
        .iter()
        .filter_map(|flow| Some((*flow, meter.flows.get(flow)?.delivered_bytes as f64 / total)))
        .collect();
    if shares.len() < 2 || total <= 0.0 {
        return;
    }
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let phrases: Vec<String> = shares
        .iter()
        .take(MOST_FLOWS)
        .map(|(flow, share)| format!("{} {}", who(meter, *flow, 2).replacen('F', "f", 1), percent(*share)))
        .collect();
    let text = format!(
        "Of all bytes that were delivered, {} got these shares: {}.",
        count(shares.len() as u64, "flow"),
        phrases.join(", ")
    );
    let evidence = [
        ("flows", shares.len() as f64),
        ("largest_share", shares[0].1),
        ("smallest_share", shares[shares.len() - 1].1),
    ];
    drafts.push((1, sentence("share", None, (0, meter.end_ns), text, &evidence)));
}

/// Adds sentences on the largest queue of each link in the data direction.
fn queues(meter: &ReadingMeter, drafts: &mut Vec<Draft>) {
    let Some(links) = meter.links.of_data() else { return };
    for link in links.take(4) {
        let mut largest: Option<super::links::LinkSample> = None;
        for sample in &link.samples {
            if largest.is_none_or(|best| sample.queue_bytes > best.queue_bytes) {
                largest = Some(*sample);
            }
        }
        let Some(largest) = largest.filter(|sample| sample.queue_bytes > 0.0) else { continue };
        let rate = link.rate_mbps(largest.time_ns);
        let wait_ns = rate.map(|mbps| largest.queue_bytes * 8.0 * 1e3 / mbps);
        let wait =
            wait_ns.map_or_else(String::new, |ns| format!(", about {} of work for the link", span(ns)));
        let text = format!(
            "The largest sampled queue of link {} was {} ({}){wait}, at {}.",
            link.name,
            bytes(largest.queue_bytes),
            count(largest.queue_packets as u64, "packet"),
            at(largest.time_ns)
        );
        let evidence = [
            ("queue_bytes", largest.queue_bytes),
            ("queue_packets", largest.queue_packets),
            ("wait_ns", wait_ns.unwrap_or(f64::NAN)),
        ];
        drafts.push((1, sentence("queue", None, (largest.time_ns, largest.time_ns), text, &evidence)));
    }
}

/// Composes the sentences of one flow.
struct Teller<'a> {
    meter: &'a ReadingMeter,
    flow: u32,
    who: String,
    packets: Option<&'a FlowPackets>,
    states: Option<&'a FlowStates>,
}

impl Teller<'_> {
    fn say(
        &self,
        kind: &'static str,
        times: (u64, u64),
        text: String,
        evidence: &[(&'static str, f64)],
    ) -> Sentence {
        sentence(kind, Some(self.flow), times, text, evidence)
    }

    fn round_trip_ns(&self) -> u64 {
        self.packets.map_or(0, FlowPackets::round_trip_ns)
    }

    /// Adds a sentence on the end of slow start and its cause.
    fn slow_start(&self, drafts: &mut Vec<Draft>) {
        let Some(states) = self.states else { return };
        let begins = |mode: &&Mode| {
            mode.start().is_some_and(|start| mode.changes.first().is_some_and(|first| first.1 == start))
        };
        let first_ns = states.first_ns.unwrap_or(0);
        if let Some(mode) = states.modes.iter().find(begins) {
            let name = if mode.is_switch() {
                "slow start".to_owned()
            } else {
                format!("`{}`", mode.names[mode.changes[0].1])
            };
            if let Some(&(left_ns, _)) = mode.changes.get(1) {
                let since_ns = if states.is_full { left_ns } else { mode.since[1] };
                self.left(&name, mode.changes[0].0, (since_ns, left_ns), drafts);
            } else {
                let text = format!("{} never left {name}.", self.who);
                let times = (mode.changes[0].0, self.meter.end_ns);
                drafts.push((0, self.say("slow_start", times, text, &[("left", 0.0)])));
            }
        } else if let Some((before_ns, told_ns)) = states.threshold.filter(|&(_, told_ns)| told_ns > first_ns)
        {
            let since_ns = if states.is_full { told_ns } else { before_ns };
            self.left("slow start", first_ns, (since_ns, told_ns), drafts);
        }
    }

    fn left(&self, name: &str, begun_ns: u64, (since_ns, left_ns): (u64, u64), drafts: &mut Vec<Draft>) {
        let when = if since_ns < left_ns {
            format!("between {} and {}", at(since_ns), at(left_ns))
        } else {
            format!("at {}", at(left_ns))
        };
        let is_within = |times: &[u64], slack_ns: u64| {
            times.iter().any(|&time_ns| time_ns.saturating_add(slack_ns) >= since_ns && time_ns <= left_ns)
        };
        let lost = self.packets.is_some_and(|packets| is_within(&packets.first_declared, 0));
        // the ACK reports a mark to the sender
        let marked =
            self.packets.is_some_and(|packets| is_within(&packets.first_marked, self.round_trip_ns()));
        let is_rate_based = name == "`startup`" || name == "`starting`";
        let (why, cause) = match (lost, marked) {
            (true, _) if is_rate_based => {
                ("packets were declared lost then; whether that was the reason, the log does not tell", 1.0)
            }
            (true, _) => ("because packets were declared lost", 1.0),
            (false, true) if is_rate_based => {
                ("packets were marked (ECN) then; whether that was the reason, the log does not tell", 2.0)
            }
            (false, true) => ("because packets were marked (ECN)", 2.0),
            (false, false) if self.packets.is_none() => ("why, the log does not tell", f64::NAN),
            (false, false) => ("without a loss or a mark: by what it measured of delay or rate", 3.0),
        };
        let joint = if why.starts_with("because") || why.starts_with("without") { ", " } else { "; " };
        let text = format!("{} left {name} {when}{joint}{why}.", self.who);
        let evidence = [("left", 1.0), ("left_ns", left_ns as f64), ("cause", cause)];
        drafts.push((0, self.say("slow_start", (begun_ns, left_ns), text, &evidence)));
    }

    /// Returns the minimum time without arrivals that counts as an outage of the path.
    fn least_outage_ns(&self) -> u64 {
        LEAST_OUTAGE_NS.max(OUTAGE_ROUND_TRIPS.saturating_mul(self.round_trip_ns()))
    }

    /// Returns the time without deliveries that an episode of losses belongs to, if no packet sent in that time
    /// arrived.
    fn outage(&self, episode: &Episode) -> Option<(u64, u64)> {
        let packets = self.packets.filter(|_| episode.packets > 1)?;
        let round_trip_ns = packets.round_trip_ns();
        let least_ns = self.least_outage_ns();
        // packets in a queue behind the place of the losses still arrive for a while
        let behind_ns = if episode.survivors == 0 { u64::try_from(packets.most_ns).unwrap_or(0) } else { 0 };
        let slack_ns = round_trip_ns.saturating_add(behind_ns);
        self.meter.network.pauses.iter().copied().find(|&(from_ns, to_ns)| {
            let begins = episode.from_ns.saturating_add(slack_ns) >= from_ns;
            to_ns - from_ns >= least_ns && begins && episode.to_ns <= to_ns
        })
    }

    /// Returns the cause of an episode's lost packets.
    fn cause(&self, episode: &Episode) -> Cause {
        let is_outage = self.outage(episode).is_some();
        // counted are the drops of queues in the sample intervals of the episode, the queue with the most drops, and
        // all drops of these intervals
        let (mut by_queues, mut all, mut worst) = (0, None, (0, ""));
        for link in self.meter.links.of_data().into_iter().flatten() {
            let Some((dropped, (from_ns, to_ns))) = link.dropped(episode.from_ns, episode.to_ns) else {
                continue;
            };
            all = all.max(self.meter.network.drops_within(from_ns, to_ns));
            by_queues += dropped;
            worst = worst.max((dropped, &link.name));
        }
        match all {
            None | Some(_) if is_outage && by_queues == 0 => Cause::Outage,
            None => Cause::Unknown,
            Some(_) if by_queues == 0 => Cause::Elsewhere,
            Some(all) if by_queues >= all => Cause::Queue(worst.1.to_owned()),
            Some(_) => Cause::Mixed(worst.1.to_owned()),
        }
    }

    fn because(&self, cause: &Cause, times: (u64, u64)) -> String {
        match cause {
            Cause::Queue(name) => {
                let link = self.meter.links.list.iter().find(|link| link.name == *name);
                let queued = link.and_then(|link: &Link| link.queue_bytes(times.0, times.1));
                let queued = queued.map_or_else(String::new, |queued| {
                    format!(", which held up to {} in the samples then", bytes(queued))
                });
                format!("by the queue of link {name}{queued}")
            }
            Cause::Mixed(name) => format!("some by the queue of link {name}, others elsewhere in the path"),
            Cause::Outage => "in an outage: nothing arrived meanwhile".to_owned(),
            Cause::Elsewhere => {
                "inside the path, but not by a queue: at random, or by what else loses packets there"
                    .to_owned()
            }
            Cause::Unknown => "the log does not tell where".to_owned(),
        }
    }

    /// Adds sentences on the loss episodes, by cause.
    fn losses(&self, drafts: &mut Vec<Draft>) {
        let Some(packets) = self.packets else { return };
        let (episodes, what) = if packets.dropped > 0 {
            (&packets.drops.list, "dropped")
        } else if packets.declared > packets.fates.false_alarm_count && self.meter.network.drop_count == 0 {
            (&packets.declarations.list, "declared lost")
        } else {
            (&Vec::new(), "")
        };
        let mut by_cause: BTreeMap<Cause, Vec<Episode>> = BTreeMap::new();
        let mut outages: Vec<(u64, u64)> = Vec::new();
        for episode in episodes {
            let mut cause = if what == "dropped" { self.cause(episode) } else { Cause::Unknown };
            if cause == Cause::Outage {
                outages.extend(self.outage(episode));
            }
            // retransmissions lost during an outage
            let is_inside =
                |&(from_ns, to_ns): &(u64, u64)| from_ns <= episode.from_ns && episode.to_ns <= to_ns;
            if cause == Cause::Elsewhere && outages.iter().rev().take(4).any(is_inside) {
                cause = Cause::Outage;
            }
            by_cause.entry(cause).or_default().push(*episode);
        }
        for (cause, episodes) in by_cause {
            if episodes.len() <= ONE_BY_ONE {
                for episode in episodes {
                    let times = (episode.from_ns, episode.to_ns);
                    let lasted = episode.to_ns - episode.from_ns;
                    let when = if lasted > 0 {
                        format!("within {} from {}", span(lasted as f64), at(times.0))
                    } else {
                        format!("at {}", at(times.0))
                    };
                    let text = format!(
                        "{}: {} {what} {when}, {}.",
                        self.who,
                        count(episode.packets, "packet"),
                        self.because(&cause, times)
                    );
                    let evidence =
                        [("packets", episode.packets as f64), ("episodes", 1.0), ("cause", cause.code())];
                    drafts.push((0, self.say("loss", times, text, &evidence)));
                }
                continue;
            }
            drafts.push((0, self.many_losses(&cause, &episodes, what)));
        }
        self.false_alarms(packets, drafts);
    }

    fn many_losses(&self, cause: &Cause, episodes: &[Episode], what: &str) -> Sentence {
        let total: u64 = episodes.iter().map(|one| one.packets).sum();
        let (first, last) = (episodes[0], episodes[episodes.len() - 1]);
        let every_ns = last.from_ns.saturating_sub(first.from_ns) as f64 / (episodes.len() - 1) as f64;
        let worst =
            episodes.iter().fold(first, |worst, one| if one.packets > worst.packets { *one } else { worst });
        let because = match cause {
            Cause::Queue(_) => self.because(cause, (worst.from_ns, worst.to_ns)),
            _ => self.because(cause, (first.from_ns, last.to_ns)),
        };
        let text = format!(
            "{} had {} loss episodes with {} {what}, one every {} on average, {because}. The largest one lost {} at {}.",
            self.who,
            episodes.len(),
            count(total, "packet"),
            span(every_ns),
            count(worst.packets, "packet"),
            at(worst.from_ns)
        );
        let evidence = [
            ("packets", total as f64),
            ("episodes", episodes.len() as f64),
            ("every_ns", every_ns),
            ("largest_packets", worst.packets as f64),
            ("largest_ns", worst.from_ns as f64),
            ("cause", cause.code()),
        ];
        self.say("loss", (first.from_ns, last.to_ns), text, &evidence)
    }

    fn false_alarms(&self, packets: &FlowPackets, drafts: &mut Vec<Draft>) {
        let fates = &packets.fates;
        let (Some(&first_ns), Some(&last_ns)) = (fates.false_alarms.first(), fates.false_alarms.last())
        else {
            return;
        };
        let text = format!(
            "{}: {} declared lost that arrived all the same (spurious), first at {}.",
            self.who,
            count(fates.false_alarm_count, "packet"),
            at(first_ns)
        );
        let evidence = [("packets", fates.false_alarm_count as f64), ("declared", packets.declared as f64)];
        drafts.push((1, self.say("spurious", (first_ns, last_ns), text, &evidence)));
    }

    fn marks(&self, drafts: &mut Vec<Draft>) {
        let Some((packets, &first_ns)) =
            self.packets.and_then(|packets| Some((packets, packets.first_marked.first()?)))
        else {
            return;
        };
        let part = packets.marked as f64 / packets.sent.max(1) as f64;
        let text = format!(
            "{}: {} marked (ECN CE), {} of those sent, first at {}.",
            self.who,
            count(packets.marked, "packet"),
            percent(part),
            at(first_ns)
        );
        let evidence = [("packets", packets.marked as f64), ("share", part)];
        drafts.push((1, self.say("mark", (first_ns, packets.last_marked_ns), text, &evidence)));
    }

    /// Adds sentences on the limits of the flow.
    fn limits(&self, drafts: &mut Vec<Draft>) {
        let Some(states) = self.states else { return };
        let fact = self.meter.facts.flows.iter().find(|fact| fact.flow == self.flow);
        let application = fact.and_then(|fact| fact.application.as_deref());
        let links: Vec<&Link> = self.meter.links.of_data().into_iter().flatten().collect();
        let least_ns = self.least_outage_ns();
        let outages = self.meter.network.pauses.iter().copied().filter(|pause| pause.1 - pause.0 >= least_ns);
        let parts = limits(states, self.packets, application, &links, outages);
        let total: u64 = parts.iter().map(|&(from_ns, to_ns, _)| to_ns - from_ns).sum();
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
        if total == 0 {
            return;
        }
        let share = |limit: Limit| {
            let ns: u64 = parts.iter().filter(|part| part.2 == limit).map(|part| part.1 - part.0).sum();
            ns as f64 / total as f64
        };
        let mut shares: Vec<(Limit, f64)> = Limit::ALL
            .into_iter()
            .map(|limit| (limit, share(limit)))
            .filter(|(_, share)| *share > 0.0)
            .collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let phrases: Vec<String> = shares
            .iter()
            .enumerate()
            .filter(|&(rank, &(_, share))| rank == 0 || share >= LEAST_SHARE)
            .map(|(_, entry)| entry)
            .map(|(limit, share)| format!("{} for {} of its time", limit.words(), percent(*share)))
            .collect();
        let text = format!("{} was limited by {}.", self.who, phrases.join(", by "));
        let evidence: Vec<_> = shares.iter().map(|(limit, share)| (limit.key(), *share)).collect();
        drafts.push((0, self.say("limit", (first.0, last.1), text, &evidence)));
        // the longest time of each limit except the most frequent one
        for &(limit, _) in
            shares.iter().skip(1).filter(|(limit, share)| *share >= 0.02 && *limit != Limit::Unknown)
        {
            let mine = parts.iter().filter(|part| part.2 == limit);
            if let Some(&(from_ns, to_ns, _)) = mine.max_by_key(|part| part.1 - part.0) {
                let text = format!(
                    "{}: limited by {} for {} from {}, the longest such time.",
                    self.who,
                    limit.words(),
                    span((to_ns - from_ns) as f64),
                    at(from_ns)
                );
                let evidence = [("ns", (to_ns - from_ns) as f64)];
                drafts.push((3, self.say("limit", (from_ns, to_ns), text, &evidence)));
            }
        }
    }

    /// Adds sentences on the controller's modes.
    fn modes(&self, drafts: &mut Vec<Draft>) {
        let Some(states) = self.states else { return };
        for mode in states.modes.iter().filter(|mode| !mode.is_switch()) {
            let (Some(first), Some(last)) = (mode.changes.first(), mode.changes.last()) else { continue };
            let total = self.meter.end_ns.saturating_sub(first.0).max(1) as f64;
            let times = mode.times(self.meter.end_ns);
            let visits =
                |name: &str| mode.changes.iter().filter(|change| mode.names[change.1] == name).count() as u64;
            let mut durations: Vec<(&str, u64)> = times.iter().map(|(name, ns)| (*name, *ns)).collect();
            durations.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
            let phrases: Vec<String> = durations
                .iter()
                .map(|(name, ns)| {
                    let entered = match visits(name) {
                        1 => "once".to_owned(),
                        visits => format!("{visits} times"),
                    };
                    format!("in `{name}` for {} of its time ({entered})", percent(*ns as f64 / total))
                })
                .collect();
            let changes = mode.changes.len() as u64 - 1;
            let text = format!(
                "{} was {}; its {} changed {}.",
                self.who,
                phrases.join(", "),
                mode.field,
                count(changes, "time")
            );
            let evidence = [("changes", changes as f64), ("modes", times.len() as f64)];
            drafts.push((1, self.say("mode", (first.0, last.0), text, &evidence)));
        }
    }

    /// Adds sentences on the longest waiting times of packets.
    fn delays(&self, drafts: &mut Vec<Draft>) {
        let Some((packets, least_ns)) = self.packets.and_then(|packets| Some((packets, packets.least_ns?)))
        else {
            return;
        };
        let above_ns = packets.most_ns as f64 - least_ns as f64;
        let sent_ns = packets.most_at_ns.saturating_sub(u64::try_from(packets.most_ns).unwrap_or(0));
        let text = format!(
            "{}: the slowest packet took {} one way and arrived at {}; that is {} more than the fastest.",
            self.who,
            span(packets.most_ns as f64),
            at(packets.most_at_ns),
            span(above_ns)
        );
        let evidence = [
            ("longest_ns", packets.most_ns as f64),
            ("shortest_ns", least_ns as f64),
            ("above_ns", above_ns),
        ];
        drafts.push((1, self.say("delay", (sent_ns, packets.most_at_ns), text, &evidence)));
        let Some(mean_ns) = packets.delays.mean() else { return };
        let bins = packets.delays.bins.len() / PARTS;
        if bins == 0 {
            return;
        }
        if let Some((from_ns, to_ns, worst_ns)) = packets.delays.largest(bins) {
            let (usual_ns, worst_ns) = (mean_ns - least_ns as f64, worst_ns - least_ns as f64);
            if worst_ns > 1.2 * usual_ns && worst_ns > 1e6 {
                let text = format!(
                    "{}: queueing was largest from {} to {}: packets took {} longer than the fastest on average, over the whole run {}.",
                    self.who,
                    at(from_ns),
                    at(to_ns),
                    span(worst_ns),
                    span(usual_ns)
                );
                let evidence = [("mean_above_ns", worst_ns), ("run_mean_above_ns", usual_ns)];
                drafts.push((2, self.say("delay", (from_ns, to_ns), text, &evidence)));
            }
        }
    }

    /// Adds sentences on the longest times without packets.
    fn pauses(&self, drafts: &mut Vec<Draft>) {
        let Some(packets) = self.packets else { return };
        let least_ns = LEAST_STALL_NS.max(STALL_ROUND_TRIPS.saturating_mul(self.round_trip_ns()));
        for (gap, kind, what) in
            [(&packets.deliveries, "stall", "received nothing"), (&packets.sends, "idle", "sent nothing")]
        {
            if gap.ns() >= least_ns {
                let text = format!(
                    "{} {what} for {}, from {} to {}.",
                    self.who,
                    span(gap.ns() as f64),
                    at(gap.from),
                    at(gap.to)
                );
                drafts.push((1, self.say(kind, (gap.from, gap.to), text, &[("ns", gap.ns() as f64)])));
            }
        }
    }

    /// Adds a sentence on timeouts. The log does not contain them, so the sentence uses their count and their effect on
    /// the window.
    fn timeouts(&self, drafts: &mut Vec<Draft>) {
        let fact = self.meter.facts.flows.iter().find(|fact| fact.flow == self.flow);
        let timeouts =
            fact.and_then(|fact| Some((fact, fact.metrics.timeouts.filter(|&number| number >= 1.0)?)));
        let Some((packets, (fact, number))) = self.packets.zip(timeouts) else { return };
        let text = if fact.timer.as_deref() == Some("pto") {
            format!(
                "{} had persistent congestion {}: all packets of more than three probe timeouts were lost, and its window \
                 fell to the smallest (RFC 9002 7.6).",
                self.who,
                count(number as u64, "time")
            )
        } else {
            format!(
                "{} had {}: no ACK came for so long that its window fell to the smallest.",
                self.who,
                count(number as u64, "timeout")
            )
        };
        let times = (packets.first_sent_ns.unwrap_or(0), packets.last_sent_ns);
        drafts.push((1, self.say("timeout", times, text, &[("timeouts", number)])));
    }

    fn retransmissions(&self, drafts: &mut Vec<Draft>) {
        let fact = self.meter.facts.flows.iter().find(|fact| fact.flow == self.flow);
        let retransmissions =
            fact.and_then(|fact| fact.metrics.retransmissions).filter(|&number| number >= 1.0);
        let Some((packets, number)) = self.packets.zip(retransmissions) else { return };
        let part = number / packets.sent.max(1) as f64;
        let text =
            format!("{} sent {} again, {} of all.", self.who, count(number as u64, "packet"), percent(part));
        let times = (packets.first_sent_ns.unwrap_or(0), packets.last_sent_ns);
        drafts.push((2, self.say("retransmission", times, text, &[("packets", number), ("share", part)])));
    }
}

impl Cause {
    /// Returns the number of the cause in the evidence.
    const fn code(&self) -> f64 {
        match self {
            Self::Queue(_) => 1.0,
            Self::Mixed(_) => 2.0,
            Self::Outage => 3.0,
            Self::Elsewhere => 4.0,
            Self::Unknown => 0.0,
        }
    }
}

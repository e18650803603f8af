//! How long the ends of flows waited for a processor, by the kernel's own count of each task (`schedstat`: Linux v6.12,
//! `Documentation/scheduler/sched-stats.rst`), and what is done about a program that leaves no processor to others.

use crate::lateness_error::EndError;
use endpoint::{Punctuality, set_punctual};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use units::Span;

/// How often tasks are looked at.
const WINDOW: Duration = Duration::from_millis(100);
/// How often the processes are looked for that a program has started.
const SEARCH: Duration = Duration::from_secs(1);
/// Share of a processor above which a program loses its real-time priority for the next window: what others are left with is
/// more than the kernel's own limit for all real-time work, 95 % (`/proc/sys/kernel/sched_rt_runtime_us`).
const SPINS: f64 = 0.8;
/// Share of a processor below which it gets the priority, or gets it back.
const RESTS: f64 = 0.5;
/// A task that ran or waited for more than this share of a window always wanted to run, ...
const HUNGRY: f64 = 0.9;
/// ... and was starved if more than this share of that was waiting.
const STARVED: f64 = 0.25;
/// Share of the time in which an end may be starved before its run tells of it.
const STARVED_SHARE: f64 = 0.05;

/// What an end of a flow had of the processors.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct EndReport {
    /// Flow number, from 1.
    pub flow: usize,
    /// `sender` or `receiver`.
    pub side: &'static str,
    /// Time in which it was looked at, s.
    pub watched_s: f64,
    /// Processor time, s.
    pub ran_s: f64,
    /// Time in which a task of it could have run and had no processor, s.
    pub waited_s: f64,
    /// Mean wait for a processor, us.
    pub wait_mean_us: f64,
    /// 99th percentile of the wait for a processor, us: waits count as the mean of those of a task in 0.1 s.
    pub wait_p99_us: u64,
    /// Time in which a task of it always wanted to run and waited for over a quarter of it, s.
    pub starved_s: f64,
    /// The part of that time in which it waited, s.
    pub starved_wait_s: f64,
    /// Time without real-time priority because it used a processor for itself, or had only just begun, s; of programs only.
    pub lowered_s: f64,
    /// How late the end took datagrams and timers, where it is dumbbell's own.
    pub late: Option<Punctuality>,
}

impl EndReport {
    /// Returns how far the end makes numbers wrong. An end of dumbbell's own measures how late it is; of others the wait
    /// for a processor is known. That of a thread whose packets the kernel sends and acknowledges (`in_kernel`) delays none.
    pub(crate) fn error(&self, in_kernel: bool) -> EndError {
        match &self.late {
            Some(late) => late.into(),
            None => EndError {
                delay_ms: if in_kernel { 0.0 } else { self.wait_mean_us / 1e3 },
                rate: self.starved_wait_s / self.watched_s.max(f64::MIN_POSITIVE),
            },
        }
    }

    /// Returns what the run has to tell of the end, if anything. `bound` is for both kinds of ends.
    pub(crate) fn remark(&self, scheme: &str, bound: Span) -> Option<String> {
        let who = format!("flow {} ({scheme}) {}", self.flow, self.side);
        if let Some(late) = &self.late {
            return late.remark(&who, bound);
        }
        let bound_us = bound.as_ns() / 1000;
        let share = self.starved_s / self.watched_s;
        if self.wait_p99_us > bound_us {
            let [wait, bound] = [self.wait_p99_us, bound_us].map(|us| us as f64 / 1e3);
            return Some(format!(
                "{who} waited for a processor: p99 {wait:.2} ms above the bound of {bound:.2} ms"
            ));
        }
        (share > STARVED_SHARE).then(|| {
            let (share, bound) = (100.0 * share, 100.0 * STARVED_SHARE);
            format!("{who} had too little of a processor for {share:.0} % of the time, bound {bound:.0} %")
        })
    }
}

impl From<&Punctuality> for EndError {
    fn from(late: &Punctuality) -> Self {
        Self { delay_ms: late.mean_us as f64 / 1e3, rate: 0.0 }
    }
}

/// What the kernel has counted of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    ran_ns: u64,
    waited_ns: u64,
    turns: u64,
}

impl Times {
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self { ran_ns: next()?, waited_ns: next()?, turns: next()? })
    }

    const fn since(self, before: Self) -> Self {
        Self {
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            turns: self.turns.saturating_sub(before.turns),
        }
    }
}

/// Whom to look at.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    /// A thread of this process; 0 before it has said which it is.
    Thread(Arc<AtomicI32>),
    /// A program with all that it has started.
    Program(i32),
}

/// Watches over an end of a flow.
#[derive(Debug)]
pub(crate) struct Watched {
    who: Who,
    processes: Vec<i32>,
    searched: Instant,
    looked: Instant,
    /// Share of a processor above which a program is lowered.
    spins: f64,
    /// Share of a processor below which it gets its priority back.
    rests: f64,
    tasks: BTreeMap<i32, Times>,
    /// Turns by what a task waited for them, us.
    waits: BTreeMap<u64, u64>,
    lowered: bool,
    total: Times,
    seen: Duration,
    starved: Duration,
    starved_wait: Duration,
    lowered_for: Duration,
}

impl Watched {
    /// From now on; `programs` is how many programs the run has: together they leave something of all processors.
    pub(crate) fn new(who: Who, programs: usize) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from) as f64;
        let each = (processors / programs.max(1) as f64).min(1.0);
        let now = Instant::now();
        let mut watched = Self {
            lowered: matches!(who, Who::Program(_)),
            who,
            processes: Vec::new(),
            searched: now,
            looked: now,
            spins: SPINS * each,
            rests: RESTS * each,
            tasks: BTreeMap::new(),
            waits: BTreeMap::new(),
            total: Times::default(),
            seen: Duration::ZERO,
            starved: Duration::ZERO,
            starved_wait: Duration::ZERO,
            lowered_for: Duration::ZERO,
        };
        watched.search();
        watched.tasks = watched.tasks_now().collect();
        watched
    }

    /// To be called often: looks when it is time to. What was before `counts` steers a program's priority only.
    pub(crate) fn look(&mut self, counts: bool) {
        let window = self.looked.elapsed();
        if window >= WINDOW {
            self.take(window, counts);
        }
    }

    /// What became of the time since the last look.
    pub(crate) fn take(&mut self, window: Duration, counts: bool) {
        self.looked = Instant::now();
        if self.searched.elapsed() >= SEARCH {
            self.search();
        }
        let window_ns = window.as_nanos() as f64;
        let before = std::mem::take(&mut self.tasks);
        self.tasks = self.tasks_now().collect();
        let (mut sum, mut starved_ns) = (Times::default(), 0);
        for (task, times) in &self.tasks {
            let Times { ran_ns, waited_ns, turns } =
                times.since(before.get(task).copied().unwrap_or_default());
            sum.ran_ns += ran_ns;
            sum.waited_ns += waited_ns;
            let wanted = (ran_ns + waited_ns) as f64;
            if wanted > HUNGRY * window_ns && waited_ns as f64 > STARVED * wanted {
                starved_ns = starved_ns.max(waited_ns);
            }
            if counts && turns > 0 {
                *self.waits.entry(waited_ns / turns / 1000).or_default() += turns;
            }
        }
        if counts {
            self.total.ran_ns += sum.ran_ns;
            self.total.waited_ns += sum.waited_ns;
            self.seen += window;
            self.starved += if starved_ns > 0 { window } else { Duration::ZERO };
            self.starved_wait += Duration::from_nanos(starved_ns);
            self.lowered_for += if self.lowered { window } else { Duration::ZERO };
        }
        self.steer(sum.ran_ns as f64 / window_ns, (sum.ran_ns + sum.waited_ns) as f64 / window_ns);
    }

    /// Takes a program's priority away where it `used` that much of a processor, and gives it where it `wanted` no more.
    fn steer(&mut self, used: f64, wanted: f64) {
        let Who::Program(_) = self.who else { return };
        let lower = if self.lowered { wanted > self.rests } else { used > self.spins };
        if self.lowered && !lower {
            self.search(); // what it has started meanwhile has no priority either
            self.tasks = self.tasks_now().collect();
        }
        if lower || self.lowered {
            for &task in self.tasks.keys() {
                set_punctual(task, !lower);
            }
        }
        self.lowered = lower;
    }

    /// Looks for the processes.
    fn search(&mut self) {
        self.searched = Instant::now();
        self.processes = match &self.who {
            Who::Thread(_) => vec![std::process::id() as i32],
            Who::Program(pid) => with_descendants(*pid),
        };
    }

    fn tasks_now(&self) -> impl Iterator<Item = (i32, Times)> {
        let thread = match &self.who {
            Who::Thread(thread) => Some(thread.load(Ordering::Relaxed)),
            Who::Program(_) => None,
        };
        self.processes.iter().flat_map(move |process| {
            let all = || numbers_in(&format!("/proc/{process}/task"));
            let tasks: Vec<i32> = thread.map_or_else(|| all().collect(), |thread| vec![thread]);
            tasks.into_iter().filter_map(move |task| {
                let text = fs::read_to_string(format!("/proc/{process}/task/{task}/schedstat")).ok()?;
                Some((task, Times::parse(&text)?))
            })
        })
    }

    /// What was seen, if anything was.
    pub(crate) fn report(&mut self, flow: usize, side: &'static str) -> Option<EndReport> {
        let turns: u64 = self.waits.values().sum();
        let mut above = turns / 100;
        let p99 = self.waits.iter().rev().find(|&(_, &turns)| {
            let found = turns > above;
            above = above.saturating_sub(turns);
            found
        });
        let seconds = |ns: u64| ns as f64 / 1e9;
        (turns > 0).then(|| EndReport {
            flow,
            side,
            watched_s: self.seen.as_secs_f64(),
            ran_s: seconds(self.total.ran_ns),
            waited_s: seconds(self.total.waited_ns),
            wait_mean_us: self.total.waited_ns as f64 / 1e3 / turns as f64,
            wait_p99_us: p99.map_or(0, |(&wait, _)| wait),
            starved_s: self.starved.as_secs_f64(),
            starved_wait_s: self.starved_wait.as_secs_f64(),
            lowered_s: self.lowered_for.as_secs_f64(),
            late: None,
        })
    }
}

/// The numbers that name what is in a directory of `/proc`.
fn numbers_in(directory: &str) -> impl Iterator<Item = i32> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The process, and all below it.
fn with_descendants(pid: i32) -> Vec<i32> {
    let parent = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold spaces and parentheses; field 4 is the second after it.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<i32>().ok()
    };
    let parents: Vec<(i32, i32)> = numbers_in("/proc").filter_map(|pid| Some((pid, parent(&pid)?))).collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&above) = found.get(next) {
        found.extend(parents.iter().filter(|&&(_, parent)| parent == above).map(|&(pid, _)| pid));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(wait_p99_us: u64, starved_s: f64) -> EndReport {
        let (watched_s, ran_s, waited_s) = (10.0, 1.0, 1.0);
        EndReport {
            flow: 2,
            side: "sender",
            watched_s,
            ran_s,
            waited_s,
            wait_mean_us: 100.0,
            wait_p99_us,
            starved_s,
            starved_wait_s: starved_s / 2.0,
            lowered_s: 0.0,
            late: None,
        }
    }

    #[test]
    fn an_end_that_waits_long_or_gets_too_little_is_told_with_its_error() {
        assert_eq!(end(1000, 0.5).remark("quic", Span::from_ms(1)), None);
        let late = end(1500, 0.0).remark("quic", Span::from_ms(1)).unwrap();
        assert_eq!(
            late,
            "flow 2 (quic) sender waited for a processor: p99 1.50 ms above the bound of 1.00 ms"
        );
        let starved = end(900, 2.0).remark("quic", Span::from_ms(1)).unwrap();
        assert_eq!(
            starved,
            "flow 2 (quic) sender had too little of a processor for 20 % of the time, bound 5 %"
        );
        let error = end(900, 2.0).error(false);
        assert_eq!((error.delay_ms, error.rate), (0.1, 0.1), "it waited in half of the 2 s of 10");
        let error = end(900, 2.0).error(true);
        assert_eq!(
            (error.delay_ms, error.rate),
            (0.0, 0.1),
            "packets of the kernel do not wait for its thread"
        );
    }

    #[test]
    fn an_end_that_was_never_late_is_good_however_busy_the_processors_were() {
        let late = |p99_us| {
            let late = Some(Punctuality { events: 1000, mean_us: 30, p50_us: 20, p99_us, max_us: 90_000 });
            EndReport { late, ..end(5000, 9.0) }.remark("cubic", Span::from_ms(1))
        };
        assert_eq!(late(90), None);
        assert!(late(1200).unwrap().starts_with("flow 2 (cubic) sender was late: p99 1.20 ms"));
    }

    #[test]
    fn the_kernels_count_of_a_task_grows_while_it_runs() {
        let times = || Times::parse(&fs::read_to_string("/proc/thread-self/schedstat").unwrap()).unwrap();
        let before = times();
        // To look takes some microseconds.
        assert!((0..1_000_000).any(|_| times().since(before).ran_ns > 20_000_000));
        assert!(Times::parse("1 2").is_none());
    }

    #[test]
    fn the_99th_percentile_leaves_out_one_turn_of_a_hundred() {
        let mut watched = Watched::new(Who::Thread(Arc::default()), 0);
        assert!(watched.report(1, "sender").is_none(), "nothing was seen");
        watched.waits.extend([(10, 98), (700, 1), (5000, 1)]);
        assert_eq!(watched.report(1, "sender").unwrap().wait_p99_us, 700);
    }

    #[test]
    fn what_a_program_starts_belongs_to_it() {
        // What the shell starts reads from this process until it is killed.
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "exec 3<&0; cat <&3 & wait"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = shell.id() as i32;
        let found = needs::wait_for(|| Some(with_descendants(pid)).filter(|found| found.len() > 1));
        for &process in &found[1..] {
            let child = nix::unistd::Pid::from_raw(process);
            nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGKILL).unwrap();
        }
        shell.wait().unwrap();
        assert_eq!((found[0], found.len()), (pid, 2));
    }
}

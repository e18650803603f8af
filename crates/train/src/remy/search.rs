//! Search for better rules.

use super::candidates::around;
use super::network::{Network, Trial};
use super::settings::{MAX_EPOCHS, Settings};
use super::usage::Usage;
use crate::Error;
use crate::{Job, News, Watch, spread};
use congestion::remy::{Action, DOMAIN, Rule, SIGNALS, Signals, Table, Written};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use strict_input::Refusal;
use units::Rng;

/// Action of the only rule in an untrained table (tcpexmachina/remy@ad05f8a, `src/whisker.hh`): one more packet with
/// each ACK.
const FIRST: Action = Action { window_increment: 1, window_multiple: 1.0, intersend_ms: 3.0 };
/// Maximum steps from an action to a better one, per rule and epoch.
const STEPS: usize = 6;
/// Minimum share of lookups. Rules with a smaller share stay unchanged.
const MIN_SHARE: f64 = 0.003;
/// Length factor of the short trials that filter the candidates, and number of candidates that pass.
const SHORT_FACTOR: f64 = 0.25;
const FINALISTS: usize = 8;
/// Minimum gain that counts, in doublings.
const MIN_GAIN: f64 = 1e-4;
/// Number of rules after which longer trials confirm the changes, and their length factor.
const BATCH: usize = 8;
const LONG_FACTOR: f64 = 10.0;
/// Epochs in which the trials grow by their initial length, since later gains are smaller than the noise of short
/// trials.
const LENGTHENS: f64 = 16.0;
/// Maximum packets in flight, as a multiple of the packets that the link sends. Rules above it get the worst utility.
const MAX_QUEUED: f64 = 2.0;

/// Training as stored in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    seed: u64,
    settings: Settings,
    /// Number of finished epochs.
    epoch: u64,
    /// Number of evaluated tables.
    judged: u64,
    /// Weighted mean of the utilities over the networks of the latest long trials.
    objective: Option<f64>,
}

/// Trains rules.
pub(super) fn train(job: &Job<'_>) -> Result<Vec<u8>, Error> {
    let settings = Settings::read(job.settings)?;
    let (table, state) = match job.start {
        Some(file) => resume(file, job.seed, &settings)?,
        None => (
            Table::new(vec![Rule { lower: [0.0; SIGNALS], upper: [DOMAIN; SIGNALS], action: FIRST }])?,
            State { seed: job.seed, settings, epoch: 0, judged: 0, objective: None },
        ),
    };
    let mut search = Search { job, table: Arc::new(table), state, best: 0.0 };
    let limit = if search.state.settings.epochs == 0 { MAX_EPOCHS } else { search.state.settings.epochs };
    while search.state.epoch < limit && !job.is_over() {
        search.epoch()?;
    }
    search.file_bytes()
}

/// Returns the state of an earlier training for these networks. Settings on the amount of training may differ.
fn resume(file: &[u8], seed: u64, settings: &Settings) -> Result<(Table, State), Refusal> {
    let Written { table, training } = Written::read(file)?;
    let state: State =
        serde_json::from_value(training).map_err(|cause| Refusal::of_key("training", cause.to_string()))?;
    let Settings { networks, packets, seconds, rules, epochs, .. } = settings.clone();
    let now = Settings { networks, packets, seconds, rules, epochs, ..state.settings.clone() };
    if (&now, seed) != (settings, state.seed) {
        return Err(Refusal::new(
            "it was trained with another seed or for other networks: they are in the file",
        ));
    }
    if state.epoch > MAX_EPOCHS {
        return Err(Refusal::of_key(
            "training",
            format!("epoch = {}: allowed are 0 to {MAX_EPOCHS}", state.epoch),
        ));
    }
    Ok((table, State { settings: now, ..state }))
}

/// Watch that ends the current work when the job's time is over.
struct Deadline<'a> {
    job: &'a Job<'a>,
    is_over: Cell<bool>,
}

impl<'a> Deadline<'a> {
    /// Returns the result of `work` under this watch, or `None` if the time was over before its end.
    fn run<T>(
        job: &'a Job<'a>,
        work: impl FnOnce(&dyn Watch) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let deadline = Self { job, is_over: Cell::new(false) };
        let outcome = work(&deadline);
        if deadline.is_over.get() { Ok(None) } else { outcome.map(Some) }
    }
}

impl Watch for Deadline<'_> {
    fn tell(&self, news: &News<'_>) -> Result<(), Error> {
        self.job.watch.tell(news)
    }

    fn look(&self) -> Result<(), Error> {
        self.job.watch.look()?;
        self.is_over.set(self.job.is_over());
        if self.is_over.get() { Err(Error::Stopped("the time is over".to_owned())) } else { Ok(()) }
    }

    fn elapsed_s(&self) -> f64 {
        self.job.watch.elapsed_s()
    }
}

struct Search<'a> {
    job: &'a Job<'a>,
    table: Arc<Table>,
    state: State,
    /// Utility of the table in this epoch's trials.
    best: f64,
}

impl Search<'_> {
    fn rng(&self, stream: &str) -> Rng {
        Rng::new(self.state.seed, &format!("remy {stream} {}", self.state.epoch))
    }

    /// Returns a trial of this epoch with a length factor `longer`.
    fn trial(&self, seed: u64, longer: f64) -> Trial<'static> {
        let Settings { delta, packets, seconds, .. } = self.state.settings;
        let longer = longer * (1.0 + self.state.epoch as f64 / LENGTHENS);
        Trial {
            delta,
            seed,
            packets: packets * longer,
            seconds: seconds * longer,
            most_queued: MAX_QUEUED,
            usage: None,
        }
    }

    /// Improves every used rule, keeps changes that longer trials confirm, and divides the most used rule.
    fn epoch(&mut self) -> Result<(), Error> {
        let mut rng = self.rng("epoch");
        let (networks, seed) = (self.state.settings.draw(&mut rng), rng.next_u64());
        let job = self.job;
        let Some(usage) = Deadline::run(job, |watch| self.usage(&networks, seed, watch))? else {
            return Ok(());
        };
        let mut order: Vec<usize> = (0..self.table.rules().len()).collect();
        let least = usage.total() as f64 * MIN_SHARE;
        order.retain(|rule| usage.lookups(*rule) as f64 > least);
        order.sort_by_key(|rule| core::cmp::Reverse(usage.lookups(*rule)));
        let mut check = self.rng("ratchet");
        for (batch, rules) in order.chunks(BATCH).enumerate() {
            let before = Arc::clone(&self.table);
            let (present, trial) = ([Arc::clone(&before)], self.trial(seed, 1.0));
            let Some(worth) = Deadline::run(job, |watch| self.judge(&present, &networks, &trial, watch))?
            else {
                break;
            };
            self.best = worth[0];
            for (rule, number) in rules.iter().zip(batch * BATCH + 1..) {
                if !self.job.is_over() {
                    self.tell(&format!("rule {number} of {}", order.len()))?;
                    // A trial that the time limit ends does not count.
                    Deadline::run(job, |watch| self.improve(*rule, &networks, seed, &mut rng, watch))?;
                }
            }
            self.ratchet(&before, &mut check)?;
            if self.job.is_over() {
                break;
            }
        }
        if !self.job.is_over() {
            self.split(&usage)?;
            self.state.epoch += 1;
        }
        let file_bytes = self.file_bytes()?;
        // The training continues from the file's contents, such that a resumed training gives an identical result.
        self.table = Arc::new(Written::read(&file_bytes)?.table);
        self.job.watch.tell(&News { text: &self.line("epoch over"), result: Some(&file_bytes) })
    }

    fn file_bytes(&self) -> Result<Vec<u8>, Error> {
        let training = serde_json::to_value(&self.state)?;
        Ok(Written { table: Table::clone(&self.table), training }.to_text().into_bytes())
    }

    fn line(&self, activity: &str) -> String {
        let State { epoch, judged, objective, .. } = &self.state;
        let rules = self.table.rules().len();
        let objective = objective.map_or_else(String::new, |value| format!(", objective {value:.3}"));
        format!("epoch {}, {rules} rules{objective}, {judged} tables judged, {activity}", epoch + 1)
    }

    fn tell(&self, activity: &str) -> Result<(), Error> {
        self.job.watch.tell(&News { text: &self.line(activity), result: None })
    }

    /// Returns the weighted mean of the utilities of each of `tables`.
    fn judge(
        &mut self,
        tables: &[Arc<Table>],
        networks: &[(Network, f64)],
        trial: &Trial<'static>,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>, Error> {
        self.state.judged = self.state.judged.saturating_add(tables.len() as u64);
        let count = tables.len() * networks.len();
        let utilities = spread(self.job.jobs, count, watch, |number, stop_signal| {
            let (table, network) = (&tables[number / networks.len()], number % networks.len());
            let trial = Trial { seed: trial.seed.wrapping_add(network as u64), ..*trial };
            Ok(networks[network].0.judge(table, &trial, stop_signal)?.utility)
        })?;
        let total: f64 = networks.iter().map(|(_, weight)| weight).sum();
        Ok(utilities
            .chunks(networks.len())
            .map(|values| {
                values.iter().zip(networks).map(|(utility, (_, weight))| utility * weight).sum::<f64>()
                    / total
            })
            .collect())
    }

    /// Returns the lookups of rules in this epoch's trials, with equal weight for each network.
    fn usage(&self, networks: &[(Network, f64)], seed: u64, watch: &dyn Watch) -> Result<Usage, Error> {
        let (table, rules) = (&self.table, self.table.rules().len());
        let trial = self.trial(seed, 1.0);
        let usages = spread(self.job.jobs, networks.len(), watch, |network, stop_signal| {
            let usage = Arc::new(Mutex::new(Usage::new(rules)));
            let trial = Trial { seed: seed.wrapping_add(network as u64), usage: Some(&usage), ..trial };
            networks[network].0.judge(table, &trial, stop_signal)?;
            Ok(usage.lock().unwrap_or_else(PoisonError::into_inner).clone())
        })?;
        let mut all = Usage::new(rules);
        for usage in &usages {
            all.merge(usage);
        }
        Ok(all)
    }

    /// Moves from the action of a rule to the best nearby action, as long as the utility grows.
    fn improve(
        &mut self,
        rule: usize,
        networks: &[(Network, f64)],
        seed: u64,
        rng: &mut Rng,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let (trial, short_trial) = (self.trial(seed, 1.0), self.trial(seed, SHORT_FACTOR));
        for _ in 0..STEPS {
            let actions = around(&self.table.rules()[rule].action, rng);
            let mut tables: Vec<Arc<Table>> =
                actions.iter().map(|action| Arc::new(self.table.with_action(rule, *action))).collect();
            let short = self.judge(&tables, networks, &short_trial, watch)?;
            let mut order: Vec<usize> = (0..tables.len()).collect();
            order.sort_by(|one, other| short[*other].total_cmp(&short[*one]));
            tables = order.iter().take(FINALISTS).map(|number| Arc::clone(&tables[*number])).collect();
            let worth = self.judge(&tables, networks, &trial, watch)?;
            let best = (0..worth.len()).max_by(|one, other| worth[*one].total_cmp(&worth[*other]));
            match best.filter(|best| worth[*best] > self.best + MIN_GAIN) {
                Some(best) => (self.table, self.best) = (Arc::clone(&tables[best]), worth[best]),
                None => break,
            }
        }
        Ok(())
    }

    /// Returns to `before` if it is better in longer trials of other networks.
    fn ratchet(&mut self, before: &Arc<Table>, rng: &mut Rng) -> Result<(), Error> {
        if self.table.rules() == before.rules() {
            return Ok(());
        }
        self.tell("longer trials")?;
        let (networks, seed) = (self.state.settings.draw(rng), rng.next_u64());
        let both = [Arc::clone(before), Arc::clone(&self.table)];
        let worth = self.judge(&both, &networks, &self.trial(seed, LONG_FACTOR), self.job.watch)?;
        if worth[0] > worth[1] {
            self.table = Arc::clone(before);
        }
        self.state.objective = Some(f64::max(worth[0], worth[1]));
        Ok(())
    }

    /// Divides the most used rule at the medians of its signals.
    fn split(&mut self, usage: &Usage) -> Result<(), Error> {
        let rules = self.table.rules();
        let Some(most) = (0..rules.len()).max_by_key(|rule| usage.lookups(*rule)) else { return Ok(()) };
        let Some(medians) = usage.medians(most) else { return Ok(()) };
        let parts = divide(&rules[most], &medians);
        if rules.len() + parts.len() > self.state.settings.rules + 1 {
            return Ok(());
        }
        let mut rules = rules.to_vec();
        rules.splice(most..=most, parts);
        self.table = Arc::new(Table::new(rules)?);
        Ok(())
    }
}

/// Returns the parts of a rule, divided at `at` on every axis where `at` is within the rule.
fn divide(rule: &Rule, at: &Signals) -> Vec<Rule> {
    let mut parts = vec![*rule];
    for (axis, at) in at.iter().copied().enumerate() {
        if !(rule.lower[axis] < at && at < rule.upper[axis]) {
            continue;
        }
        parts = parts
            .iter()
            .flat_map(|part| {
                let (mut below, mut above) = (*part, *part);
                (below.upper[axis], above.lower[axis]) = (at, at);
                [below, above]
            })
            .collect();
    }
    parts
}

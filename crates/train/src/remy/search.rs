//! The search for better rules.

use super::candidates::around;
use super::network::{Network, Trial};
use super::settings::{MOST_EPOCHS, Settings};
use super::usage::Usage;
use crate::Error;
use crate::{Job, News, Watch, spread};
use congestion::remy::{Action, DOMAIN, Rule, SIGNALS, Signals, Table, Written};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use strict_input::Refusal;
use units::Rng;

/// What the one rule of a table does that nobody has trained (tcpexmachina/remy@ad05f8a, `src/whisker.hh`): a packet more with each ACK.
const FIRST: Action = Action { window_increment: 1, window_multiple: 1.0, intersend_ms: 3.0 };
/// Steps from one action to a better one, per rule and epoch.
const STEPS: usize = 6;
/// Rules that are looked up less often stay as they are.
const LEAST_SHARE: f64 = 0.003;
/// Candidates are sorted out by trials of this part of the length; so many come through.
const SHORTER: f64 = 0.25;
const COME_THROUGH: usize = 8;
/// Least gain that counts, in doublings.
const LEAST_GAIN: f64 = 1e-4;
/// What was learned of so many rules is judged by trials longer by this factor.
const BATCH: usize = 8;
const LONGER: f64 = 10.0;
/// Epochs in which trials become longer by their first length: what is left to learn is less than their noise.
const LENGTHENS: f64 = 16.0;
/// Rules with more packets on their way than this multiple of what the link sends are as bad as can be.
const MOST_QUEUED: f64 = 2.0;

/// What a file says of its training.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    seed: u64,
    settings: Settings,
    /// Epochs that are over.
    epoch: u64,
    /// Tables that were judged, in all.
    judged: u64,
    /// Weighted mean over the networks of the last long trials.
    objective: Option<f64>,
}

/// Trains rules.
pub(super) fn train(job: &Job<'_>) -> Result<Vec<u8>, Error> {
    let settings = Settings::read(job.settings)?;
    let (table, state) = match job.start {
        Some(file) => resumed(file, job.seed, &settings)?,
        None => (
            Table::new(vec![Rule { lower: [0.0; SIGNALS], upper: [DOMAIN; SIGNALS], action: FIRST }])?,
            State { seed: job.seed, settings, epoch: 0, judged: 0, objective: None },
        ),
    };
    let mut search = Search { job, table: Arc::new(table), state, best: 0.0 };
    let limit = if search.state.settings.epochs == 0 { MOST_EPOCHS } else { search.state.settings.epochs };
    while search.state.epoch < limit && !job.is_over() {
        search.epoch()?;
    }
    search.written()
}

/// What an earlier training has learned for the same networks; how thoroughly it goes on may be another matter.
fn resumed(file: &[u8], seed: u64, settings: &Settings) -> Result<(Table, State), Refusal> {
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
    if state.epoch > MOST_EPOCHS {
        return Err(Refusal::of_key(
            "training",
            format!("epoch = {}: allowed are 0 to {MOST_EPOCHS}", state.epoch),
        ));
    }
    Ok((table, State { settings: now, ..state }))
}

/// Watches a job, and ends what is being done when its time is over.
struct Deadline<'a> {
    job: &'a Job<'a>,
    is_over: Cell<bool>,
}

impl<'a> Deadline<'a> {
    /// What `work` comes to under this watch; nothing where the time was over before.
    fn of<T>(
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
    /// What the table is worth in this epoch's trials.
    best: f64,
}

impl Search<'_> {
    fn rng(&self, what: &str) -> Rng {
        Rng::new(self.state.seed, &format!("remy {what} {}", self.state.epoch))
    }

    /// A trial of this epoch, `longer` than usual by a factor.
    fn trial(&self, seed: u64, longer: f64) -> Trial<'static> {
        let Settings { delta, packets, seconds, .. } = self.state.settings;
        let longer = longer * (1.0 + self.state.epoch as f64 / LENGTHENS);
        Trial {
            delta,
            seed,
            packets: packets * longer,
            seconds: seconds * longer,
            most_queued: MOST_QUEUED,
            usage: None,
        }
    }

    /// Improves every rule that is used, keeps what stands up to longer trials, and divides the rule that is used most.
    fn epoch(&mut self) -> Result<(), Error> {
        let mut rng = self.rng("epoch");
        let (networks, seed) = (self.state.settings.draw(&mut rng), rng.next_u64());
        let job = self.job;
        let Some(usage) = Deadline::of(job, |watch| self.usage(&networks, seed, watch))? else {
            return Ok(());
        };
        let mut order: Vec<usize> = (0..self.table.rules().len()).collect();
        let least = usage.total() as f64 * LEAST_SHARE;
        order.retain(|rule| usage.lookups(*rule) as f64 > least);
        order.sort_by_key(|rule| core::cmp::Reverse(usage.lookups(*rule)));
        let mut check = self.rng("ratchet");
        for (batch, rules) in order.chunks(BATCH).enumerate() {
            let before = Arc::clone(&self.table);
            let (present, trial) = ([Arc::clone(&before)], self.trial(seed, 1.0));
            let Some(worth) = Deadline::of(job, |watch| self.judge(&present, &networks, &trial, watch))?
            else {
                break;
            };
            self.best = worth[0];
            for (rule, number) in rules.iter().zip(batch * BATCH + 1..) {
                if !self.job.is_over() {
                    self.tell(&format!("rule {number} of {}", order.len()))?;
                    // A trial that the end of the time cuts off does not count.
                    Deadline::of(job, |watch| self.improve(*rule, &networks, seed, &mut rng, watch))?;
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
        let written = self.written()?;
        // What goes on is what is in the file, so that whoever resumes goes on likewise.
        self.table = Arc::new(Written::read(&written)?.table);
        self.job.watch.tell(&News { text: &self.line("epoch over"), result: Some(&written) })
    }

    fn written(&self) -> Result<Vec<u8>, Error> {
        let training = serde_json::to_value(&self.state)?;
        Ok(Written { table: Table::clone(&self.table), training }.to_text().into_bytes())
    }

    fn line(&self, what: &str) -> String {
        let State { epoch, judged, objective, .. } = &self.state;
        let rules = self.table.rules().len();
        let objective = objective.map_or_else(String::new, |value| format!(", objective {value:.3}"));
        format!("epoch {}, {rules} rules{objective}, {judged} tables judged, {what}", epoch + 1)
    }

    fn tell(&self, what: &str) -> Result<(), Error> {
        self.job.watch.tell(&News { text: &self.line(what), result: None })
    }

    /// What each of `tables` is worth: the weighted mean of its utilities.
    fn judge(
        &mut self,
        tables: &[Arc<Table>],
        networks: &[(Network, f64)],
        trial: &Trial<'static>,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>, Error> {
        self.state.judged = self.state.judged.saturating_add(tables.len() as u64);
        let count = tables.len() * networks.len();
        let utilities = spread(self.job.jobs, count, watch, |number, wanted| {
            let (table, network) = (&tables[number / networks.len()], number % networks.len());
            let trial = Trial { seed: trial.seed.wrapping_add(network as u64), ..*trial };
            Ok(networks[network].0.judge(table, &trial, wanted)?.utility)
        })?;
        let total: f64 = networks.iter().map(|(_, weight)| weight).sum();
        Ok(utilities
            .chunks(networks.len())
            .map(|of| {
                of.iter().zip(networks).map(|(utility, (_, weight))| utility * weight).sum::<f64>() / total
            })
            .collect())
    }

    /// Which rules are used in this epoch's trials, each network alike.
    fn usage(&self, networks: &[(Network, f64)], seed: u64, watch: &dyn Watch) -> Result<Usage, Error> {
        let (table, rules) = (&self.table, self.table.rules().len());
        let trial = self.trial(seed, 1.0);
        let found = spread(self.job.jobs, networks.len(), watch, |network, wanted| {
            let usage = Arc::new(Mutex::new(Usage::new(rules)));
            let trial = Trial { seed: seed.wrapping_add(network as u64), usage: Some(&usage), ..trial };
            networks[network].0.judge(table, &trial, wanted)?;
            Ok(usage.lock().unwrap_or_else(PoisonError::into_inner).clone())
        })?;
        let mut all = Usage::new(rules);
        for usage in &found {
            all.merge(usage);
        }
        Ok(all)
    }

    /// Goes from one action of a rule to the best near it, as long as that is better.
    fn improve(
        &mut self,
        rule: usize,
        networks: &[(Network, f64)],
        seed: u64,
        rng: &mut Rng,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let (trial, short_trial) = (self.trial(seed, 1.0), self.trial(seed, SHORTER));
        for _ in 0..STEPS {
            let actions = around(&self.table.rules()[rule].action, rng);
            let mut tables: Vec<Arc<Table>> =
                actions.iter().map(|action| Arc::new(self.table.with_action(rule, *action))).collect();
            let short = self.judge(&tables, networks, &short_trial, watch)?;
            let mut order: Vec<usize> = (0..tables.len()).collect();
            order.sort_by(|one, other| short[*other].total_cmp(&short[*one]));
            tables = order.iter().take(COME_THROUGH).map(|number| Arc::clone(&tables[*number])).collect();
            let worth = self.judge(&tables, networks, &trial, watch)?;
            let best = (0..worth.len()).max_by(|one, other| worth[*one].total_cmp(&worth[*other]));
            match best.filter(|best| worth[*best] > self.best + LEAST_GAIN) {
                Some(best) => (self.table, self.best) = (Arc::clone(&tables[best]), worth[best]),
                None => break,
            }
        }
        Ok(())
    }

    /// Goes back to `before` if it is better in longer trials of other networks.
    fn ratchet(&mut self, before: &Arc<Table>, rng: &mut Rng) -> Result<(), Error> {
        if self.table.rules() == before.rules() {
            return Ok(());
        }
        self.tell("longer trials")?;
        let (networks, seed) = (self.state.settings.draw(rng), rng.next_u64());
        let both = [Arc::clone(before), Arc::clone(&self.table)];
        let worth = self.judge(&both, &networks, &self.trial(seed, LONGER), self.job.watch)?;
        if worth[0] > worth[1] {
            self.table = Arc::clone(before);
        }
        self.state.objective = Some(f64::max(worth[0], worth[1]));
        Ok(())
    }

    /// Divides the rule that is used most at the medians of what it is used for.
    fn split(&mut self, usage: &Usage) -> Result<(), Error> {
        let rules = self.table.rules();
        let Some(most) = (0..rules.len()).max_by_key(|rule| usage.lookups(*rule)) else { return Ok(()) };
        let Some(medians) = usage.medians(most) else { return Ok(()) };
        let parts = divided(&rules[most], &medians);
        if rules.len() + parts.len() > self.state.settings.rules + 1 {
            return Ok(());
        }
        let mut rules = rules.to_vec();
        rules.splice(most..=most, parts);
        self.table = Arc::new(Table::new(rules)?);
        Ok(())
    }
}

/// The parts of a rule, divided at `at` on every axis on which that is within it.
fn divided(rule: &Rule, at: &Signals) -> Vec<Rule> {
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

//! The iterations of a training.

use super::adam::Adam;
use super::environment::{Outcome, all};
use super::file::{self, Training};
use super::lstm::{Episode, Model, Shape};
use super::scheme::Scheme;
use super::settings::Settings;
use crate::Error;
use crate::{Job, News, spread};
use congestion::{Start, policy};
use std::sync::Arc;
use strict_input::Refusal;
use units::{Rng, Time};

/// Episodes whose gradients make one step.
const BATCH: usize = 10;
/// Up to which part of the iterations which rate holds.
const RATES: [(f64, f32); 3] = [(0.3, 0.005), (0.7, 0.002), (1.0, 0.0005)];
/// What the expert showed is learned from as many times more often, before anything acts by it.
const FIRST: usize = 4;

/// Trains `scheme`.
pub(super) fn train(scheme: &Scheme, job: &Job<'_>) -> Result<Vec<u8>, Error> {
    let settings = Settings::read(job.settings)?;
    let start = Start { now: Time::ZERO, mss_bytes: 1, initial_window_bytes: 1, seed: 1 };
    let (inputs, outputs) =
        policy(scheme.name, &start).map_or((0, 0), |policy| (policy.inputs(), policy.outputs()));
    let shape = Shape { inputs, units: settings.units, outputs };
    let training = Training { trainer: scheme.name.to_owned(), seed: job.seed, settings, iteration: 0 };
    let (model, training) = match job.start {
        None => (Model::random(shape, &mut Rng::new(job.seed, "network")), training),
        Some(start) => resumed(start, training, inputs, outputs)?,
    };
    let adam = Adam::new(model.parameters.len());
    let begun_at = training.iteration;
    let mut dagger = Dagger {
        scheme,
        job,
        model: Arc::new(model),
        training,
        adam,
        kept: Vec::new(),
        begun_at,
        line: String::new(),
    };
    while dagger.training.iteration < dagger.training.settings.iterations && !job.is_over() {
        dagger.iteration()?;
    }
    file::write(&dagger.model, &dagger.training)
}

/// What an earlier training learned with the same settings. Its episodes are not in the file: some are made anew.
fn resumed(
    start: &[u8],
    wanted: Training,
    inputs: usize,
    outputs: usize,
) -> Result<(Model, Training), Error> {
    let (model, found) = file::read(start, inputs, outputs)?;
    let same = Settings { iterations: wanted.settings.iterations, ..found.settings.clone() };
    if (found.trainer.as_str(), found.seed, &same) != (wanted.trainer.as_str(), wanted.seed, &wanted.settings)
    {
        return Err(
            Refusal::new("it was trained with another seed or other settings: they are in the file").into()
        );
    }
    Ok((model, Training { iteration: found.iteration, ..wanted }))
}

struct Dagger<'a> {
    scheme: &'a Scheme,
    job: &'a Job<'a>,
    model: Arc<Model>,
    training: Training,
    adam: Adam,
    /// All episodes.
    kept: Vec<Episode>,
    begun_at: usize,
    line: String,
}

impl Dagger<'_> {
    /// Episodes of the expert at first and of what was learned later, then lessons from all there are.
    fn iteration(&mut self) -> Result<(), Error> {
        let number = self.training.iteration;
        let is_first = self.kept.is_empty();
        let mut rng = Rng::new(self.job.seed, &format!("{} {number}", self.scheme.name));
        if is_first {
            let shown = self.episodes(None, &mut rng)?;
            self.keep(shown);
        }
        if !is_first || number > 0 {
            let learner = Arc::clone(&self.model);
            let tried = self.episodes(Some(&learner), &mut rng)?;
            self.describe(&tried);
            self.keep(tried);
        }
        let epochs = if is_first { FIRST } else { 1 } * self.training.settings.epochs;
        self.lessons(epochs, &mut rng)?;
        self.training.iteration += 1;
        let written = file::write(&self.model, &self.training)?;
        self.job.watch.tell(&News { text: &self.line, result: Some(&written) })
    }

    fn episodes(&self, learned: Option<&Arc<Model>>, rng: &mut Rng) -> Result<Vec<Outcome>, Error> {
        let settings = &self.training.settings;
        let environments = all(settings, rng);
        let seed = rng.next_u64();
        spread(self.job.jobs, environments.len(), self.job.watch, |number, wanted| {
            environments[number].episode(
                self.scheme,
                settings,
                learned,
                seed.wrapping_add(number as u64) >> 1,
                wanted,
            )
        })
    }

    fn keep(&mut self, outcomes: Vec<Outcome>) {
        self.kept.extend(
            outcomes.into_iter().map(|outcome| outcome.episode).filter(|episode| !episode.labels.is_empty()),
        );
    }

    fn lessons(&mut self, epochs: usize, rng: &mut Rng) -> Result<(), Error> {
        let settings = &self.training.settings;
        let mut order = Vec::with_capacity(epochs * self.kept.len());
        while order.len() < (epochs * self.kept.len()).min(settings.lessons) {
            let mut epoch: Vec<usize> = (0..self.kept.len()).collect();
            for last in (1..epoch.len()).rev() {
                epoch.swap(last, rng.below(last as u64 + 1) as usize);
            }
            order.append(&mut epoch);
        }
        order.truncate(settings.lessons);
        let part = self.training.iteration as f64 / settings.iterations as f64;
        let rate = RATES.iter().find(|(until, _)| part < *until).map_or(RATES[2].1, |(_, rate)| *rate);
        let mut model = Model::clone(&self.model);
        for batch in order.chunks(BATCH) {
            let found = spread(self.job.jobs, batch.len(), self.job.watch, |number, _| {
                Ok(model.learn(&self.kept[batch[number]]))
            })?;
            let steps: usize = batch.iter().map(|episode| self.kept[*episode].labels.len()).sum();
            let mut gradient = vec![0.0; model.parameters.len()];
            for lesson in &found {
                for (sum, slope) in gradient.iter_mut().zip(&lesson.gradient) {
                    *sum += slope / steps as f32;
                }
            }
            self.adam.step(rate, &mut gradient, &mut model.parameters);
        }
        self.model = Arc::new(model);
        Ok(())
    }

    /// How what was learned did, and how long the rest may take.
    fn describe(&mut self, tried: &[Outcome]) {
        let steps: usize = tried.iter().map(|outcome| outcome.episode.labels.len()).sum();
        let agreed: usize = tried.iter().map(|outcome| outcome.agreed).sum();
        let utility = tried.iter().map(|outcome| outcome.utility).sum::<f64>() / tried.len() as f64;
        let (number, all) = (self.training.iteration, self.training.settings.iterations);
        let each = self.job.watch.elapsed_s() / (number - self.begun_at).max(1) as f64;
        let left = (each * (all - number) as f64).min(self.job.seconds);
        self.line = format!(
            "iteration {} of {all}, {:.1} % as the expert, utility {utility:.3}, about {left:.0} s left",
            number + 1,
            100.0 * agreed as f64 / steps.max(1) as f64,
        );
    }
}

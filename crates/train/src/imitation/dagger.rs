//! Iterations of a training.

use super::adam::Adam;
use super::environment::{Outcome, all_environments};
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
/// Learning rates, each with the fraction of the iterations at which it ends.
const RATES: [(f64, f32); 3] = [(0.3, 0.005), (0.7, 0.002), (1.0, 0.0005)];
/// Factor of the epochs in the first iteration, which learns only from the expert before the network acts.
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
        Some(start) => resume(start, training, inputs, outputs)?,
    };
    let adam = Adam::new(model.parameters.len());
    let start_iteration = training.iteration;
    let mut dagger = Dagger {
        scheme,
        job,
        model: Arc::new(model),
        training,
        adam,
        episodes: Vec::new(),
        start_iteration,
        line: String::new(),
    };
    while dagger.training.iteration < dagger.training.settings.iterations && !job.is_over() {
        dagger.iteration()?;
    }
    file::write(&dagger.model, &dagger.training)
}

/// Returns the state of an earlier training with these settings. The file lacks its episodes, thus some are made
/// anew.
fn resume(
    start: &[u8],
    request: Training,
    inputs: usize,
    outputs: usize,
) -> Result<(Model, Training), Error> {
    let (model, saved) = file::read(start, inputs, outputs)?;
    let same = Settings { iterations: request.settings.iterations, ..saved.settings.clone() };
    if (saved.trainer.as_str(), saved.seed, &same)
        != (request.trainer.as_str(), request.seed, &request.settings)
    {
        return Err(
            Refusal::new("it was trained with another seed or other settings: they are in the file").into()
        );
    }
    Ok((model, Training { iteration: saved.iteration, ..request }))
}

struct Dagger<'a> {
    scheme: &'a Scheme,
    job: &'a Job<'a>,
    model: Arc<Model>,
    training: Training,
    adam: Adam,
    /// All episodes so far.
    episodes: Vec<Episode>,
    start_iteration: usize,
    line: String,
}

impl Dagger<'_> {
    /// Runs one iteration: episodes of the expert at first, later of the network, then lessons from all episodes.
    fn iteration(&mut self) -> Result<(), Error> {
        let number = self.training.iteration;
        let is_first = self.episodes.is_empty();
        let mut rng = Rng::new(self.job.seed, &format!("{} {number}", self.scheme.name));
        if is_first {
            let outcomes = self.episodes(None, &mut rng)?;
            self.keep(outcomes);
        }
        if !is_first || number > 0 {
            let learner = Arc::clone(&self.model);
            let outcomes = self.episodes(Some(&learner), &mut rng)?;
            self.describe(&outcomes);
            self.keep(outcomes);
        }
        let epochs = if is_first { FIRST } else { 1 } * self.training.settings.epochs;
        self.lessons(epochs, &mut rng)?;
        self.training.iteration += 1;
        let file_bytes = file::write(&self.model, &self.training)?;
        self.job.watch.tell(&News { text: &self.line, result: Some(&file_bytes) })
    }

    fn episodes(&self, model: Option<&Arc<Model>>, rng: &mut Rng) -> Result<Vec<Outcome>, Error> {
        let settings = &self.training.settings;
        let environments = all_environments(settings, rng);
        let seed = rng.next_u64();
        spread(self.job.jobs, environments.len(), self.job.watch, |number, stop_signal| {
            environments[number].episode(
                self.scheme,
                settings,
                model,
                seed.wrapping_add(number as u64) >> 1,
                stop_signal,
            )
        })
    }

    fn keep(&mut self, outcomes: Vec<Outcome>) {
        self.episodes.extend(
            outcomes.into_iter().map(|outcome| outcome.episode).filter(|episode| !episode.labels.is_empty()),
        );
    }

    fn lessons(&mut self, epochs: usize, rng: &mut Rng) -> Result<(), Error> {
        let settings = &self.training.settings;
        let mut order = Vec::with_capacity(epochs * self.episodes.len());
        while order.len() < (epochs * self.episodes.len()).min(settings.lessons) {
            let mut epoch: Vec<usize> = (0..self.episodes.len()).collect();
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
            let lessons = spread(self.job.jobs, batch.len(), self.job.watch, |number, _| {
                Ok(model.learn(&self.episodes[batch[number]]))
            })?;
            let steps: usize = batch.iter().map(|episode| self.episodes[*episode].labels.len()).sum();
            let mut gradient = vec![0.0; model.parameters.len()];
            for lesson in &lessons {
                for (sum, slope) in gradient.iter_mut().zip(&lesson.gradient) {
                    *sum += slope / steps as f32;
                }
            }
            self.adam.step(rate, &mut gradient, &mut model.parameters);
        }
        self.model = Arc::new(model);
        Ok(())
    }

    /// Sets the progress line: results of the network, and the estimated remaining time.
    fn describe(&mut self, outcomes: &[Outcome]) {
        let steps: usize = outcomes.iter().map(|outcome| outcome.episode.labels.len()).sum();
        let agreed: usize = outcomes.iter().map(|outcome| outcome.agreed).sum();
        let utility = outcomes.iter().map(|outcome| outcome.utility).sum::<f64>() / outcomes.len() as f64;
        let (number, all) = (self.training.iteration, self.training.settings.iterations);
        let seconds_per_iteration =
            self.job.watch.elapsed_s() / (number - self.start_iteration).max(1) as f64;
        let left = (seconds_per_iteration * (all - number) as f64).min(self.job.seconds);
        self.line = format!(
            "iteration {} of {all}, {:.1} % as the expert, utility {utility:.3}, about {left:.0} s left",
            number + 1,
            100.0 * agreed as f64 / steps.max(1) as f64,
        );
    }
}

//! Trained network: an LSTM layer and a dense layer, as `congestion` evaluates `lstm:1 dense`.

use super::math::{BLOCK, accumulate, accumulate_outer, sigmoid, tanh, transpose};
use units::Rng;

/// Widths of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) inputs: usize,
    /// Units of the LSTM layer, a multiple of `BLOCK`.
    pub(super) units: usize,
    pub(super) outputs: usize,
}

impl Shape {
    /// Returns the name and shape of each tensor, in order.
    pub(super) fn tensors(self) -> [(&'static str, Vec<usize>); 4] {
        let Self { inputs, units, outputs } = self;
        [
            ("0.kernel", vec![inputs + units, 4 * units]),
            ("0.bias", vec![4 * units]),
            ("1.kernel", vec![units, outputs]),
            ("1.bias", vec![outputs]),
        ]
    }

    fn sizes(self) -> [usize; 4] {
        self.tensors().map(|(_, shape)| shape.iter().product())
    }

    pub(super) fn parameters(self) -> usize {
        self.sizes().iter().sum()
    }

    /// Returns the four tensors of all parameters.
    fn split(self, parameters: &[f32]) -> [&[f32]; 4] {
        let mut rest = parameters;
        self.sizes().map(|size| {
            let (part, after) = rest.split_at(size);
            rest = after;
            part
        })
    }
}

/// Network with its parameters, one tensor after the other.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) shape: Shape,
    pub(super) parameters: Vec<f32>,
}

/// State of a network between steps.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// Input, then the previous output.
    joined: Vec<f32>,
    cell: Vec<f32>,
    gates: Vec<f32>,
    logits: Vec<f32>,
}

/// Values of every step that back-propagation needs.
struct Trace {
    /// Inputs with previous outputs; activated gates; cells before each step, and the final cells; their tanh;
    /// outputs.
    joined: Vec<f32>,
    gates: Vec<f32>,
    cells: Vec<f32>,
    squashed: Vec<f32>,
    outputs: Vec<f32>,
}

/// Gradient and results of an episode.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    /// Sum of the gradients over the steps.
    pub(super) gradient: Vec<f32>,
    pub(super) loss: f64,
    pub(super) right: usize,
}

/// Steps with the expert's actions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Episode {
    /// Observations, one step after the other.
    pub(super) observations: Vec<f32>,
    pub(super) labels: Vec<u8>,
}

impl Model {
    /// Returns an untrained network.
    pub(super) fn random(shape: Shape, rng: &mut Rng) -> Self {
        let mut parameters = Vec::with_capacity(shape.parameters());
        for (_, sizes) in shape.tensors() {
            let count: usize = sizes.iter().product();
            let bound = match sizes[..] {
                [rows, columns] => libm::sqrt(6.0 / (rows + columns) as f64),
                _ => 0.0,
            };
            parameters.extend((0..count).map(|_| ((2.0 * rng.uniform() - 1.0) * bound) as f32));
        }
        Self { shape, parameters }
    }

    pub(super) fn memory(&self) -> Memory {
        let Shape { inputs, units, outputs } = self.shape;
        Memory {
            joined: vec![0.0; inputs + units],
            cell: vec![0.0; units],
            gates: vec![0.0; 4 * units],
            logits: vec![0.0; outputs],
        }
    }

    /// Returns the network's scores for `input`: one number per action.
    pub(super) fn step<'a>(&self, input: &[f32], memory: &'a mut Memory) -> &'a [f32] {
        let [kernel, bias, kernel_out, bias_out] = self.shape.split(&self.parameters);
        let units = self.shape.units;
        memory.joined[..input.len()].copy_from_slice(input);
        memory.gates.copy_from_slice(bias);
        accumulate(&memory.joined, kernel, &mut memory.gates);
        activate(&mut memory.gates, units);
        let hidden = &mut memory.joined[input.len()..];
        for (unit, (hidden, cell)) in hidden.iter_mut().zip(&mut memory.cell).enumerate() {
            let [admit, candidate, forget, emit] = [0, 1, 2, 3].map(|gate| memory.gates[gate * units + unit]);
            *cell = *cell * forget + admit * candidate;
            *hidden = tanh(*cell) * emit;
        }
        dense(hidden, kernel_out, bias_out, &mut memory.logits);
        &memory.logits
    }

    /// Returns the gradient of the sum of cross entropies over an episode, by back-propagation through time.
    pub(super) fn learn(&self, episode: &Episode) -> Lesson {
        let Shape { inputs, units, outputs } = self.shape;
        let [kernel, _, kernel_out, bias_out] = self.shape.split(&self.parameters);
        let steps = episode.labels.len();
        let trace = self.forward(episode);
        let mut lesson = Lesson { gradient: vec![0.0; self.parameters.len()], loss: 0.0, right: 0 };
        let [size, size_bias, size_out, _] = self.shape.sizes();
        let (gradient, rest) = lesson.gradient.split_at_mut(size);
        let (gradient_bias, rest) = rest.split_at_mut(size_bias);
        let (gradient_out, gradient_bias_out) = rest.split_at_mut(size_out);
        let back = transpose(&kernel[inputs * 4 * units..], 4 * units);
        let mut slopes = vec![0.0; steps * 4 * units];
        let (mut hidden_slope, mut cell_slope) = (vec![0.0; units], vec![0.0; units]);
        let mut scores = vec![0.0; outputs];
        for step in (0..steps).rev() {
            let hidden = &trace.outputs[step * units..][..units];
            dense(hidden, kernel_out, bias_out, &mut scores);
            let label = usize::from(episode.labels[step]);
            let (loss, is_right) = soften(&mut scores, label);
            lesson.loss += loss;
            lesson.right += usize::from(is_right);
            for (unit, row) in kernel_out.chunks_exact(outputs).enumerate() {
                for (output, slope) in scores.iter().enumerate() {
                    gradient_out[unit * outputs + output] += hidden[unit] * slope;
                    hidden_slope[unit] += row[output] * slope;
                }
            }
            for (sum, slope) in gradient_bias_out.iter_mut().zip(&scores) {
                *sum += slope;
            }
            let slopes = &mut slopes[step * 4 * units..][..4 * units];
            trace.back(step, units, &hidden_slope, &mut cell_slope, slopes);
            for (sum, slope) in gradient_bias.iter_mut().zip(slopes.iter()) {
                *sum += slope;
            }
            hidden_slope.fill(0.0);
            accumulate(slopes, &back, &mut hidden_slope);
        }
        accumulate_outer(&trace.joined, inputs + units, &slopes, 4 * units, gradient);
        lesson
    }

    fn forward(&self, episode: &Episode) -> Trace {
        let Shape { inputs, units, .. } = self.shape;
        let [kernel, bias, ..] = self.shape.split(&self.parameters);
        let (steps, width) = (episode.labels.len(), inputs + units);
        let mut trace = Trace {
            joined: vec![0.0; steps * width],
            gates: vec![0.0; steps * 4 * units],
            cells: vec![0.0; (steps + 1) * units],
            squashed: vec![0.0; steps * units],
            outputs: vec![0.0; steps * units],
        };
        for step in 0..steps {
            let joined = &mut trace.joined[step * width..][..width];
            joined[..inputs].copy_from_slice(&episode.observations[step * inputs..][..inputs]);
            if step > 0 {
                joined[inputs..].copy_from_slice(&trace.outputs[(step - 1) * units..][..units]);
            }
            let gates = &mut trace.gates[step * 4 * units..][..4 * units];
            gates.copy_from_slice(bias);
            accumulate(joined, kernel, gates);
            activate(gates, units);
            let (before, cells) = trace.cells[step * units..][..2 * units].split_at_mut(units);
            let squashed = &mut trace.squashed[step * units..][..units];
            let outputs = &mut trace.outputs[step * units..][..units];
            for unit in 0..units {
                cells[unit] = before[unit] * gates[2 * units + unit] + gates[unit] * gates[units + unit];
                squashed[unit] = tanh(cells[unit]);
                outputs[unit] = squashed[unit] * gates[3 * units + unit];
            }
        }
        trace
    }
}

impl Trace {
    /// Computes the slopes of the gates before their activation. Replaces `cell_slope` by the slope of the cells
    /// before the step.
    fn back(
        &self,
        step: usize,
        units: usize,
        hidden_slope: &[f32],
        cell_slope: &mut [f32],
        slopes: &mut [f32],
    ) {
        let gates = &self.gates[step * 4 * units..][..4 * units];
        let (before, squashed) =
            (&self.cells[step * units..][..units], &self.squashed[step * units..][..units]);
        for unit in 0..units {
            let [admit, candidate, forget, emit] = [0, 1, 2, 3].map(|gate| gates[gate * units + unit]);
            let (out, squash) = (hidden_slope[unit], squashed[unit]);
            let cell = cell_slope[unit] + out * emit * (1.0 - squash * squash);
            slopes[unit] = cell * candidate * admit * (1.0 - admit);
            slopes[units + unit] = cell * admit * (1.0 - candidate * candidate);
            slopes[2 * units + unit] = cell * before[unit] * forget * (1.0 - forget);
            slopes[3 * units + unit] = out * squash * emit * (1.0 - emit);
            cell_slope[unit] = cell * forget;
        }
    }
}

#[inline]
fn change(values: &mut [f32], function: impl Fn(f32) -> f32) {
    for value in values {
        *value = function(*value);
    }
}

/// Applies the activation functions of the gates in place.
fn activate(gates: &mut [f32], units: usize) {
    debug_assert!(units.is_multiple_of(BLOCK), "whole blocks");
    let (admit, rest) = gates.split_at_mut(units);
    let (candidate, rest) = rest.split_at_mut(units);
    let (forget, emit) = rest.split_at_mut(units);
    change(admit, sigmoid);
    change(candidate, tanh);
    change(forget, |value| sigmoid(value + 1.0));
    change(emit, sigmoid);
}

fn dense(input: &[f32], kernel: &[f32], bias: &[f32], output: &mut [f32]) {
    output.copy_from_slice(bias);
    for (value, row) in input.iter().zip(kernel.chunks_exact(output.len())) {
        for (sum, weight) in output.iter_mut().zip(row) {
            *sum += value * weight;
        }
    }
}

/// Replaces scores by the slopes of the cross entropy. Returns the cross entropy, and true if the label had the best
/// score.
fn soften(scores: &mut [f32], label: usize) -> (f64, bool) {
    let is_right = largest(scores) == label;
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = libm::expf(*score - most);
        sum += *score;
    }
    change(scores, |score| score / sum);
    let loss = -libm::log(f64::from(scores[label]).max(1e-30));
    scores[label] -= 1.0;
    (loss, is_right)
}

/// Returns the index of the largest of `values`; the first of equal values.
pub(super) fn largest(values: &[f32]) -> usize {
    (1..values.len()).fold(0, |best, index| if values[index] > values[best] { index } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { inputs: 3, units: 32, outputs: 5 };

    fn episode(steps: usize, rng: &mut Rng) -> Episode {
        Episode {
            observations: (0..SHAPE.inputs * steps).map(|_| (4.0 * rng.uniform() - 2.0) as f32).collect(),
            labels: (0..steps).map(|_| rng.below(5) as u8).collect(),
        }
    }

    /// Returns the sum of cross entropies, step by step.
    fn loss(model: &Model, episode: &Episode) -> f64 {
        let mut memory = model.memory();
        let steps = episode.observations.chunks(SHAPE.inputs).zip(&episode.labels);
        let loss = |(observations, label): (&[f32], &u8)| {
            let mut scores = model.step(observations, &mut memory).to_vec();
            soften(&mut scores, usize::from(*label)).0
        };
        steps.map(loss).sum()
    }

    #[test]
    fn gradients_are_differences() {
        let mut rng = Rng::new(1, "gradients");
        let (model, episode) = (Model::random(SHAPE, &mut rng), episode(12, &mut rng));
        let lesson = model.learn(&episode);
        assert!((lesson.loss - loss(&model, &episode)).abs() < 1e-4);
        let length =
            lesson.gradient.iter().map(|slope| f64::from(*slope) * f64::from(*slope)).sum::<f64>().sqrt();
        for number in (0..SHAPE.parameters()).step_by(97).chain(SHAPE.parameters() - 5..SHAPE.parameters()) {
            let moved = |by: f32| {
                let mut model = model.clone();
                model.parameters[number] += by;
                loss(&model, &episode)
            };
            let difference = (moved(0.01) - moved(-0.01)) / 0.02;
            let slope = f64::from(lesson.gradient[number]);
            assert!((difference - slope).abs() < 2e-3 * length, "{number}: {difference} {slope} of {length}");
        }
    }
}

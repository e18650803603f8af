//! Recurrent layers.

use super::sums::{accumulate, accumulate_columns, sigmoid};
use std::sync::Arc;

/// Long short-term memory cell.
#[derive(Clone, Debug)]
pub(super) struct Lstm {
    kernel: Arc<[f32]>,
    bias: Arc<[f32]>,
    forget_bias: f32,
    /// Input followed by the last output, in the order of the rows of `kernel`.
    joined: Vec<f32>,
    cell: Vec<f32>,
    gates: Vec<f32>,
}

impl Lstm {
    /// Returns a cell. `kernel` has a row for each input and each unit, `bias` four entries for each unit.
    pub(super) fn new(kernel: Arc<[f32]>, bias: Arc<[f32]>, forget_bias: f32) -> Self {
        let units = bias.len() / 4;
        let rows = kernel.len() / bias.len().max(1);
        Self {
            joined: vec![0.0; rows],
            cell: vec![0.0; units],
            gates: vec![0.0; 4 * units],
            kernel,
            bias,
            forget_bias,
        }
    }

    pub(super) const fn units(&self) -> usize {
        self.cell.len()
    }

    pub(super) fn apply(&mut self, input: &[f32], output: &mut [f32]) {
        self.joined[..input.len()].copy_from_slice(input);
        self.gates.copy_from_slice(&self.bias);
        accumulate(&self.joined, &self.kernel, &mut self.gates);
        let units = self.cell.len();
        for (unit, (cell, output)) in self.cell.iter_mut().zip(output.iter_mut()).enumerate() {
            let [admit, candidate, forget, emit] = [0, 1, 2, 3].map(|gate| self.gates[gate * units + unit]);
            *cell = *cell * sigmoid(forget + self.forget_bias) + sigmoid(admit) * libm::tanhf(candidate);
            *output = libm::tanhf(*cell) * sigmoid(emit);
        }
        self.joined[input.len()..].copy_from_slice(output);
    }
}

/// Gated recurrent unit whose reset gate acts before the product.
#[derive(Clone, Debug)]
pub(super) struct Gru {
    input: Arc<[f32]>,
    /// Weights of the last output: columns of the update and reset gates, then the columns of the candidate.
    hidden: Arc<[f32]>,
    bias: Arc<[f32]>,
    last: Vec<f32>,
    gates: Vec<f32>,
    reset: Vec<f32>,
}

impl Gru {
    /// Returns a cell. `hidden` has a row for each unit, `bias` three entries for each unit.
    pub(super) fn new(input: Arc<[f32]>, hidden: Arc<[f32]>, bias: Arc<[f32]>) -> Self {
        let units = bias.len() / 3;
        Self {
            input,
            hidden,
            last: vec![0.0; units],
            gates: vec![0.0; 3 * units],
            reset: vec![0.0; units],
            bias,
        }
    }

    pub(super) const fn units(&self) -> usize {
        self.last.len()
    }

    pub(super) fn apply(&mut self, input: &[f32], output: &mut [f32]) {
        let units = self.last.len();
        self.gates.copy_from_slice(&self.bias);
        accumulate(input, &self.input, &mut self.gates);
        let (gates, candidate) = self.gates.split_at_mut(2 * units);
        accumulate_columns(&self.last, &self.hidden, [3 * units, 0], gates);
        for ((reset, gate), last) in self.reset.iter_mut().zip(&gates[units..]).zip(&self.last) {
            *reset = sigmoid(*gate) * last;
        }
        accumulate_columns(&self.reset, &self.hidden, [3 * units, 2 * units], candidate);
        for (unit, last) in self.last.iter_mut().enumerate() {
            let update = sigmoid(gates[unit]);
            *last = (1.0 - update) * *last + update * libm::tanhf(candidate[unit]);
        }
        output.copy_from_slice(&self.last);
    }
}

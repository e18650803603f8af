//! Neural networks of learned controllers: a sequence of layers, evaluated step by step in 32-bit floats.
//!
//! A network is a line of words, one for each layer: `lstm:1 dense`. `LAYER:NUMBER` gives the layer its number. The
//! tensors of layer 0 are called `0.kernel`, `0.bias` and so on. Their shapes define the widths of the layers:
//!
//! | word | number | tensors (rows are inputs) |
//! |---|---|---|
//! | `dense` | | `kernel` [inputs, outputs], `bias` [outputs] |
//! | `lstm` | forget bias | `kernel` [inputs + units, 4 units], gates in the order input, candidate, forget, output; `bias` [4 units] |
//! | `gru` | | `input` [inputs, 3 units], `hidden` [units, 3 units], `bias` [3 units], gates in the order update, reset, candidate |
//! | `batch_norm` | epsilon | `mean`, `variance`, `beta` |
//! | `layer_norm` | epsilon | `gain`, `offset` |
//! | `normalise` | | `center`, `scale`: (value - `center`) `scale` |
//! | `clip` | maximum magnitude | |
//! | `tanh`, `relu`, `sigmoid`, `softmax` | | |
//! | `leaky_relu` | slope | |
//! | `keep` | | stores the values and continues with them |
//! | `add`, `swap`, `dot` | | adds the last stored values, exchanges both, or sums their products |
//!
//! A residual block is `keep dense relu dense add`; experts and their gate are `keep dense swap dense softmax dot`.
//!
//! Results do not depend on the machine: sums are in a fixed order, `exp` and `tanh` come from `libm`. Nothing is
//! allocated per step. The cells are those of TensorFlow 1's `BasicLSTMCell` (tensorflow/tensorflow@v1.15.0,
//! `rnn_cell_impl.py`) and Sonnet 2's `GRU` (google-deepmind/sonnet@v2.0.2, sonnet/src/recurrent.py).

mod cell;
mod layer;
mod stack;
mod sums;
mod tensors;

use layer::Layer;
use stack::Stack;
use strict_input::Refusal;
pub(crate) use tensors::{Layout, Tensors};
#[cfg(test)]
pub(crate) use tensors::{packed, packed_with};

/// Maximum number of layers of a network; published ones have less than 50.
const MOST_LAYERS: usize = 1000;
/// Maximum number of values that are stored at the same time, if each place is as wide as the widest layer. Published
/// networks need a thousandth of it.
const MOST_ASIDE: usize = 1 << 20;

#[derive(Clone, Debug)]
enum Step {
    Layer(Layer),
    Stack(Stack),
}

/// Layers in the order of evaluation, with the memory of recurrent ones.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    steps: Vec<Step>,
    inputs: usize,
    /// Input and output of the present layer.
    values: Vec<f32>,
    next: Vec<f32>,
    /// Values stored by `keep`: for each place the number of values, and memory.
    aside: Vec<(usize, Vec<f32>)>,
}

impl Network {
    /// Reads the network in `tensors`, with `inputs` inputs and `outputs` outputs.
    ///
    /// # Errors
    /// One line that names the file and describes the fault.
    pub(crate) fn new(tensors: &Tensors, inputs: usize, outputs: usize) -> Result<Self, Refusal> {
        Self::of_layers(tensors, tensors.layers(), 0, inputs, outputs)
    }

    /// Reads the layers `words` of a larger network; their numbers begin with `first`.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub(crate) fn of_layers(
        tensors: &Tensors,
        words: &str,
        first: usize,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, Refusal> {
        let count = words.split_whitespace().count();
        if count > MOST_LAYERS {
            return Err(tensors.refuse(format!("{count} layers: allowed are {MOST_LAYERS}")));
        }
        let (mut steps, mut width, mut widest) = (Vec::new(), inputs, inputs);
        let (mut kept, mut deepest) = (Vec::new(), 0);
        for (index, word) in words.split_whitespace().enumerate() {
            if let Some(stack) = Stack::named(word) {
                let changed = stack.width(width, &mut kept);
                width = changed.map_err(|refusal| tensors.place(refusal.at(format!("layer `{word}`"))))?;
                deepest = deepest.max(kept.len());
                steps.push(Step::Stack(stack));
                continue;
            }
            let layer = Layer::read(tensors, word, first + index, width)?;
            width = layer.outputs().unwrap_or(width);
            widest = widest.max(width);
            steps.push(Step::Layer(layer));
        }
        if width != outputs {
            return Err(tensors.refuse(format!("{width} outputs: allowed are {outputs}")));
        }
        if deepest.saturating_mul(widest) > MOST_ASIDE {
            return Err(tensors.refuse(format!(
                "its layers keep up to {deepest} times {widest} values: allowed are {MOST_ASIDE} in all"
            )));
        }
        let values = vec![0.0; widest];
        let aside = vec![(0, values.clone()); deepest];
        Ok(Self { steps, inputs, next: values.clone(), values, aside })
    }

    /// Returns the network's output for `input`; recurrent layers remember `input`.
    pub(crate) fn step(&mut self, input: &[f32]) -> &[f32] {
        debug_assert_eq!(input.len(), self.inputs, "as many values as the network has inputs");
        let (mut width, mut depth) = (input.len(), 0);
        self.values[..width].copy_from_slice(input);
        for step in &mut self.steps {
            let layer = match step {
                Step::Layer(layer) => layer,
                Step::Stack(stack) => {
                    width = stack.change(&mut self.values, width, &mut self.aside, &mut depth);
                    continue;
                }
            };
            match layer.outputs() {
                None => layer.change(&mut self.values[..width]),
                Some(outputs) => {
                    layer.apply(&self.values[..width], &mut self.next[..outputs]);
                    core::mem::swap(&mut self.values, &mut self.next);
                    width = outputs;
                }
            }
        }
        &self.values[..width]
    }
}

/// Returns the index of the maximum of `values`, the first one of equal values.
pub(crate) fn largest(values: &[f32]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = index;
        }
    }
    best
}

/// Returns the lines of a file of test vectors: the expected output, then the inputs.
#[cfg(test)]
pub(crate) fn vectors(text: &str) -> impl Iterator<Item = (f64, Vec<f32>)> {
    text.lines().map(|line| {
        let (expected, inputs) = line.split_once(',').expect("a line of numbers");
        let inputs = inputs.split(',').map(|number| number.parse().expect("a number")).collect();
        (expected.parse().expect("a number"), inputs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(
        layers: &str,
        tensors: &[(&str, &[usize], &[f32])],
        ends: [usize; 2],
    ) -> Result<Network, Refusal> {
        let file = packed(layers, tensors);
        Network::new(&Tensors::read("weights", &file, &[])?, ends[0], ends[1])
    }

    #[test]
    fn dense_layers_and_activations_follow_each_other() {
        let tensors: [(&str, &[usize], &[f32]); 4] = [
            ("0.kernel", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            ("0.bias", &[3], &[0.5, -20.0, 0.0]),
            ("2.kernel", &[3, 1], &[1.0, 1.0, 0.5]),
            ("2.bias", &[1], &[0.25]),
        ];
        let mut network = network("dense leaky_relu:0.1 dense", &tensors, [2, 1]).unwrap();
        // [1, 2] -> [9.5, -8, 15] -> [9.5, -0.8, 15] -> 9.5 - 0.8 + 7.5 + 0.25
        assert_eq!(network.step(&[1.0, 2.0]), [16.45]);
        assert_eq!(network.step(&[1.0, 2.0]), [16.45], "nothing is remembered");
    }

    #[test]
    fn an_lstm_remembers() {
        // The cell has one unit and one input: i = j = f = o = x + h/2.
        let tensors: [(&str, &[usize], &[f32]); 2] =
            [("0.kernel", &[2, 4], &[1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5]), ("0.bias", &[4], &[0.0; 4])];
        let mut network = network("lstm:1", &tensors, [1, 1]).unwrap();
        let (mut cell, mut hidden) = (0.0_f64, 0.0_f64);
        for input in [0.3, -1.0, 2.0] {
            let z = input + hidden / 2.0;
            let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
            cell = cell * sigmoid(z + 1.0) + sigmoid(z) * libm::tanh(z);
            hidden = libm::tanh(cell) * sigmoid(z);
            let found = f64::from(network.step(&[input as f32])[0]);
            assert!((found - hidden).abs() < 1e-6, "{found} {hidden}");
        }
    }

    #[test]
    fn a_gru_remembers() {
        let tensors: [(&str, &[usize], &[f32]); 3] = [
            ("0.input", &[1, 3], &[1.0, -0.5, 2.0]),
            ("0.hidden", &[1, 3], &[0.5, 0.25, -1.0]),
            ("0.bias", &[3], &[0.1, 0.2, 0.3]),
        ];
        let mut network = network("gru", &tensors, [1, 1]).unwrap();
        let mut hidden = 0.0_f64;
        for input in [0.3, -1.0, 2.0] {
            let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
            let update = sigmoid(input + 0.5 * hidden + 0.1);
            let reset = sigmoid(-0.5 * input + 0.25 * hidden + 0.2);
            let candidate = (2.0 * input - reset * hidden + 0.3).tanh();
            hidden = (1.0 - update) * hidden + update * candidate;
            let found = f64::from(network.step(&[input as f32])[0]);
            assert!((found - hidden).abs() < 1e-6, "{found} {hidden}");
        }
    }

    #[test]
    fn normalisation_of_batches_and_layers() {
        let tensors: [(&str, &[usize], &[f32]); 5] = [
            ("0.mean", &[2], &[1.0, 2.0]),
            ("0.variance", &[2], &[3.0, 0.25]),
            ("0.beta", &[2], &[0.5, 0.0]),
            ("1.gain", &[2], &[2.0, 1.0]),
            ("1.offset", &[2], &[0.0, 10.0]),
        ];
        let mut network = network("batch_norm:1 layer_norm:0", &tensors, [2, 2]).unwrap();
        // [3, 2] -> [(3 - 1) / 2 + 0.5, 0] = [1.5, 0] -> mean 0.75, deviation 0.75 -> [1, -1]
        assert_eq!(network.step(&[3.0, 2.0]), [2.0, 9.0]);
    }

    #[test]
    fn values_are_put_aside_and_taken_up_again() {
        let eye: (&[usize], &[f32]) = (&[2, 2], &[2.0, 0.0, 0.0, -1.0]);
        let tensors: [(&str, &[usize], &[f32]); 4] = [
            ("0.center", &[2], &[1.0, 1.0]),
            ("0.scale", &[2], &[0.5, 4.0]),
            ("3.kernel", eye.0, eye.1),
            ("3.bias", &[2], &[0.0, 0.5]),
        ];
        // [3, 2] -> [1, 4] -> [1, 2] -> [1, 2] + [2, -1.5]
        let mut residual = network("normalise clip:2 keep dense add", &tensors, [2, 2]).unwrap();
        assert_eq!(residual.step(&[3.0, 2.0]), [3.0, 0.5]);
        assert_eq!(residual.step(&[3.0, 2.0]), [3.0, 0.5]);
        let gate: [(&str, &[usize], &[f32]); 4] = [
            ("1.kernel", &[2, 2], &[1.0, 0.0, 0.0, 1.0]),
            ("1.bias", &[2], &[1.0, 0.0]),
            ("3.kernel", &[2, 2], &[0.0; 4]),
            ("3.bias", &[2], &[0.0, 3.0_f32.ln()]),
        ];
        // Experts answer 4 and 7; the gate weighs them by 1/4 and 3/4.
        let mut mixture = network("keep dense swap dense softmax dot", &gate, [2, 1]).unwrap();
        assert!((mixture.step(&[3.0, 7.0])[0] - 6.25).abs() < 1e-5);
        let refusal = |layers: &str| network(layers, &gate, [2, 1]).unwrap_err().to_string();
        assert!(refusal("add").ends_with("layer `add`: nothing is kept"));
        assert!(refusal("keep dense swap dot dot").ends_with("layer `dot`: nothing is kept"));
    }

    #[test]
    fn places_that_a_few_words_ask_for_are_bounded() {
        // 120,000 words in a file of 620 kB would take 4 GB, if each had a place as wide as the widest layer.
        let none: [(&str, &[usize], &[f32]); 0] = [];
        let refusal = |layers: &str, width| network(layers, &none, [width, width]).unwrap_err().to_string();
        assert_eq!(
            refusal(&"keep ".repeat(120_000), 1),
            "`weights` = `w.safetensors`: 120000 layers: allowed are 1000"
        );
        assert_eq!(
            refusal(&"keep ".repeat(1000), 1049),
            "`weights` = `w.safetensors`: its layers keep up to 1000 times 1049 values: allowed are 1048576 in all"
        );
        let blocks = "keep tanh add ".repeat(333);
        assert_eq!(network(&blocks, &none, [1 << 20; 2]).unwrap().aside.len(), 1);
        assert_eq!(network(&"keep ".repeat(1000), &none, [1048; 2]).unwrap().aside.len(), 1000);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_one_line() {
        let dense: [(&str, &[usize], &[f32]); 2] =
            [("0.kernel", &[2, 1], &[1.0, 2.0]), ("0.bias", &[1], &[0.0])];
        let refusal = |layers: &str, tensors: &[(&str, &[usize], &[f32])], ends| {
            network(layers, tensors, ends).unwrap_err().to_string()
        };
        assert_eq!(refusal("dense", &dense, [2, 5]), "`weights` = `w.safetensors`: 1 outputs: allowed are 5");
        assert_eq!(
            refusal("dense", &dense, [3, 1]),
            "`weights` = `w.safetensors`: `0.kernel` has the shape [2, 1]: allowed is [3, any]"
        );
        assert_eq!(
            refusal("dense dense", &dense, [2, 1]),
            "`weights` = `w.safetensors`: there is no tensor `1.kernel`"
        );
        assert!(
            refusal("conv", &dense, [2, 1]).contains("unknown layer `conv`: allowed are dense, lstm, gru,")
        );
        assert!(refusal("leaky_relu:x", &dense, [1, 1]).contains("`leaky_relu:x`"));
        assert!(refusal("dense:1", &dense, [2, 1]).contains("takes no number"));
        let nan: [(&str, &[usize], &[f32]); 2] =
            [("0.kernel", &[2, 1], &[1.0, f32::NAN]), ("0.bias", &[1], &[0.0])];
        assert_eq!(
            refusal("dense", &nan, [2, 1]),
            "`weights` = `w.safetensors`: `0.kernel` holds NaN: allowed are finite numbers"
        );
    }

    #[test]
    fn the_first_of_equal_values_is_the_largest() {
        assert_eq!((largest(&[1.0, 3.0, 3.0]), largest(&[-1.0])), (1, 0));
    }
}

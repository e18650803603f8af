//! Layers of a network: reading from a word, and evaluation.

use super::Tensors;
use super::cell::{Gru, Lstm};
use super::stack;
use super::sums::{accumulate, sigmoid};
use std::sync::Arc;
use strict_input::Refusal;

/// Words of layers, for messages.
const WORDS: &str =
    "dense, lstm, gru, batch_norm, layer_norm, normalise, clip, tanh, relu, leaky_relu, sigmoid, softmax";

/// Dense layer: `outputs = inputs . kernel + bias`.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    /// Weights, with a row for each input.
    pub(super) kernel: Arc<[f32]>,
    pub(super) bias: Arc<[f32]>,
}

impl Dense {
    pub(super) fn apply(&self, input: &[f32], output: &mut [f32]) {
        output.copy_from_slice(&self.bias);
        accumulate(input, &self.kernel, output);
    }
}

#[derive(Clone, Debug)]
pub(super) enum Layer {
    Dense(Dense),
    Lstm(Lstm),
    Gru(Gru),
    /// Each value times `scale` plus `shift`.
    Affine {
        scale: Vec<f32>,
        shift: Vec<f32>,
    },
    Standardised {
        gain: Arc<[f32]>,
        offset: Arc<[f32]>,
        epsilon: f32,
    },
    /// Difference between each value and `center`, times `scale`.
    Normalised {
        center: Arc<[f32]>,
        scale: Arc<[f32]>,
    },
    Clip(f32),
    Tanh,
    Relu,
    LeakyRelu(f32),
    Sigmoid,
    Softmax,
}

impl Layer {
    /// Reads layer `number`, called `word`, which gets `inputs` values.
    pub(super) fn read(tensors: &Tensors, word: &str, number: usize, inputs: usize) -> Result<Self, Refusal> {
        let (kind, argument) = word.split_once(':').map_or((word, None), |(kind, text)| (kind, Some(text)));
        let named = |name: &str| format!("{number}.{name}");
        let take = |name: &str, shape: [usize; 2]| tensors.matrix(&named(name), shape);
        let take_vector = |name: &str, length: usize| tensors.vector(&named(name), length);
        let taken = match kind {
            "lstm" | "batch_norm" | "layer_norm" | "leaky_relu" | "clip" => {
                let number =
                    argument.and_then(|text| text.parse::<f32>().ok()).filter(|number| number.is_finite());
                number.ok_or_else(|| tensors.refuse(format!("layer `{word}`: allowed is {kind}:NUMBER")))?
            }
            _ if argument.is_some() => {
                return Err(tensors.refuse(format!("layer `{word}`: {kind} takes no number")));
            }
            _ => 0.0,
        };
        Ok(match kind {
            "dense" => {
                let outputs = tensors.columns(&named("kernel"), inputs)?;
                Self::Dense(Dense {
                    kernel: take("kernel", [inputs, outputs])?,
                    bias: take_vector("bias", outputs)?,
                })
            }
            "lstm" => {
                let units = tensors.length(&named("bias"))? / 4;
                let kernel = take("kernel", [inputs + units, 4 * units])?;
                Self::Lstm(Lstm::new(kernel, take_vector("bias", 4 * units)?, taken))
            }
            "gru" => {
                let units = tensors.length(&named("bias"))? / 3;
                let (input, hidden) =
                    (take("input", [inputs, 3 * units])?, take("hidden", [units, 3 * units])?);
                Self::Gru(Gru::new(input, hidden, take_vector("bias", 3 * units)?))
            }
            "batch_norm" => {
                let (mean, variance) = (take_vector("mean", inputs)?, take_vector("variance", inputs)?);
                let scale: Vec<f32> =
                    variance.iter().map(|variance| 1.0 / (variance + taken).sqrt()).collect();
                if !scale.iter().all(|scale| scale.is_finite()) {
                    return Err(tensors.refuse(format!("`{}`: a variance below zero", named("variance"))));
                }
                let beta = take_vector("beta", inputs)?;
                let shift =
                    beta.iter().zip(&*mean).zip(&scale).map(|((beta, mean), scale)| beta - mean * scale);
                Self::Affine { shift: shift.collect(), scale }
            }
            "layer_norm" => Self::Standardised {
                gain: take_vector("gain", inputs)?,
                offset: take_vector("offset", inputs)?,
                epsilon: taken,
            },
            "normalise" => Self::Normalised {
                center: take_vector("center", inputs)?,
                scale: take_vector("scale", inputs)?,
            },
            "clip" => Self::Clip(taken.abs()),
            "tanh" => Self::Tanh,
            "relu" => Self::Relu,
            "leaky_relu" => Self::LeakyRelu(taken),
            "sigmoid" => Self::Sigmoid,
            "softmax" => Self::Softmax,
            _ => {
                let all = format!("{WORDS}, {}", stack::WORDS);
                return Err(tensors.refuse(format!("unknown layer `{kind}`: allowed are {all}")));
            }
        })
    }

    /// Returns the number of outputs; `None` for layers that change values in place.
    pub(super) fn outputs(&self) -> Option<usize> {
        match self {
            Self::Dense(dense) => Some(dense.bias.len()),
            Self::Lstm(lstm) => Some(lstm.units()),
            Self::Gru(gru) => Some(gru.units()),
            _ => None,
        }
    }

    /// Computes `output` from `input`, for a layer that has outputs.
    pub(super) fn apply(&mut self, input: &[f32], output: &mut [f32]) {
        match self {
            Self::Dense(dense) => dense.apply(input, output),
            Self::Lstm(lstm) => lstm.apply(input, output),
            Self::Gru(gru) => gru.apply(input, output),
            _ => {}
        }
    }

    /// Changes `values` in place, for a layer that has no outputs of its own.
    pub(super) fn change(&self, values: &mut [f32]) {
        match self {
            Self::Affine { scale, shift } => {
                for ((value, scale), shift) in values.iter_mut().zip(scale).zip(shift) {
                    *value = *value * scale + shift;
                }
            }
            Self::Standardised { gain, offset, epsilon } => {
                let count = values.len() as f32;
                let mean = values.iter().sum::<f32>() / count;
                let variance =
                    values.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / count;
                let scale = 1.0 / (variance + epsilon).sqrt();
                for ((value, gain), offset) in values.iter_mut().zip(&**gain).zip(&**offset) {
                    *value = (*value - mean) * scale * gain + offset;
                }
            }
            Self::Normalised { center, scale } => {
                for ((value, center), scale) in values.iter_mut().zip(&**center).zip(&**scale) {
                    *value = (*value - center) * scale;
                }
            }
            Self::Clip(most) => values.iter_mut().for_each(|value| *value = value.clamp(-most, *most)),
            Self::Softmax => {
                let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let mut sum = 0.0;
                for value in values.iter_mut() {
                    *value = libm::expf(*value - largest);
                    sum += *value;
                }
                for value in values.iter_mut() {
                    *value /= sum;
                }
            }
            Self::Tanh => values.iter_mut().for_each(|value| *value = libm::tanhf(*value)),
            Self::Relu => values.iter_mut().for_each(|value| *value = value.max(0.0)),
            Self::LeakyRelu(slope) => {
                values.iter_mut().filter(|value| **value < 0.0).for_each(|value| *value *= slope);
            }
            Self::Sigmoid => values.iter_mut().for_each(|value| *value = sigmoid(*value)),
            Self::Dense(_) | Self::Lstm(_) | Self::Gru(_) => {}
        }
    }
}

//! File of a trained network: safetensors with the layers and the training in its metadata.

use super::lstm::{Model, Shape};
use super::settings::Settings;
use crate::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strict_input::Refusal;

/// Layers in the notation of `congestion`; the number is the forget bias.
const LAYERS: &str = "lstm:1 dense";
/// Length of the header's length, bytes.
const LENGTH: usize = 8;

/// Training as stored in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Training {
    pub(super) trainer: String,
    pub(super) seed: u64,
    pub(super) settings: Settings,
    /// Number of finished iterations.
    pub(super) iteration: usize,
}

/// Returns the file of a network and its training. The bytes are reproducible.
pub(super) fn write(model: &Model, training: &Training) -> Result<Vec<u8>, Error> {
    let text = serde_json::to_string(training)?;
    let mut header = Map::new();
    header.insert("__metadata__".to_owned(), json!({"layers": LAYERS, "training": text}));
    let mut end = 0;
    for (name, shape) in model.shape.tensors() {
        let begin = end;
        end += 4 * shape.iter().product::<usize>();
        header.insert(name.to_owned(), json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}));
    }
    let mut header = Value::Object(header).to_string();
    while !header.len().is_multiple_of(LENGTH) {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(model.parameters.iter().flat_map(|parameter| parameter.to_le_bytes()));
    Ok(file)
}

/// Reads a file of [`write`]. Returns the network and its training.
pub(super) fn read(file: &[u8], inputs: usize, outputs: usize) -> Result<(Model, Training), Refusal> {
    let no = || Refusal::new("allowed is a file of this trainer");
    let (length, rest) = file.split_first_chunk::<LENGTH>().ok_or_else(no)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| no())?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(no)?;
    let header: Value = serde_json::from_slice(header).map_err(|_| no())?;
    let text = header["__metadata__"]["training"].as_str().ok_or_else(no)?;
    let training: Training =
        serde_json::from_str(text).map_err(|cause| Refusal::of_key("training", cause.to_string()))?;
    let shape = Shape { inputs, units: training.settings.units, outputs };
    let parameters: Vec<f32> = data.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    if parameters.len() != shape.parameters() || !parameters.iter().all(|value| value.is_finite()) {
        return Err(no());
    }
    Ok((Model { shape, parameters }, training))
}

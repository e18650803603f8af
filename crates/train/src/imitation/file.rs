//! The file that is learned: safetensors, the layers and what the training was in its metadata.

use super::lstm::{Model, Shape};
use super::settings::Settings;
use crate::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strict_input::Refusal;

/// As `congestion` names the layers: the number is the forget bias.
const LAYERS: &str = "lstm:1 dense";
/// Bytes before the header.
const LENGTH: usize = 8;

/// What a file says of its training.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Training {
    pub(super) trainer: String,
    pub(super) seed: u64,
    pub(super) settings: Settings,
    /// Iterations that are over.
    pub(super) iteration: usize,
}

/// The same bytes for the same network and training.
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

/// The parameters in a file that [`write`] wrote, and its training.
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

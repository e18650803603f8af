//! Files of the controllers that cannot do without one: those that the catalog's schemes name, or made-up networks.

use congestion::{Entry, Files, Parameters};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use std::sync::Arc;

const INDIGO: &[u8] = include_bytes!("../../../../python/dumbbell/catalog/weights/indigo/indigo-1x32.data");
const TABLE: &[u8] = include_bytes!("../../../../python/dumbbell/catalog/weights/tao/tao-10x.json");
const ORCA: &[u8] = include_bytes!("../../../../python/dumbbell/catalog/weights/orca/orca.safetensors");
const TEAMS_BWE: &[u8] =
    include_bytes!("../../../../python/dumbbell/catalog/weights/teams-bwe/teams-bwe.safetensors");
const TEN_TMS: &[u8] =
    include_bytes!("../../../../python/dumbbell/catalog/weights/ten-tms/ten-tms.safetensors");
const FARC: &[u8] = include_bytes!("../../../../python/dumbbell/catalog/weights/farc/farc.safetensors");

/// What the controller called `name` needs: a parameter and the contents of its file.
fn needed(name: &str) -> Option<(&'static str, Arc<[u8]>)> {
    match name {
        "indigo" => Some(("weights", INDIGO.into())),
        "remy" => Some(("table", TABLE.into())),
        "orca" => Some(("weights", ORCA.into())),
        "teams-bwe" => Some(("weights", TEAMS_BWE.into())),
        "ten-tms" => Some(("weights", TEN_TMS.into())),
        "farc" => Some(("weights", FARC.into())),
        "aurora" => Some(("weights", dense(30, 1))),
        "astraea" => Some(("weights", dense(50, 1))),
        "muses" => Some(("weights", dense(11, 5))),
        _ => None,
    }
}

/// A layer that weighs its inputs this way and that.
fn dense(inputs: usize, outputs: usize) -> Arc<[u8]> {
    let floats = |count: usize| -> Vec<u8> {
        (0..count).flat_map(|index| ((index * 7 % 11) as f32 - 5.0).to_le_bytes()).collect()
    };
    let (kernel, bias) = (floats(inputs * outputs), floats(outputs));
    let view = |shape: &[usize], bytes| {
        TensorView::new(Dtype::F32, shape.to_vec(), bytes).expect("as many bytes as the shape has")
    };
    let tensors = [("0.kernel", view(&[inputs, outputs], &kernel)), ("0.bias", view(&[outputs], &bias))];
    let metadata = [("layers".to_owned(), "dense".to_owned())].into();
    safetensors::serialize(tensors, Some(metadata)).expect("a small file").into()
}

/// `entry`'s parameters at their defaults, with the file that it needs.
pub(crate) fn parameters(entry: &Entry) -> Parameters {
    let defaults = Parameters::defaults(entry.parameters);
    let Some((name, contents)) = needed(entry.name) else { return defaults };
    let mut parameters = defaults.with_files(Files::from([("file".to_owned(), contents)]));
    parameters.set(name, "file").expect("a file that was read");
    parameters
}

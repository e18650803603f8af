//! Files that controllers need: files of the catalog's schemes, and made-up networks in place of files that may not be
//! shipped.

use congestion::{Entry, Files, Parameters};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

/// Name and shape of a tensor.
type Shape = (&'static str, &'static [usize]);

enum Source {
    /// Path below the catalog's weights.
    Shipped(&'static str),
    Included(&'static [u8]),
    /// Words of the layers, and the tensors.
    MadeUp(&'static str, &'static [Shape]),
}

/// Controller, parameter, file.
const FILES: &[(&str, &str, Source)] = &[
    (
        "astraea",
        "weights",
        Source::MadeUp(
            "dense tanh dense tanh",
            &[("0.kernel", &[50, 8]), ("0.bias", &[8]), ("2.kernel", &[8, 1]), ("2.bias", &[1])],
        ),
    ),
    (
        "aurora",
        "weights",
        Source::MadeUp(
            "dense tanh dense",
            &[("0.kernel", &[30, 8]), ("0.bias", &[8]), ("2.kernel", &[8, 1]), ("2.bias", &[1])],
        ),
    ),
    ("indigo", "weights", Source::Shipped("indigo/indigo-1x32.data")),
    ("neural", "weights", Source::Included(include_bytes!("neural.safetensors"))),
    ("orca", "weights", Source::Shipped("orca/orca.safetensors")),
    ("muses", "weights", Source::MadeUp("dense", &[("0.kernel", &[11, 5]), ("0.bias", &[5])])),
    ("remy", "table", Source::Shipped("tao/tao-10x.json")),
    (
        "sage",
        "weights",
        Source::MadeUp(
            "dense layer_norm:0.00001 tanh gru dense",
            &[
                ("0.kernel", &[69, 8]),
                ("0.bias", &[8]),
                ("1.gain", &[8]),
                ("1.offset", &[8]),
                ("3.input", &[8, 24]),
                ("3.hidden", &[8, 24]),
                ("3.bias", &[24]),
                ("4.kernel", &[8, 1]),
                ("4.bias", &[1]),
            ],
        ),
    ),
    ("farc", "weights", Source::Shipped("farc/farc.safetensors")),
    ("teams-bwe", "weights", Source::Shipped("teams-bwe/teams-bwe.safetensors")),
    ("ten-tms", "weights", Source::Shipped("ten-tms/ten-tms.safetensors")),
];

impl Source {
    fn contents(&self) -> Vec<u8> {
        match self {
            Self::Shipped(file) => shipped(file),
            Self::Included(contents) => contents.to_vec(),
            Self::MadeUp(layers, shapes) => made_up(layers, shapes),
        }
    }
}

/// Returns a file of the catalog. The file is read at run time: a program that includes files from outside of its crate
/// is compiled again in each clone (`scripts/kept_build.py`).
#[expect(clippy::disallowed_methods, reason = "a test reads a file of the repository")]
fn shipped(file: &str) -> Vec<u8> {
    std::fs::read(format!("../../python/dumbbell/catalog/weights/{file}")).expect("a file of the catalog")
}

/// Returns pseudo-random numbers between -1 and 1, as tensors of dumbbell's format.
fn made_up(layers: &str, shapes: &[Shape]) -> Vec<u8> {
    let mut state = 1_u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    let values: Vec<Vec<u8>> = shapes
        .iter()
        .map(|(_, shape)| (0..shape.iter().product()).flat_map(|_: usize| number().to_le_bytes()).collect())
        .collect();
    let views = shapes.iter().zip(&values).map(|((name, shape), bytes)| {
        (*name, TensorView::new(Dtype::F32, shape.to_vec(), bytes).expect("as many bytes as the shape says"))
    });
    let metadata = [("layers".to_owned(), layers.to_owned())].into();
    safetensors::serialize(views, Some(metadata)).expect("tensors that fit")
}

/// Returns the files that the controller called `name` needs, by their parameters.
pub(crate) fn files(name: &str) -> Files {
    let named = FILES.iter().filter(|(controller, ..)| *controller == name);
    named.map(|(_, name, source)| ((*name).to_owned(), source.contents().into())).collect()
}

/// Returns `entry`'s default parameters, with the files that it needs.
pub(crate) fn parameters(entry: &Entry) -> Parameters {
    let files = files(entry.name);
    let mut parameters = Parameters::defaults(entry.parameters).with_files(files.clone());
    for name in files.keys() {
        parameters.set(name, name).expect("a file that was read");
    }
    parameters
}

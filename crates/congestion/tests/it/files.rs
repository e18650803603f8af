//! Files of the controllers that cannot do without one: those that the catalog's schemes name.

use congestion::{Entry, Files, Parameters};

/// Controller, parameter, file.
const FILES: &[(&str, &str, &[u8])] = &[
    (
        "indigo",
        "weights",
        include_bytes!("../../../../python/dumbbell/catalog/weights/indigo/indigo-1x32.data"),
    ),
    ("neural", "weights", include_bytes!("neural.safetensors")),
];

/// `entry`'s parameters at their defaults, with the files that it needs.
pub(crate) fn parameters(entry: &Entry) -> Parameters {
    let named = FILES.iter().filter(|(controller, ..)| *controller == entry.name);
    let files: Files =
        named.clone().map(|(_, name, contents)| ((*name).to_owned(), (*contents).into())).collect();
    let mut parameters = Parameters::defaults(entry.parameters).with_files(files);
    for (_, name, _) in named {
        parameters.set(name, name).expect("a file that was read");
    }
    parameters
}

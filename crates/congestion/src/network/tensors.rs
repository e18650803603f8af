//! Tensors of a weight file. The file is in dumbbell's own format (safetensors with a line of layers in the metadata),
//! or the data file of a TensorFlow checkpoint with a known layout.

use crate::File;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use std::collections::BTreeMap;
use std::sync::Arc;
use strict_input::Refusal;
use thiserror::Error;

/// Key of the metadata that holds the words of the layers.
const LAYERS: &str = "layers";

/// Layout of a TensorFlow checkpoint's data file: 32-bit floats (little-endian) without a header. An index file beside
/// it holds the offsets of the tensors; a known layout makes the index unnecessary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Length of the file, which identifies the layout.
    pub(crate) bytes: usize,
    /// Words of the layers.
    pub(crate) layers: &'static str,
    /// Name, shape and first byte of each tensor that is needed.
    pub(crate) tensors: &'static [(&'static str, &'static [usize], usize)],
}

#[derive(Debug)]
struct Tensor {
    shape: Vec<usize>,
    values: Arc<[f32]>,
}

/// Tensors of a file. All networks that are read from the file share them.
#[derive(Debug, Default)]
struct Held {
    /// Layout that the file was read by; `None` for a safetensors file.
    layout: Option<Layout>,
    layers: String,
    /// Metadata of a safetensors file.
    metadata: BTreeMap<String, String>,
    named: BTreeMap<String, Tensor>,
}

/// Named tensors of 32-bit floats.
#[derive(Debug)]
pub(crate) struct Tensors {
    /// Parameter and file, for messages.
    source: String,
    held: Arc<Held>,
}

impl Tensors {
    /// Reads the file of the parameter `parameter`: safetensors, or one of `layouts`. All networks that are read from
    /// the same contents share its values.
    ///
    /// # Errors
    /// One line that names the file and describes the fault.
    pub(crate) fn read(parameter: &str, file: &File, layouts: &[Layout]) -> Result<Self, Refusal> {
        let source = format!("`{parameter}` = `{}`", file.name);
        let read = |contents: &[u8]| Held::read(contents, layouts).map_err(|error| error.at(source.clone()));
        let mut held = file.contents.made(read)?;
        if held.layout != Layout::of(&file.contents, layouts) {
            // Another scheme has read the file by a different layout.
            held = Arc::new(read(&file.contents)?);
        }
        Ok(Self { source, held })
    }

    /// Returns the words of the layers, separated by blanks.
    pub(crate) fn layers(&self) -> &str {
        &self.held.layers
    }

    /// Returns the value of `key` in the metadata.
    ///
    /// # Errors
    /// One line that names the file, if there is no such key.
    pub(crate) fn metadata(&self, key: &str) -> Result<&str, Refusal> {
        let found = self.held.metadata.get(key).map(String::as_str);
        found.ok_or_else(|| self.refuse(format!("no `{key}` in its metadata")))
    }

    /// Returns a refusal of the file for the reason `why`.
    pub(crate) fn refuse(&self, why: String) -> Refusal {
        self.place(Refusal::new(why))
    }

    /// Adds the file's name to the refusal of something in it.
    pub(crate) fn place(&self, refusal: Refusal) -> Refusal {
        refusal.at(self.source.clone())
    }

    fn find(&self, name: &str) -> Result<&Tensor, Refusal> {
        self.held.named.get(name).ok_or_else(|| self.refuse(format!("there is no tensor `{name}`")))
    }

    fn of_shape(&self, name: &str, shape: &[usize]) -> Result<Arc<[f32]>, Refusal> {
        let tensor = self.find(name)?;
        if tensor.shape != shape {
            let found = &tensor.shape;
            return Err(self.refuse(format!("`{name}` has the shape {found:?}: allowed is {shape:?}")));
        }
        Ok(Arc::clone(&tensor.values))
    }

    /// Returns the values of a matrix, row by row.
    pub(crate) fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Arc<[f32]>, Refusal> {
        self.of_shape(name, &shape)
    }

    /// Returns the values of a vector.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Arc<[f32]>, Refusal> {
        self.of_shape(name, &[length])
    }

    /// Returns the length of a vector, above zero.
    pub(crate) fn length(&self, name: &str) -> Result<usize, Refusal> {
        match self.find(name)?.shape[..] {
            [length] if length > 0 => Ok(length),
            ref found => Err(self.refuse(format!("`{name}` has the shape {found:?}: allowed is [any]"))),
        }
    }

    /// Returns the number of columns, above zero, of a matrix with `rows` rows.
    pub(crate) fn columns(&self, name: &str, rows: usize) -> Result<usize, Refusal> {
        match self.find(name)?.shape[..] {
            [found, columns] if found == rows && columns > 0 => Ok(columns),
            ref found => {
                Err(self.refuse(format!("`{name}` has the shape {found:?}: allowed is [{rows}, any]")))
            }
        }
    }
}

impl Layout {
    /// Returns the one of `layouts` that fits `contents`.
    fn of(contents: &[u8], layouts: &[Self]) -> Option<Self> {
        layouts.iter().find(|layout| layout.bytes == contents.len()).copied()
    }
}

/// Reason why contents are not a usable safetensors file.
#[derive(Debug, Error)]
enum NoSafetensors {
    // The message may have several lines.
    #[error("{}", .0.to_string().replace('\n', " "))]
    Format(#[from] SafeTensorError),
    #[error("no `{LAYERS}` in its metadata")]
    NoLayers,
    #[error("`{name}` is of {dtype:?}")]
    Type { name: String, dtype: Dtype },
}

impl Held {
    fn read(contents: &[u8], layouts: &[Layout]) -> Result<Self, Refusal> {
        let held = match Layout::of(contents, layouts) {
            Some(layout) => Self::of_layout(layout, contents),
            None => Self::of_safetensors(contents).map_err(|why| {
                let known: Vec<String> = layouts.iter().map(|layout| layout.bytes.to_string()).collect();
                let data = if known.is_empty() {
                    String::new()
                } else {
                    format!(", and a TensorFlow data file of {} bytes", known.join(", "))
                };
                let found = contents.len();
                Refusal::new(format!("{found} bytes, {why}: allowed are safetensors with float32{data}"))
            })?,
        };
        for (name, tensor) in &held.named {
            if let Some(value) = tensor.values.iter().find(|value| !value.is_finite()) {
                return Err(Refusal::new(format!("`{name}` holds {value}: allowed are finite numbers")));
            }
        }
        Ok(held)
    }

    fn of_layout(layout: Layout, contents: &[u8]) -> Self {
        let tensors = layout.tensors.iter().map(|(name, shape, first)| {
            let bytes = &contents[*first..first + 4 * shape.iter().product::<usize>()];
            ((*name).to_owned(), Tensor { shape: shape.to_vec(), values: floats(bytes) })
        });
        Self {
            layers: layout.layers.to_owned(),
            named: tensors.collect(),
            layout: Some(layout),
            ..Self::default()
        }
    }

    fn of_safetensors(contents: &[u8]) -> Result<Self, NoSafetensors> {
        let (_, metadata) = SafeTensors::read_metadata(contents)?;
        let metadata: BTreeMap<String, String> =
            metadata.metadata().iter().flatten().map(|(key, text)| (key.clone(), text.clone())).collect();
        let layers = metadata.get(LAYERS).cloned().ok_or(NoSafetensors::NoLayers)?;
        let mut held = Self { layers, metadata, ..Self::default() };
        let file = SafeTensors::deserialize(contents)?;
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(NoSafetensors::Type { name: name.to_owned(), dtype: view.dtype() });
            }
            let tensor = Tensor { shape: view.shape().to_vec(), values: floats(view.data()) };
            held.named.insert(name.to_owned(), tensor);
        }
        Ok(held)
    }
}

fn floats(bytes: &[u8]) -> Arc<[f32]> {
    bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

/// Returns a file of dumbbell's own format with `tensors`.
#[cfg(test)]
pub(crate) fn packed(layers: &str, tensors: &[(&str, &[usize], &[f32])]) -> File {
    File { name: "w.safetensors".into(), contents: packed_with(&[(LAYERS, layers)], tensors).into() }
}

/// Returns the contents of a safetensors file with `metadata` and `tensors`.
#[cfg(test)]
pub(crate) fn packed_with(metadata: &[(&str, &str)], tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, _, values)| values.iter().flat_map(|value| value.to_le_bytes()).collect())
        .collect();
    let views = tensors.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
        (*name, safetensors::tensor::TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap())
    });
    let metadata = metadata.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    safetensors::serialize(views, Some(metadata)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout =
        Layout { bytes: 20, layers: "dense", tensors: &[("0.kernel", &[2, 1], 4), ("0.bias", &[1], 12)] };

    #[test]
    fn a_data_file_is_read_by_its_layout() {
        let contents: Vec<u8> =
            [9.0_f32, 1.0, 2.0, 3.0, 9.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        let file = File { name: "x.data".into(), contents: contents.into() };
        let tensors = Tensors::read("weights", &file, &[LAYOUT]).unwrap();
        assert_eq!(tensors.layers(), "dense");
        assert_eq!(tensors.matrix("0.kernel", [2, 1]).unwrap()[..], [1.0, 2.0]);
        assert_eq!(tensors.vector("0.bias", 1).unwrap()[..], [3.0]);
    }

    #[test]
    fn flows_of_one_file_share_its_values_and_each_scheme_reads_it_in_its_own_way() {
        let values = [9.0_f32, 1.0, 2.0, 3.0, 9.0].map(f32::to_le_bytes).concat();
        let file = File { name: "x.data".into(), contents: values.into() };
        let kernel =
            |layouts: &[Layout]| Tensors::read("weights", &file.clone(), layouts)?.matrix("0.kernel", [2, 1]);
        let first = kernel(&[LAYOUT]).unwrap();
        assert!(Arc::ptr_eq(&first, &kernel(&[LAYOUT]).unwrap()));
        let other = Layout { tensors: &[("0.kernel", &[2, 1], 8)], ..LAYOUT };
        assert_eq!(kernel(&[other]).unwrap()[..], [2.0, 3.0]);
        assert!(kernel(&[]).unwrap_err().to_string().contains("20 bytes, "));
        assert!(Arc::ptr_eq(&first, &kernel(&[LAYOUT]).unwrap()));
    }

    #[test]
    fn files_of_another_kind_are_refused_with_what_is_allowed() {
        let refusal = |contents: &[u8]| {
            let file = File { name: "x".into(), contents: contents.into() };
            Tensors::read("weights", &file, &[LAYOUT]).unwrap_err().to_string()
        };
        for contents in [&b""[..], b"short", &[0xff; 100], &[b'{'; 19], b"\x02\0\0\0\0\0\0\0{}"] {
            let message = refusal(contents);
            assert!(
                message.starts_with(&format!("`weights` = `x`: {} bytes, ", contents.len())),
                "{message}"
            );
            assert!(
                message.ends_with("safetensors with float32, and a TensorFlow data file of 20 bytes"),
                "{message}"
            );
            assert_eq!(message.lines().count(), 1);
        }
    }

    #[test]
    fn a_cut_file_and_one_without_layers_are_refused() {
        let whole = packed("dense", &[("0.bias", &[2], &[1.0, 2.0])]);
        for length in 0..whole.contents.len() {
            let file = File { name: "w".into(), contents: whole.contents[..length].into() };
            assert!(Tensors::read("weights", &file, &[]).is_err(), "{length}");
        }
        let views: [(&str, safetensors::tensor::TensorView<'_>); 0] = [];
        let bare = safetensors::serialize(views, None).unwrap();
        let file = File { name: "w".into(), contents: bare.into() };
        assert!(
            Tensors::read("weights", &file, &[])
                .unwrap_err()
                .to_string()
                .contains("no `layers` in its metadata")
        );
    }
}

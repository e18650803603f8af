//! The tensors of a weight file: our own format, which is safetensors with a line of layers in its metadata, or a
//! TensorFlow checkpoint's data file of a known layout.

use crate::File;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;

/// The key of the metadata that holds the words of the layers.
const LAYERS: &str = "layers";

/// What a TensorFlow checkpoint's data file holds: 32-bit floats (little-endian) without a header. Where which tensor
/// begins is in an index file beside it, which need not be read where the layout is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Length of the file: by it the layout is recognised.
    pub(crate) bytes: usize,
    /// Words of the layers.
    pub(crate) layers: &'static str,
    /// Name, shape and first byte of each tensor that is needed.
    pub(crate) tensors: &'static [(&'static str, &'static [usize], usize)],
}

#[derive(Debug)]
struct Tensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

/// Named tensors of 32-bit floats.
#[derive(Debug)]
pub(crate) struct Tensors {
    /// Parameter and file, for messages.
    source: String,
    layers: String,
    /// The metadata of a safetensors file.
    metadata: BTreeMap<String, String>,
    named: BTreeMap<String, Tensor>,
}

impl Tensors {
    /// Reads the file of the parameter `parameter`: safetensors, or one of `layouts`.
    ///
    /// # Errors
    /// One line naming the file and what is wrong with it.
    pub(crate) fn read(parameter: &str, file: &File, layouts: &[Layout]) -> Result<Self, String> {
        let mut tensors = Self {
            source: format!("`{parameter}` = `{}`", file.name),
            layers: String::new(),
            metadata: BTreeMap::new(),
            named: BTreeMap::new(),
        };
        match layouts.iter().find(|layout| layout.bytes == file.contents.len()) {
            Some(layout) => tensors.read_layout(layout, &file.contents),
            None => tensors.read_safetensors(&file.contents).map_err(|why| {
                let known: Vec<String> = layouts.iter().map(|layout| layout.bytes.to_string()).collect();
                let data = if known.is_empty() {
                    String::new()
                } else {
                    format!(", and a TensorFlow data file of {} bytes", known.join(", "))
                };
                let found = file.contents.len();
                tensors.refuse(&format!("{found} bytes, {why}: allowed are safetensors with float32{data}"))
            })?,
        }
        match tensors.named.iter().find(|(_, tensor)| !tensor.values.iter().all(|value| value.is_finite())) {
            Some((name, tensor)) => {
                let value =
                    tensor.values.iter().find(|value| !value.is_finite()).copied().unwrap_or_default();
                Err(tensors.refuse(&format!("`{name}` holds {value}: allowed are finite numbers")))
            }
            None => Ok(tensors),
        }
    }

    fn read_layout(&mut self, layout: &Layout, contents: &[u8]) {
        layout.layers.clone_into(&mut self.layers);
        for (name, shape, first) in layout.tensors {
            let bytes = &contents[*first..first + 4 * shape.iter().product::<usize>()];
            self.named.insert((*name).to_owned(), Tensor { shape: shape.to_vec(), values: floats(bytes) });
        }
    }

    fn read_safetensors(&mut self, contents: &[u8]) -> Result<(), String> {
        let plain = |why: safetensors::SafeTensorError| why.to_string().replace('\n', " ");
        let (_, metadata) = SafeTensors::read_metadata(contents).map_err(plain)?;
        self.metadata =
            metadata.metadata().iter().flatten().map(|(key, text)| (key.clone(), text.clone())).collect();
        let layers = self.metadata.get(LAYERS);
        layers.ok_or_else(|| format!("no `{LAYERS}` in its metadata"))?.clone_into(&mut self.layers);
        let file = SafeTensors::deserialize(contents).map_err(plain)?;
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(format!("`{name}` is of {:?}", view.dtype()));
            }
            self.named.insert(
                name.to_owned(),
                Tensor { shape: view.shape().to_vec(), values: floats(view.data()) },
            );
        }
        Ok(())
    }

    /// Words of the layers, separated by blanks.
    pub(crate) fn layers(&self) -> &str {
        &self.layers
    }

    /// What its metadata holds under `key`.
    ///
    /// # Errors
    /// One line naming the file: there is none.
    pub(crate) fn metadata(&self, key: &str) -> Result<&str, String> {
        let found = self.metadata.get(key).map(String::as_str);
        found.ok_or_else(|| self.refuse(&format!("no `{key}` in its metadata")))
    }

    /// Says what is wrong with the file.
    pub(crate) fn refuse(&self, why: &str) -> String {
        format!("{}: {why}", self.source)
    }

    fn find(&self, name: &str) -> Result<&Tensor, String> {
        self.named.get(name).ok_or_else(|| self.refuse(&format!("there is no tensor `{name}`")))
    }

    fn of_shape(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let tensor = self.find(name)?;
        if tensor.shape != shape {
            let found = &tensor.shape;
            return Err(self.refuse(&format!("`{name}` has the shape {found:?}: allowed is {shape:?}")));
        }
        Ok(tensor.values.clone())
    }

    /// The values of a matrix, row by row.
    pub(crate) fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Vec<f32>, String> {
        self.of_shape(name, &shape)
    }

    /// The values of a vector.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>, String> {
        self.of_shape(name, &[length])
    }

    /// Length of a vector, above zero.
    pub(crate) fn length(&self, name: &str) -> Result<usize, String> {
        match self.find(name)?.shape[..] {
            [length] if length > 0 => Ok(length),
            ref found => Err(self.refuse(&format!("`{name}` has the shape {found:?}: allowed is [any]"))),
        }
    }

    /// Number of columns, above zero, of a matrix with `rows` rows.
    pub(crate) fn columns(&self, name: &str, rows: usize) -> Result<usize, String> {
        match self.find(name)?.shape[..] {
            [found, columns] if found == rows && columns > 0 => Ok(columns),
            ref found => {
                Err(self.refuse(&format!("`{name}` has the shape {found:?}: allowed is [{rows}, any]")))
            }
        }
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

/// A file of our own format with `tensors`.
#[cfg(test)]
pub(crate) fn packed(layers: &str, tensors: &[(&str, &[usize], &[f32])]) -> File {
    File { name: "w.safetensors".into(), contents: packed_with(&[(LAYERS, layers)], tensors).into() }
}

/// The contents of a safetensors file with `metadata` and `tensors`.
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
        assert_eq!(tensors.matrix("0.kernel", [2, 1]).unwrap(), [1.0, 2.0]);
        assert_eq!(tensors.vector("0.bias", 1).unwrap(), [3.0]);
    }

    #[test]
    fn files_of_another_kind_are_refused_with_what_is_allowed() {
        let refusal = |contents: &[u8]| {
            let file = File { name: "x".into(), contents: contents.into() };
            Tensors::read("weights", &file, &[LAYOUT]).unwrap_err()
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
        assert!(Tensors::read("weights", &file, &[]).unwrap_err().contains("no `layers` in its metadata"));
    }
}

//! Binary format of tables and series: a JSON header, then arrays of numbers that readers use in place.
//!
//! The bytes are: `u32` length of the header, the header, the arrays. The header is padded with spaces, such that the
//! arrays begin at a multiple of 8. Each array is padded to a multiple of 8. All numbers are little endian.
//!
//! The header is `{"meta": ..., "columns": [{"name", "type", "offset", "length", "names"?}]}`. `offset` counts bytes
//! from the start of the arrays. A column with `names` contains positions in that list. A missing number is NaN.

use serde_json::{Value, json};

/// Alignment of arrays, bytes.
const ALIGNMENT: usize = 8;

/// Builder of a table: collects columns and converts them to bytes.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    meta: Value,
    column_headers: Vec<Value>,
    arrays: Vec<u8>,
}

impl Columns {
    /// Returns a table without columns; `meta` is the header's free part.
    pub fn new(meta: Value) -> Self {
        Self { meta, column_headers: Vec::new(), arrays: Vec::new() }
    }

    /// Replaces the header's free part.
    pub fn set_meta(&mut self, meta: Value) {
        self.meta = meta;
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn f64(mut self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        self.column(name, "f64", values.into_iter().map(f64::to_le_bytes));
        self
    }

    /// Adds a column of numbers that need at most 24 bits.
    #[must_use]
    pub fn f32(mut self, name: &str, values: impl IntoIterator<Item = f32>) -> Self {
        self.column(name, "f32", values.into_iter().map(f32::to_le_bytes));
        self
    }

    /// Adds a column of counts.
    #[must_use]
    pub fn u32(mut self, name: &str, values: impl IntoIterator<Item = u32>) -> Self {
        self.column(name, "u32", values.into_iter().map(u32::to_le_bytes));
        self
    }

    /// Adds a column of whole numbers.
    #[must_use]
    pub fn i32(mut self, name: &str, values: impl IntoIterator<Item = i32>) -> Self {
        self.column(name, "i32", values.into_iter().map(i32::to_le_bytes));
        self
    }

    /// Adds a column of small numbers.
    #[must_use]
    pub fn u8(mut self, name: &str, values: impl IntoIterator<Item = u8>) -> Self {
        self.column(name, "u8", values.into_iter().map(u8::to_le_bytes));
        self
    }

    /// Adds a column of strings, as positions in `names`.
    #[must_use]
    pub fn codes<T: AsRef<str>>(
        mut self,
        name: &str,
        codes: impl IntoIterator<Item = u32>,
        names: &[T],
    ) -> Self {
        self.column(name, "u32", codes.into_iter().map(u32::to_le_bytes));
        self.name_last(names);
        self
    }

    /// Adds a column of strings from at most 256 `names`, as positions in `names`.
    #[must_use]
    pub fn short_codes<T: AsRef<str>>(
        mut self,
        name: &str,
        codes: impl IntoIterator<Item = u8>,
        names: &[T],
    ) -> Self {
        self.column(name, "u8", codes.into_iter().map(u8::to_le_bytes));
        self.name_last(names);
        self
    }

    fn name_last<T: AsRef<str>>(&mut self, names: &[T]) {
        if let Some(last) = self.column_headers.last_mut() {
            last["names"] = names.iter().map(AsRef::as_ref).collect();
        }
    }

    fn column<const N: usize>(&mut self, name: &str, kind: &str, values: impl Iterator<Item = [u8; N]>) {
        let offset = self.arrays.len();
        self.arrays.extend(values.flatten());
        let length = (self.arrays.len() - offset) / N;
        self.arrays.resize(self.arrays.len().next_multiple_of(ALIGNMENT), 0);
        self.column_headers.push(json!({"name": name, "type": kind, "offset": offset, "length": length}));
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut header = json!({"meta": self.meta, "columns": self.column_headers}).to_string().into_bytes();
        let length_bytes = size_of::<u32>();
        let padded = (header.len() + length_bytes).next_multiple_of(ALIGNMENT) - length_bytes;
        header.resize(padded, b' ');
        let mut bytes = Vec::with_capacity(length_bytes + header.len() + self.arrays.len());
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        bytes.extend(self.arrays);
        bytes
    }
}

/// Reader of the format, for tests.
#[cfg(test)]
pub(crate) mod reading {
    use super::*;

    /// Table read from bytes.
    #[derive(Debug)]
    pub(crate) struct Read {
        pub(crate) meta: Value,
        columns: Vec<Value>,
        arrays: Vec<u8>,
    }

    impl Read {
        pub(crate) fn of(bytes: &[u8]) -> Self {
            let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            assert!((length + 4).is_multiple_of(ALIGNMENT));
            let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
            Self {
                meta: header["meta"].clone(),
                columns: header["columns"].as_array().unwrap().clone(),
                arrays: bytes[4 + length..].to_vec(),
            }
        }

        pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
            let column = self.columns.iter().find(|column| column["name"] == name).unwrap();
            let [offset, length] = ["offset", "length"].map(|key| column[key].as_u64().unwrap() as usize);
            assert!(offset.is_multiple_of(ALIGNMENT));
            let array = &self.arrays[offset..];
            match column["type"].as_str().unwrap() {
                "f64" => {
                    array.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).take(length).collect()
                }
                "f32" => array
                    .chunks(4)
                    .map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())))
                    .take(length)
                    .collect(),
                "u32" => array
                    .chunks(4)
                    .map(|b| f64::from(u32::from_le_bytes(b.try_into().unwrap())))
                    .take(length)
                    .collect(),
                "i32" => array
                    .chunks(4)
                    .map(|b| f64::from(i32::from_le_bytes(b.try_into().unwrap())))
                    .take(length)
                    .collect(),
                "u8" => array.iter().map(|&b| f64::from(b)).take(length).collect(),
                other => panic!("{other}"),
            }
        }

        pub(crate) fn texts(&self, name: &str) -> Vec<String> {
            let column = self.columns.iter().find(|column| column["name"] == name).unwrap();
            let names = &column["names"];
            self.numbers(name).iter().map(|&code| names[code as usize].as_str().unwrap().to_owned()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reading::Read;
    use super::*;

    #[test]
    fn what_is_written_is_read_at_multiples_of_eight() {
        let bytes = Columns::new(json!({"title": "drops — and marks"}))
            .u8("kind", [1, 2, 3])
            .f64("time_ns", [0.5, f64::NAN])
            .f32("share", [0.25])
            .i32("change", [-7])
            .u32("flow", [u32::MAX, 1, 2, 3, 4])
            .codes("text", [1, 0], &["none", "probe_bw"])
            .short_codes("event", [1], &["drop", "mark"])
            .into_bytes();
        assert!(bytes.len().is_multiple_of(8));
        let read = Read::of(&bytes);
        assert_eq!(read.meta["title"], "drops — and marks");
        assert_eq!(read.numbers("kind"), [1.0, 2.0, 3.0]);
        assert!(read.numbers("time_ns")[0] == 0.5 && read.numbers("time_ns")[1].is_nan());
        assert_eq!((read.numbers("share"), read.numbers("change")), (vec![0.25], vec![-7.0]));
        assert_eq!(read.numbers("flow")[0], f64::from(u32::MAX));
        assert_eq!(
            (read.texts("text"), read.texts("event")),
            (vec!["probe_bw".into(), "none".into()], vec!["mark".to_owned()])
        );
    }

    #[test]
    fn nothing_is_a_table_too() {
        let bytes = Columns::default().into_bytes();
        assert_eq!(Read::of(&bytes).meta, Value::Null);
    }
}

//! Tables as bytes that a page takes as typed arrays: length of the header, header (JSON), arrays, in little endian.

use serde_json::{Value, json};

/// Arrays begin at multiples of this, bytes.
const ALIGN: usize = 8;

/// A table that is being made.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    columns: Vec<Value>,
    arrays: Vec<u8>,
}

impl Columns {
    fn add(&mut self, name: &str, kind: &str, length: usize, names: Option<&[String]>) {
        let mut column = json!({"name": name, "type": kind, "offset": self.arrays.len(), "length": length});
        if let Some(names) = names {
            column["names"] = json!(names);
        }
        self.columns.push(column);
    }

    fn pad(&mut self) {
        self.arrays.resize(self.arrays.len().next_multiple_of(ALIGN), 0);
    }

    /// Adds a column of numbers; an absent one is NaN.
    pub fn numbers(&mut self, name: &str, values: &[f64]) {
        self.add(name, "f64", values.len(), None);
        self.arrays.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.pad();
    }

    /// Adds a column of whole numbers.
    pub fn counts(&mut self, name: &str, values: &[u32]) {
        self.add(name, "u32", values.len(), None);
        self.arrays.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self.pad();
    }

    /// Adds a column of codes; what they mean are their positions in `names`, if they are given.
    pub fn codes(&mut self, name: &str, values: &[u8], names: Option<&[String]>) {
        self.add(name, "u8", values.len(), names);
        self.arrays.extend(values);
        self.pad();
    }

    /// The bytes, with `meta` in the header.
    pub fn bytes(&self, meta: &Value) -> Vec<u8> {
        let mut header = json!({"meta": meta, "columns": self.columns}).to_string().into_bytes();
        header.resize((header.len() + 4).next_multiple_of(ALIGN) - 4, b' ');
        let mut bytes = (header.len() as u32).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(&self.arrays);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_stand_where_the_header_says() {
        let mut columns = Columns::default();
        columns.codes("kind", &[1, 0, 1], Some(&["drop".to_owned(), "mark".to_owned()]));
        columns.numbers("time_ns", &[1.5, f64::NAN]);
        columns.counts("flow", &[7]);
        let bytes = columns.bytes(&json!({"a": "Jörg"}));
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        assert_eq!((length + 4) % ALIGN, 0);
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let arrays = &bytes[4 + length..];
        assert_eq!(header["meta"]["a"], "Jörg");
        let at = |index: usize| header["columns"][index]["offset"].as_u64().unwrap() as usize;
        assert_eq!(&arrays[at(0)..at(0) + 3], &[1, 0, 1]);
        assert_eq!(arrays[at(1)..at(1) + 8], 1.5f64.to_le_bytes());
        assert_eq!(arrays[at(2)..at(2) + 4], 7u32.to_le_bytes());
        assert_eq!((at(1) % ALIGN, at(2) % ALIGN, arrays.len() % ALIGN), (0, 0, 0));
    }
}

//! Reader of columns.

use serde_json::Value;

/// Table read from bytes.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) meta: Value,
    columns: Vec<Value>,
    arrays: Vec<u8>,
}

impl Table {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let arrays = bytes[4 + length..].to_vec();
        assert_eq!((length + 4) % 8, 0);
        Self { meta: header["meta"].clone(), columns: header["columns"].as_array().unwrap().clone(), arrays }
    }

    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        let column = self.columns.iter().find(|column| column["name"] == name).unwrap();
        let [offset, length] = ["offset", "length"].map(|key| column[key].as_u64().unwrap() as usize);
        let array = &self.arrays[offset..];
        let number = |place: usize| match column["type"].as_str().unwrap() {
            "f64" => f64::from_le_bytes(array[place * 8..][..8].try_into().unwrap()),
            "u32" => f64::from(u32::from_le_bytes(array[place * 4..][..4].try_into().unwrap())),
            "u8" => f64::from(array[place]),
            other => panic!("{other}"),
        };
        (0..length).map(number).collect()
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let column = self.columns.iter().find(|column| column["name"] == name).unwrap();
        let text = |code: f64| column["names"][code as usize].as_str().unwrap().to_owned();
        self.numbers(name).into_iter().map(text).collect()
    }

    /// Returns the rows of a series: time, low, high.
    pub(crate) fn series(&self, place: usize) -> Vec<(f64, f64, f64)> {
        let one = &self.meta["series"][place];
        let [first, rows] = ["first", "rows"].map(|key| one[key].as_u64().unwrap() as usize);
        let [time, low, high] = ["time_ns", "low", "high"].map(|name| self.numbers(name));
        (first..first + rows).map(|row| (time[row], low[row], high[row])).collect()
    }
}

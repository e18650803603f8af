//! Tables for Python: columns that other libraries read in place.

use crate::arrow::{Column, Columns, Names, Schema, Stream, Values, rows};
use crate::errors::error;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

const SCHEMA: &CStr = c"arrow_schema";
const STREAM: &CStr = c"arrow_array_stream";

/// Columns of equal length, for `dumbbell.Table`.
#[pyclass(frozen, module = "dumbbell._core")]
#[derive(Debug)]
pub(crate) struct Table {
    columns: Columns,
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns: Arc::new(columns) }
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn column_of(&self, name: &str) -> PyResult<usize> {
        self.columns
            .iter()
            .position(|column| column.name == name)
            .ok_or_else(|| error(format_args!("no column `{name}`")))
    }
}

#[pymethods]
impl Table {
    /// Creates a table of Python values: name, kind (`text`, `integer`, `number`) and values of each column.
    #[new]
    fn of_values(columns: Vec<(String, String, Bound<'_, PyList>)>) -> PyResult<Self> {
        let table_columns: Vec<Column> =
            columns.iter().map(|(name, kind, values)| column(name, kind, values)).collect::<PyResult<_>>()?;
        if table_columns.windows(2).any(|pair| pair[0].values.len() != pair[1].values.len()) {
            return Err(error("the columns of a table differ in length"));
        }
        Ok(Self::new(table_columns))
    }

    fn __len__(&self) -> usize {
        rows(&self.columns)
    }

    /// Returns the names of the columns, in order.
    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Returns a column in a form that numpy uses without copying.
    fn column(&self, name: &str) -> PyResult<View> {
        let index = self.column_of(name)?;
        Ok(View { columns: Arc::clone(&self.columns), index })
    }

    /// Returns the strings of a column's codes, or `None` for a column of numbers.
    fn dictionary(&self, name: &str) -> PyResult<Option<Vec<&str>>> {
        Ok(self.columns[self.column_of(name)?].values.names().map(|names| names.iter().collect()))
    }

    /// Returns which rows have no value, or `None` if all rows have one.
    fn gaps(&self, name: &str) -> PyResult<Option<Vec<bool>>> {
        let column = &self.columns[self.column_of(name)?];
        let gaps = || (0..column.values.len()).map(|row| !column.has(row)).collect();
        Ok(column.has_gaps().then(gaps))
    }

    /// Returns the rows with this value in the column `name` of flows or codes.
    fn rows_with(&self, py: Python<'_>, name: &str, value: u32) -> PyResult<Self> {
        let index = self.column_of(name)?;
        Ok(py.detach(|| {
            let rows = self.columns[index].values.rows_with(value);
            Self::new(self.columns.iter().map(|column| column.take(&rows)).collect())
        }))
    }

    /// Returns the table's type for Arrow readers.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, Schema::table(&self.columns), SCHEMA)
    }

    /// Returns the table for Arrow readers. A requested schema is ignored, as the protocol permits.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(py, Stream::of(&self.columns), STREAM)
    }
}

/// Column of numbers, or of codes, for numpy.
#[pyclass(frozen, module = "dumbbell._core")]
#[derive(Debug)]
pub(crate) struct View {
    columns: Columns,
    index: usize,
}

#[pymethods]
impl View {
    /// Returns the address and type of the numbers: <https://numpy.org/doc/stable/reference/arrays.interface.html>.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = &self.columns[self.index].values;
        let kind = match values {
            Values::Codes(..) => "u1",
            Values::U32(_) | Values::WideCodes(..) => "u4",
            Values::U64(_) => "u8",
            Values::I64(_) => "i8",
            Values::F64(_) => "f8",
        };
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        let read_only = true;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (values.len(),))?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("data", (values.address() as usize, read_only))?;
        Ok(interface)
    }
}

/// Returns a column of Python values; `None` is an absent value.
fn column(name: &str, kind: &str, values: &Bound<'_, PyList>) -> PyResult<Column> {
    let present: Vec<bool> = values.iter().map(|value| !value.is_none()).collect();
    let values = match kind {
        "text" => texts(values)?,
        "integer" => Values::I64(numbers(values)?),
        "number" => Values::F64(numbers(values)?),
        _ => {
            return Err(error(format_args!(
                "column `{name}`: kind `{kind}`: allowed are text, integer, number"
            )));
        }
    };
    Ok(Column::with_gaps(name, values, &present))
}

fn numbers<'py, T: Default + for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    values: &Bound<'py, PyList>,
) -> PyResult<Vec<T>> {
    values.iter().map(|value| Ok(value.extract::<Option<T>>()?.unwrap_or_default())).collect()
}

fn texts(values: &Bound<'_, PyList>) -> PyResult<Values> {
    let (mut codes, mut names) = (Vec::with_capacity(values.len()), Vec::new());
    let mut codes_by_text: HashMap<String, u32> = HashMap::new();
    for value in values {
        let text = value.extract::<Option<String>>()?.unwrap_or_default();
        codes.push(*codes_by_text.entry(text).or_insert_with_key(|text| {
            names.push(text.clone());
            names.len() as u32 - 1
        }));
    }
    Ok(Values::WideCodes(codes, Names::new(names)))
}

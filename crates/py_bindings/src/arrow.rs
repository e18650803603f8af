//! Tables of columns for Python through the Arrow C data interface.
//!
//! pandas, polars, `DuckDB` and other readers use the columns in place. Supports only the layouts of dumbbell's
//! tables: numbers, and strings from few names.
//!
//! The structures and the rules for their release are specified in
//! <https://arrow.apache.org/docs/format/CDataInterface.html> and in the stream interface beside it.
#![allow(unsafe_code, reason = "structures that other libraries read and release by pointer")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// Values of a column.
#[derive(Debug)]
pub(crate) enum Values {
    U32(Vec<u32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    /// Names by their `u8` positions in the dictionary.
    Codes(Vec<u8>, Names),
    /// Names by their `u32` positions in the dictionary.
    WideCodes(Vec<u32>, Names),
}

/// Dictionary of strings: concatenated text, and the start of each string. The last offset is the end of the text.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    offsets: Vec<i32>,
    text: Vec<u8>,
}

impl Names {
    pub(crate) fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let (mut offsets, mut text) = (vec![0], Vec::new());
        for name in names {
            text.extend_from_slice(name.as_ref().as_bytes());
            offsets.push(text.len() as i32);
        }
        Self { offsets, text }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let part = |ends: &[i32]| &self.text[ends[0] as usize..ends[1] as usize];
        self.offsets.windows(2).map(move |ends| std::str::from_utf8(part(ends)).expect("made of texts"))
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::U32(values) | Self::WideCodes(values, _) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Codes(values, _) => values.len(),
        }
    }

    /// Returns the address of the values.
    pub(crate) fn address(&self) -> *const c_void {
        match self {
            Self::U32(values) | Self::WideCodes(values, _) => values.as_ptr().cast(),
            Self::U64(values) => values.as_ptr().cast(),
            Self::I64(values) => values.as_ptr().cast(),
            Self::F64(values) => values.as_ptr().cast(),
            Self::Codes(values, _) => values.as_ptr().cast(),
        }
    }

    /// Returns the rows with this value; no rows if the values are neither flows nor codes.
    pub(crate) fn rows_with(&self, value: u32) -> Vec<usize> {
        let places = |same: &dyn Fn(usize) -> bool| (0..self.len()).filter(|&row| same(row)).collect();
        match self {
            Self::U32(values) | Self::WideCodes(values, _) => places(&|row| values[row] == value),
            Self::Codes(values, _) => places(&|row| u32::from(values[row]) == value),
            Self::U64(_) | Self::I64(_) | Self::F64(_) => Vec::new(),
        }
    }

    /// Returns the values of these rows.
    fn take(&self, rows: &[usize]) -> Self {
        match self {
            Self::U32(values) => Self::U32(select_rows(values, rows)),
            Self::U64(values) => Self::U64(select_rows(values, rows)),
            Self::I64(values) => Self::I64(select_rows(values, rows)),
            Self::F64(values) => Self::F64(select_rows(values, rows)),
            Self::Codes(values, names) => Self::Codes(select_rows(values, rows), names.clone()),
            Self::WideCodes(values, names) => Self::WideCodes(select_rows(values, rows), names.clone()),
        }
    }

    pub(crate) fn names(&self) -> Option<&Names> {
        match self {
            Self::Codes(_, names) | Self::WideCodes(_, names) => Some(names),
            _ => None,
        }
    }

    /// Returns Arrow's name of the type; for codes, the name of the number type.
    fn format(&self) -> &'static str {
        match self {
            Self::Codes(..) => "C",
            Self::U32(_) | Self::WideCodes(..) => "I",
            Self::U64(_) => "L",
            Self::I64(_) => "l",
            Self::F64(_) => "g",
        }
    }
}

fn select_rows<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|&row| values[row]).collect()
}

/// Column of values, some of which may be absent.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Values,
    present: Option<Vec<u8>>,
    absent: usize,
}

impl Column {
    /// Returns a column with a value in every row.
    pub(crate) fn new(name: &str, values: Values) -> Self {
        Self { name: name.to_owned(), values, present: None, absent: 0 }
    }

    /// Returns a column in which row `i` has a value if `present[i]`.
    pub(crate) fn with_gaps(name: &str, values: Values, present: &[bool]) -> Self {
        let absent = present.iter().filter(|&&here| !here).count();
        let mut bits = vec![0_u8; present.len().div_ceil(8)];
        for (row, _) in present.iter().enumerate().filter(|&(_, &here)| here) {
            bits[row / 8] |= 1 << (row % 8);
        }
        Self { name: name.to_owned(), values, present: (absent > 0).then_some(bits), absent }
    }

    /// Returns the column with only these rows.
    pub(crate) fn take(&self, rows: &[usize]) -> Self {
        let present: Vec<bool> = rows.iter().map(|&row| self.has(row)).collect();
        Self::with_gaps(&self.name, self.values.take(rows), &present)
    }

    /// Returns true if row `row` has a value.
    pub(crate) fn has(&self, row: usize) -> bool {
        self.present.as_ref().is_none_or(|bits| bits[row / 8] & (1 << (row % 8)) != 0)
    }

    /// Returns true if some rows have no value.
    pub(crate) fn has_gaps(&self) -> bool {
        self.absent > 0
    }
}

/// Columns of equal length.
pub(crate) type Columns = Arc<Vec<Column>>;

pub(crate) fn rows(columns: &[Column]) -> usize {
    columns.first().map_or(0, |column| column.values.len())
}

const NULLABLE: i64 = 2;

/// Arrow's `ArrowSchema`: type of a column or table.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// Arrow's `ArrowArray`: values of a column or table.
#[repr(C)]
#[derive(Debug)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// Arrow's `ArrowArrayStream`: a table as batches of rows. Dumbbell's tables are one batch.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Stream {
    get_schema: unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int,
    get_next: unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut Stream) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

// SAFETY: the data behind the pointers belongs to the structure alone, or is shared and never changed (`Columns`).
unsafe impl Send for Schema {}
// SAFETY: as for `Schema`.
unsafe impl Send for Stream {}

/// Data that a schema points to, released with the schema.
struct SchemaParts {
    _format: CString,
    _name: CString,
    children: Vec<*mut Schema>,
    dictionary: *mut Schema,
}

/// Data that an array points to, released with the array. The columns live as long as any of their arrays.
struct ArrayParts {
    _columns: Columns,
    _buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
    dictionary: *mut Array,
}

struct StreamParts {
    columns: Columns,
    is_read: bool,
}

impl Schema {
    /// Returns the type of a table with these columns.
    pub(crate) fn table(columns: &Columns) -> Self {
        let children = columns.iter().map(|column| {
            let dictionary = column.values.names().map(|_| Self::new("u", "", vec![], None));
            Self::new(column.values.format(), &column.name, vec![], dictionary)
        });
        Self::new("+s", "", children.collect(), None)
    }

    fn new(format: &str, name: &str, children: Vec<Self>, dictionary: Option<Self>) -> Self {
        let text = |text: &str| CString::new(text.replace('\0', "")).expect("has no zero byte");
        let (format, name) = (text(format), text(name));
        let flags = if children.is_empty() { NULLABLE } else { 0 };
        let (format_text, name_text) = (format.as_ptr(), name.as_ptr());
        let mut parts = Box::new(SchemaParts {
            _format: format,
            _name: name,
            children: children.into_iter().map(leak).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), leak),
        });
        Self {
            format: format_text,
            name: name_text,
            metadata: ptr::null(),
            flags,
            n_children: parts.children.len() as i64,
            children: parts.children.as_mut_ptr(),
            dictionary: parts.dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(parts).cast(),
        }
    }
}

impl Array {
    /// Returns the values of a table with these columns: one batch of all rows.
    fn table(columns: &Columns) -> Self {
        let children = columns.iter().map(|column| {
            let dictionary = column.values.names().map(|names| {
                let buffers = vec![ptr::null(), names.offsets.as_ptr().cast(), names.text.as_ptr().cast()];
                Self::new(columns, names.len(), 0, buffers, vec![], None)
            });
            let present = column.present.as_ref().map_or(ptr::null(), |bits| bits.as_ptr().cast());
            let buffers = vec![present, column.values.address()];
            Self::new(columns, column.values.len(), column.absent, buffers, vec![], dictionary)
        });
        Self::new(columns, rows(columns), 0, vec![ptr::null()], children.collect(), None)
    }

    fn new(
        columns: &Columns,
        length: usize,
        absent: usize,
        mut buffers: Vec<*const c_void>,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let (n_buffers, buffer_list) = (buffers.len() as i64, buffers.as_mut_ptr());
        let mut parts = Box::new(ArrayParts {
            _columns: Arc::clone(columns),
            _buffers: buffers,
            children: children.into_iter().map(leak).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), leak),
        });
        Self {
            length: length as i64,
            null_count: absent as i64,
            offset: 0,
            n_buffers,
            n_children: parts.children.len() as i64,
            buffers: buffer_list,
            children: parts.children.as_mut_ptr(),
            dictionary: parts.dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(parts).cast(),
        }
    }

    /// Array at the end of a stream.
    const END: Self = Self {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };
}

impl Stream {
    /// Returns a stream of all rows of these columns.
    pub(crate) fn of(columns: &Columns) -> Self {
        let parts = Box::new(StreamParts { columns: Arc::clone(columns), is_read: false });
        Self {
            get_schema,
            get_next,
            get_last_error,
            release: Some(release_stream),
            private_data: Box::into_raw(parts).cast(),
        }
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is present, thus the structure is not released yet.
            unsafe { release(self) }
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is present, thus the structure is not released yet.
            unsafe { release(self) }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is present, thus the structure is not released yet.
            unsafe { release(self) }
        }
    }
}

fn leak<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Drops a value that [`leak`] leaked. Its `Drop` releases the structure unless the reader has moved it.
///
/// # Safety
/// `pointer` is null, or from `boxed` and not dropped yet.
unsafe fn drop_leaked<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller guarantees it.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// # Safety
/// `schema` was created here and is not released yet, as Arrow requires.
unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: `Schema::new` has set `private_data`, children and dictionary.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        parts.children.iter().for_each(|&child| drop_leaked(child));
        drop_leaked(parts.dictionary);
        (*schema).release = None;
    }
}

/// # Safety
/// `array` was created here and is not released yet, as Arrow requires.
unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: `Array::new` has set `private_data`, children and dictionary.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        parts.children.iter().for_each(|&child| drop_leaked(child));
        drop_leaked(parts.dictionary);
        (*array).release = None;
    }
}

/// # Safety
/// `stream` was created here and is not released yet, as Arrow requires; `out` has room for a schema.
unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: `Stream::of` has set `private_data`.
    unsafe {
        let parts = &*(*stream).private_data.cast::<StreamParts>();
        out.write(Schema::table(&parts.columns));
    }
    0
}

/// # Safety
/// `stream` was created here and is not released yet, as Arrow requires; `out` has room for an array.
unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: `Stream::of` has set `private_data`; calls do not overlap.
    unsafe {
        let parts = &mut *(*stream).private_data.cast::<StreamParts>();
        out.write(if parts.is_read { Array::END } else { Array::table(&parts.columns) });
        parts.is_read = true;
    }
    0
}

/// Returns null, since there are no errors.
unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    ptr::null()
}

/// # Safety
/// `stream` was created here and is not released yet, as Arrow requires.
unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: `Stream::of` has set `private_data`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}

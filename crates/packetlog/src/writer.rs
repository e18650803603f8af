//! Writing of packet logs. Rows are collected by column; a background thread encodes and compresses them.

use crate::Error;
use crate::columns::{STEP_BACK_NS, packets_properties, packets_schema};
use crate::pending::Pending;
use crate::rows::Rows;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use record::Record;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Number of rows encoded together, 40 bytes each: 10 MiB per buffer.
const ROW_GROUP_ROWS: usize = 1 << 18;

/// Maximum number of buffers that wait for the encoder. Including the buffer being filled and the one being encoded,
/// memory is bounded by three buffers and one encoded row group.
const WAITING_BUFFERS: usize = 1;

/// Writer of a packet log (Parquet, zstd). Records must come in time order.
///
/// The rows go to `<path>.tmp`; [`finish`](Self::finish) makes the file durable and renames it. Dropping the writer
/// before removes the file. Equal records give equal bytes.
#[derive(Debug)]
pub struct PacketLogWriter {
    rows: Rows,
    /// Minimum time of the next record, ns.
    least_ns: u64,
    /// Maximum backward step of a time, ns.
    step_back_ns: u64,
    written: u64,
    pending: Option<Pending>,
    path: PathBuf,
    encoder: Option<Encoder>,
}

impl PacketLogWriter {
    /// Creates a log with the final name `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::create_with(path.as_ref(), false)
    }

    /// Creates an imported log, whose times may step back by up to [`STEP_BACK_NS`]. Records keep their order.
    pub fn create_as_logged(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::create_with(path.as_ref(), true)
    }

    fn create_with(path: &Path, as_logged: bool) -> Result<Self, Error> {
        let path = path.to_owned();
        let (pending, file) = Pending::create(&path)?;
        let encoder = Encoder::start(&path, file, as_logged)?;
        Ok(Self {
            rows: Rows::with_capacity(ROW_GROUP_ROWS),
            least_ns: 0,
            step_back_ns: if as_logged { STEP_BACK_NS } else { 0 },
            written: 0,
            pending: Some(pending),
            path,
            encoder: Some(encoder),
        })
    }

    /// Adds one row. Returns errors of the background thread (disk full, ...), as does [`finish`](Self::finish).
    #[inline]
    pub fn write(&mut self, record: &Record) -> Result<(), Error> {
        if record.time_ns < self.least_ns || self.encoder.is_none() {
            return Err(self.refused(record));
        }
        self.least_ns = self.least_ns.max(record.time_ns.saturating_sub(self.step_back_ns));
        self.rows.push(record);
        if self.rows.len() >= ROW_GROUP_ROWS { self.hand_over() } else { Ok(()) }
    }

    /// Completes the file and returns the number of rows in it.
    pub fn finish(mut self) -> Result<u64, Error> {
        if self.rows.len() > 0 {
            self.hand_over()?;
        }
        let (Some(encoder), Some(pending)) = (self.encoder.take(), self.pending.take()) else {
            return Err(self.broken());
        };
        pending.commit(encoder.finish(&self.path)?)?;
        Ok(self.written)
    }

    /// Passes the filled buffer to the encoder and takes an empty one.
    #[cold]
    fn hand_over(&mut self) -> Result<(), Error> {
        let Some(encoder) = &self.encoder else { return Err(self.broken()) };
        let full = self.rows.len() as u64;
        let empty = encoder.empty_buffer();
        let rows = std::mem::replace(&mut self.rows, empty);
        if encoder.work.send(Work::Rows(rows)).is_ok() {
            self.written += full;
            return Ok(());
        }
        match self.encoder.take().map(|encoder| encoder.finish(&self.path)) {
            Some(Err(error)) => Err(error),
            _ => Err(self.broken()),
        }
    }

    #[cold]
    fn refused(&self, record: &Record) -> Error {
        if self.encoder.is_none() {
            return self.broken();
        }
        let (now, last) = (record.time_ns, self.least_ns + self.step_back_ns);
        Error::file(&self.path, format!("records must be in time order, but {now} ns follows {last} ns"))
    }

    fn broken(&self) -> Error {
        Error::file(&self.path, "cannot write: an earlier write failed")
    }
}

impl Drop for PacketLogWriter {
    fn drop(&mut self) {
        if let Some(encoder) = self.encoder.take() {
            encoder.abandon();
        }
    }
}

/// Writes `rows` as one row group.
fn encode(rows: &Rows, file: &mut SerializedFileWriter<File>) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    column::<Int64Type>(&mut group, &rows.time_ns)?;
    column::<Int32Type>(&mut group, &rows.flow)?;
    column::<Int32Type>(&mut group, &rows.event)?;
    column::<Int64Type>(&mut group, &rows.seq)?;
    column::<Int32Type>(&mut group, &rows.size_bytes)?;
    column::<Int32Type>(&mut group, &rows.data_bytes)?;
    column::<Int64Type>(&mut group, &rows.one_way_delay_ns)?;
    group.close()?;
    Ok(())
}

/// Writes the next column of a row group.
pub(crate) fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    column_with_gaps::<T>(group, values, None)
}

/// Writes the next column of a row group. A row without a value has level 0 in `levels`. Without `levels`, each row has
/// a value.
pub(crate) fn column_with_gaps<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than the row".to_owned()));
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

enum Work {
    Rows(Rows),
    Finish,
}

/// Background thread with its channels.
#[derive(Debug)]
struct Encoder {
    work: SyncSender<Work>,
    emptied: Receiver<Rows>,
    thread: JoinHandle<Result<Option<File>, Error>>,
}

impl Encoder {
    fn start(path: &Path, file: File, as_logged: bool) -> Result<Self, Error> {
        let (work, todo) = sync_channel(WAITING_BUFFERS);
        let (give_back, emptied) = channel();
        let name = path.to_owned();
        let thread = thread::Builder::new()
            .name("packet-log".to_owned())
            .spawn(move || {
                encode_all(file, as_logged, &todo, &give_back)
                    .map_err(|error| Error::parquet(&name, "write", error))
            })
            .map_err(|e| Error::io(path, "start a thread to write", e))?;
        Ok(Self { work, emptied, thread })
    }

    /// Returns a recycled buffer, or a new one while the pipeline fills.
    fn empty_buffer(&self) -> Rows {
        match self.emptied.try_recv() {
            Ok(rows) => rows,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Rows::with_capacity(ROW_GROUP_ROWS),
        }
    }

    /// Lets the thread complete the file. Returns the file or the error.
    fn finish(self, path: &Path) -> Result<File, Error> {
        // A closed channel means that the thread has failed. Joining it returns the error.
        let _ = self.work.send(Work::Finish);
        match self.thread.join() {
            Ok(Ok(Some(file))) => Ok(file),
            Ok(Ok(None)) => Err(Error::file(path, "cannot write: the writing thread stopped early")),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::file(path, "cannot write: the writing thread panicked")),
        }
    }

    /// Stops the thread without completing the file.
    fn abandon(self) {
        drop(self.work);
        let _ = self.thread.join();
    }
}

/// Writes the rest of a file and returns the file. A failed write is a file error here; `into_inner` would report an
/// error of the format.
pub(crate) fn close(out: SerializedFileWriter<File>) -> Result<File, ParquetError> {
    let file = out.inner().try_clone()?;
    out.close()?;
    Ok(file)
}

/// Runs the background thread: encodes buffers until it gets the finish message. Returns `None` if the writer was
/// dropped before.
fn encode_all(
    file: File,
    as_logged: bool,
    todo: &Receiver<Work>,
    give_back: &Sender<Rows>,
) -> Result<Option<File>, ParquetError> {
    let mut out =
        SerializedFileWriter::new(file, packets_schema()?, Arc::new(packets_properties(as_logged)?))?;
    while let Ok(work) = todo.recv() {
        match work {
            Work::Rows(mut rows) => {
                encode(&rows, &mut out)?;
                rows.clear();
                // The writer may have finished adding rows. Nobody needs the buffer then.
                let _ = give_back.send(rows);
            }
            Work::Finish => return close(out).map(Some),
        }
    }
    Ok(None)
}

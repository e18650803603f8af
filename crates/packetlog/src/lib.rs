//! Packet events on disk: dumbbell's columnar packet log, and readers and writers for the formats of other tools.
//!
//! - [`PacketLogWriter`], [`PacketLogReader`]: the packet log of a run (`packets.parquet`), one [`Record`] per row;
//! - [`SampleWriter`], [`SampleReader`]: sampled state of flows and links (`flows.parquet`, `links.parquet`);
//! - [`write_cells`], [`read_cells`]: tables of named columns, the numbers of many runs (`numbers/N/*.parquet`);
//! - [`pantheon`]: import and export of Pantheon's and mahimahi's logs;
//! - [`qlog`]: import and export of qlog, the log format of QUIC implementations;
//! - [`capture`]: import of packet captures (pcap and pcapng) from one end or both ends.
//!
//! Everything streams in bounded memory, except [`read_samples`] and [`read_cells`]. Files are written under a
//! temporary name, flushed and renamed when complete. Thus a file with its final name is always complete.
//!
//! ```
//! use packetlog::{PacketLogReader, PacketLogWriter};
//! use record::{Event, Record};
//!
//! let path = std::env::temp_dir().join(format!("packetlog-doc-{}.parquet", std::process::id()));
//! let mut writer = PacketLogWriter::create(&path)?;
//! let sent = Record {
//!     time_ns: 1_000,
//!     flow: 1,
//!     event: Event::Send,
//!     seq: 0,
//!     size_bytes: 1500,
//!     data_bytes: 1412,
//!     one_way_delay_ns: 0,
//! };
//! writer.write(&sent)?;
//! assert_eq!(writer.finish()?, 1);
//!
//! let records: Vec<Record> = PacketLogReader::open(&path)?.collect::<Result<_, _>>()?;
//! assert_eq!(records, [sent]);
//! # std::fs::remove_file(&path).ok();
//! # Ok::<(), packetlog::Error>(())
//! ```
#![allow(clippy::disallowed_methods, reason = "this crate reads and writes files")]

pub mod capture;
mod cells;
mod columns;
mod compressed;
mod error;
mod footer;
mod groups;
mod interrupts;
mod pages;
pub mod pantheon;
mod pending;
pub mod qlog;
mod reader;
mod regular;
mod rows;
mod sample_reader;
mod samples;
mod series;
mod thinning;
mod writer;

pub use cells::{CellColumn, Cells, number_names, read_cells, write_cells};
pub use columns::STEP_BACK_NS;
pub use error::Error;
pub use interrupts::Interrupts;
pub use reader::PacketLogReader;
pub use regular::LogFile;
pub use sample_reader::{SampleReader, read_samples};
pub use samples::{Key, Sample, SampleTable, SampleWriter};
pub use series::{Gathered, Points};
pub use thinning::{Extent, Thinning};
pub use writer::PacketLogWriter;

//! Tests of packet logs and of the import and export of other formats.

mod captures;
mod common;
mod footers;
mod interrupts;
mod pantheon_any;
mod pantheon_lenient;
mod pantheon_logs;
mod parquet;
mod qlog;

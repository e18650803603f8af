//! Packet logs, and the formats of others, out and in.

mod captures;
mod common;
mod footers;
mod interrupts;
mod pantheon_any;
mod pantheon_lenient;
mod pantheon_logs;
mod parquet;
mod qlog;

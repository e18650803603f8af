//! Speed of writing, reading and importing logs.
//! Run: `cargo run --release -p packetlog --example speed [GIGABYTES_OF_LOG]` (default 2).
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a measuring program")]

use packetlog::pantheon::{ClockOffsets, Direction, Input, Log, RawPair, import};
use packetlog::{Error, PacketLogReader, PacketLogWriter};
use record::{Event, Record};
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// Number of rows in the packet log.
const ROWS: u64 = 20_000_000;

/// Number of packets in the imported log; each packet is sent and delivered.
const PAIRS: u64 = 5_000_000;

/// Returns packets of flows 1 to 4 on a path of 20 ms with a varying queue: send, deliver, ACK send, ACK deliver.
fn records() -> impl Iterator<Item = Record> {
    let (mut noise, mut queue_ns, mut time_ns) = (0x9e37_79b9_7f4a_7c15u64, 5_000_000i64, 0);
    (0..ROWS).map(move |row| {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        queue_ns = (queue_ns + (noise % 20_001) as i64 - 10_000).clamp(0, 40_000_000);
        time_ns += noise % 60_000;
        let event = [Event::Send, Event::Deliver, Event::AckSend, Event::AckDeliver][(row % 4) as usize];
        let ack = matches!(event, Event::AckSend | Event::AckDeliver);
        Record {
            time_ns,
            flow: (noise >> 32) as u32 % 4 + 1,
            event,
            seq: row / 16 + (row % 4) * 7,
            size_bytes: if ack { 76 } else { 1500 },
            data_bytes: if ack { 0 } else { 1412 },
            one_way_delay_ns: match event {
                Event::Deliver => 20_000_000 + queue_ns,
                Event::AckDeliver => 20_000_000,
                _ => 0,
            },
        }
    })
}

/// Returns the CPU time of this thread, ns (Linux; 0 elsewhere).
fn thread_cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0)
}

/// Returns the CPU time of this process with its ended threads, s (Linux, in steps of 10 ms; 0 elsewhere).
fn process_cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program name in parentheses may contain spaces. User and system time follow 12 fields later.
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Returns the peak memory use of this process, MiB (Linux; 0 elsewhere).
fn peak_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn write(path: &Path) -> Result<(), Error> {
    let before = thread_cpu_ns();
    let sum = records().fold(0u64, |sum, r| sum.wrapping_add(r.time_ns ^ r.seq));
    let making_ns = thread_cpu_ns() - before;
    let (before, start) = (thread_cpu_ns(), Instant::now());
    let mut writer = PacketLogWriter::create(path)?;
    for record in records() {
        writer.write(&record)?;
    }
    let caller_ns = (thread_cpu_ns() - before - making_ns) / ROWS as f64;
    let rows = writer.finish()?;
    let speed = rows as f64 / start.elapsed().as_secs_f64() / 1e6;
    let bytes = std::fs::metadata(path).map_or(0, |m| m.len()) as f64 / rows as f64;
    println!(
        "write: {speed:.1} M records/s, {bytes:.2} bytes/record, the caller pays {caller_ns:.1} ns/record, peak {} MiB ({sum:x})",
        peak_mib()
    );
    Ok(())
}

fn read(path: &Path) -> Result<(), Error> {
    let (start, mut sum) = (Instant::now(), 0u64);
    let rows = PacketLogReader::open(path)?.for_each(|r| sum = sum.wrapping_add(r.time_ns ^ r.seq))?;
    let speed = rows as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!("read: {speed:.1} M records/s, peak {} MiB ({sum:x})", peak_mib());
    Ok(())
}

/// Log of any length without a disk. `chunk` writes the next text.
struct Endless<F> {
    chunk: F,
    text: Vec<u8>,
    at: usize,
    left: u64,
}

impl<F: FnMut(&mut Vec<u8>)> Read for Endless<F> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.text.len() {
            if self.left == 0 {
                return Ok(0);
            }
            self.text.clear();
            (self.chunk)(&mut self.text);
            self.left = self.left.saturating_sub(self.text.len() as u64);
            self.at = 0;
        }
        let length = out.len().min(self.text.len() - self.at);
        out[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn endless(name: &str, header: &str, bytes: u64, chunk: impl FnMut(&mut Vec<u8>) + Send + 'static) -> Input {
    Input::new(name, Endless { chunk, text: header.as_bytes().to_vec(), at: 0, left: bytes })
}

/// Returns a function that writes one second of a log. Each call fills in the digits of the next second.
fn seconds(lines: &[(u32, &str)]) -> impl FnMut(&mut Vec<u8>) + Send + 'static {
    let mut second = 99_999;
    let mut text = Vec::new();
    let mut places = Vec::new();
    for (us, rest) in lines {
        places.push(text.len());
        text.extend_from_slice(format!("SSSSSS{:03}.{:03} {rest}\n", us / 1000, us % 1000).as_bytes());
    }
    move |out| {
        second += 1;
        let digits = format!("{second:06}");
        out.extend_from_slice(&text);
        for place in &places {
            out[*place..place + 6].copy_from_slice(digits.as_bytes());
        }
    }
}

fn merged(bytes: u64) -> Input {
    let kinds = ["+ 1500 1", "- 1500 28.643 2", "# 1500"];
    let lines: Vec<_> = (0..20_000).map(|line| (line * 50, kinds[line as usize % 3])).collect();
    endless("merged", "# init timestamp: 1744824396327.000\n", bytes, seconds(&lines))
}

fn mm_link(bytes: u64) -> Input {
    let kinds = ["+ 1504", "- 1504 28", "# 1504"];
    let (mut ms, mut line) = (100_000_000u64, 0usize);
    endless("mm-link", "# base timestamp: 0\n", bytes, move |out| {
        for _ in 0..20_000 {
            line += 1;
            ms += u64::from(line.is_multiple_of(20));
            out.extend_from_slice(ms.to_string().as_bytes());
            out.push(b' ');
            out.extend_from_slice(kinds[line % 3].as_bytes());
            out.push(b'\n');
        }
    })
}

fn raw(name: &str, first_us: u32, bytes: u64) -> Input {
    let (mut uid, mut us) = (0u64, u64::from(first_us));
    endless(name, &format!("# '{name}': 1744824396327.000\n"), bytes, move |out| {
        use std::io::Write;
        for _ in 0..10_000 {
            let _ = writeln!(out, "{}.{:03} - {uid} - 1500", us / 1000, us % 1000);
            (uid, us) = (uid + 1, us + 50);
        }
    })
}

fn imported(what: &str, log: Log, bytes: u64) -> Result<(), Error> {
    let (start, mut sum) = (Instant::now(), 0u64);
    let found = import(log, Direction::Data, &mut |record| {
        sum = sum.wrapping_add(record.time_ns);
        Ok(())
    })?;
    let wall = start.elapsed().as_secs_f64();
    println!(
        "import {what}: {:.1} M lines/s, {:.0} MB/s, {} lines, peak {} MiB ({sum:x})",
        found.lines as f64 / wall / 1e6,
        bytes as f64 / wall / 1e6,
        found.lines,
        peak_mib()
    );
    Ok(())
}

/// Imports a log into a durable packet log, as `dumbbell import` does.
fn imported_into(path: &Path, log: Vec<u8>) -> Result<(), Error> {
    let (cpu_s, start) = (process_cpu_s(), Instant::now());
    let mut writer = PacketLogWriter::create(path)?;
    let found = import(
        Log::Merged(Input::new("merged", std::io::Cursor::new(log))),
        Direction::Data,
        &mut |record| writer.write(&record),
    )?;
    writer.finish()?;
    let (cpu_s, wall) = (process_cpu_s() - cpu_s, start.elapsed().as_secs_f64());
    let (lines, lasting) = (found.lines as f64 / 1e6, std::fs::metadata(path).map_or(0, |file| file.len()));
    println!(
        "import merged log into a packet log of {lasting} bytes: {:.1} M lines/s, {:.1} M lines/s and core",
        lines / wall,
        lines / cpu_s
    );
    Ok(())
}

/// Returns an in-memory log of one flow's packets.
fn whole_log() -> Vec<u8> {
    let mut text = b"# init timestamp: 1514764800000.000\n".to_vec();
    for pair in 0..PAIRS {
        use std::io::Write;
        let us = pair * 120;
        let _ = writeln!(text, "{}.{:03} + 1500 1", us / 1000, us % 1000);
        let us = us + 50;
        let _ = writeln!(text, "{}.{:03} - 1500 28.643 1", us / 1000, us % 1000);
    }
    text
}

fn main() -> Result<(), Error> {
    let gigabytes: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let bytes = (gigabytes * 1e9) as u64;
    imported("merged log (its making included)", Log::Merged(merged(bytes)), bytes)?;
    imported("mm-link log (its making included)", Log::MmLink(mm_link(bytes / 2)), bytes / 2)?;
    let (egress, ingress) = (raw("egress", 0, bytes / 4), raw("ingress", 30_000_000, bytes / 4));
    let pair = RawPair { egress, ingress, offsets: ClockOffsets::default() };
    imported("raw pair (its making included)", Log::Raw(pair), bytes / 2)?;
    let path = std::env::temp_dir().join(format!("packetlog-speed-{}.parquet", std::process::id()));
    imported_into(&path, whole_log())?;
    write(&path)?;
    read(&path)?;
    std::fs::remove_file(&path).map_err(|source| Error::Io { path, doing: "remove", source })
}

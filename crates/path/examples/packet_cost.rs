//! Benchmark of the time per packet through link, droptail queue and delay: `cargo run --release -p path --example
//! packet_cost`.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use path::{Direction, ElementSpec, NoTap, Packet};
use std::error::Error;
use std::time::Instant;
use units::{Span, Time};

const PACKETS: u64 = 500_000;
/// Number of rounds; the fastest counts, because other work on the machine slows down the others.
const ROUNDS: u32 = 40;

/// Packets kept in the path, as by a flow with a standing queue.
const WINDOW: u64 = 300;

fn direction(json: &str) -> Result<Direction, Box<dyn Error>> {
    let elements: Vec<ElementSpec> = serde_json::from_str(json)?;
    let mut direction = Direction::build(&elements, "data", 1)?;
    direction.work_ahead();
    Ok(direction)
}

/// Returns the ns per packet if every packet that leaves sends a new one, as an ACK-clocked sender does.
fn closed_loop(json: &str) -> Result<f64, Box<dyn Error>> {
    let mut direction = direction(json)?;
    let (mut sent, mut left) = (0, 0);
    while sent < WINDOW {
        direction.arrive(Time::ZERO, Packet::new(0, sent, 1500, 0, Time::ZERO), &mut NoTap);
        sent += 1;
    }
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let start = Instant::now();
    while left < PACKETS {
        let now = direction.next_event();
        direction.advance(now, &mut NoTap);
        while direction.pop().is_some() {
            left += 1;
            direction.arrive(now, Packet::new(0, sent, 1500, 0, now), &mut NoTap);
            sent += 1;
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / left as f64)
}

/// Returns the ns per packet if packets come at 90 % of the link's rate and find the link idle.
fn paced(json: &str, gap: Span) -> Result<f64, Box<dyn Error>> {
    let mut direction = direction(json)?;
    let (mut now, mut left) = (Time::ZERO, 0u64);
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let start = Instant::now();
    for number in 0..PACKETS {
        now += gap;
        while direction.next_event() < now {
            direction.advance(direction.next_event(), &mut NoTap);
        }
        direction.arrive(now, Packet::new(0, number, 1500, 0, now), &mut NoTap);
        while direction.pop().is_some() {
            left += 1;
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / left as f64)
}

fn best(round: impl Fn() -> Result<f64, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    (0..ROUNDS).try_fold(f64::INFINITY, |best, _| Ok(best.min(round()?)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let link = r#"[{"kind": "link", "rate_mbps": 100.42, "queue": {"kind": "droptail", "packets": 173}},
                   {"kind": "delay", "delay_ms": 20}]"#;
    let trace = r#"[{"kind": "trace", "even": {"lines": 502100, "period_ms": 60000}, "mode": "mahimahi",
                     "queue": {"kind": "droptail", "packets": 173}},
                    {"kind": "loss", "probability": 0.0}, {"kind": "delay", "delay_ms": 20}]"#;
    println!("link, droptail, delay, closed loop: {:.1} ns per packet", best(|| closed_loop(link))?);
    println!("link, droptail, delay, paced: {:.1} ns per packet", best(|| paced(link, Span::from_us(133)))?);
    println!("trace, droptail, loss, delay, closed loop: {:.1} ns per packet", best(|| closed_loop(trace))?);
    Ok(())
}

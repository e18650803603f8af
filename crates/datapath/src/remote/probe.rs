//! Bursts of numbered packets from one side to the other, and when they arrived: packet trains, whose spacing behind the
//! narrowest link tells its rate (Dovrolis, Ramanathan, Moore, INFOCOM 2001; Jain, Dovrolis, SIGCOMM 2002), and packets of
//! every ECN codepoint, which tell what becomes of it.

use super::port::Port;
use crate::Error;
use endpoint::{
    Clock, ENVELOPE_BYTES, IP_UDP_BYTES, Kind, Scheduled, Urgency, monotonic_ns, set_type_of_service,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::time::{Duration, Instant};
use strict_input::Refusal;
use units::Time;

/// Smallest packet, bytes: nothing in the envelope.
const LEAST_BYTES: u32 = IP_UDP_BYTES + ENVELOPE_BYTES as u32;
/// Largest packet, bytes.
const MOST_BYTES: u32 = 9000;
/// Packets of one burst: what sockets and devices have room for.
const MOST_PACKETS: u32 = 400;
/// All bytes that are sent.
const MOST_IN_ALL: u64 = 100_000_000;
const MOST_SECONDS: f64 = 600.0;
/// Packets of the peer that are kept: a peer that sends more than is asked for fills no memory.
const MOST_ARRIVED: usize = 1 << 16;

/// What a side sends, and how long it listens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// In order of time.
    pub bursts: Vec<Burst>,
    /// s.
    pub seconds: f64,
}

/// Packets that leave as fast as this machine can send them.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Since the beginning, s.
    pub at_s: f64,
    /// How many.
    pub packets: u32,
    /// Length of each, headers of IP and UDP among them.
    pub bytes: u32,
    /// Their ECN codepoint, 0 to 3 (RFC 3168, section 5).
    pub ecn: u8,
}

/// What was sent, and what came meanwhile.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Probed {
    /// Of each burst: number of its first packet, when that left and when all had left, ns of this machine's clock.
    pub sent: Vec<(u64, u64, u64)>,
    /// Of each packet of the peer: number, when it left by the peer's clock and when it came, ns; bytes; ECN codepoint.
    pub arrived: Vec<(u64, u64, u64, u32, u8)>,
    /// Packets that came twice.
    pub duplicates: u64,
}

impl Probe {
    /// Refuses what nobody should be sent.
    ///
    /// # Errors
    /// One line: the key, its value and what is allowed.
    fn check(&self) -> Result<(), Refusal> {
        if !(0.0..=MOST_SECONDS).contains(&self.seconds) {
            return Err(Refusal::of_value(
                "seconds",
                self.seconds,
                format!("allowed is 0 to {MOST_SECONDS}"),
            )
            .at("probe"));
        }
        let mut bytes = 0;
        for (index, burst) in self.bursts.iter().enumerate() {
            let refused = |key: &str, value: f64, allowed: String| {
                Refusal::of_value(format!("bursts[{index}].{key}"), value, format!("allowed is {allowed}"))
                    .at("probe")
            };
            if !(0.0..=self.seconds).contains(&burst.at_s) {
                return Err(refused("at_s", burst.at_s, format!("0 to {}", self.seconds)));
            }
            if !(1..=MOST_PACKETS).contains(&burst.packets) {
                return Err(refused("packets", burst.packets.into(), format!("1 to {MOST_PACKETS}")));
            }
            if !(LEAST_BYTES..=MOST_BYTES).contains(&burst.bytes) {
                return Err(refused("bytes", burst.bytes.into(), format!("{LEAST_BYTES} to {MOST_BYTES}")));
            }
            if burst.ecn > 3 {
                return Err(refused("ecn", burst.ecn.into(), "0 to 3".to_owned()));
            }
            bytes += u64::from(burst.packets) * u64::from(burst.bytes);
        }
        if bytes > MOST_IN_ALL {
            return Err(Refusal::of_key(
                "probe",
                format!("{bytes} bytes in all: at most {MOST_IN_ALL} are sent"),
            ));
        }
        Ok(())
    }
}

/// Sends and listens.
///
/// # Errors
/// One line: what is not allowed, what the socket refused.
pub(super) fn probe(
    port: &mut Port,
    probe: &Probe,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Probed, Error> {
    probe.check()?;
    // A thread of its own: its priority is nobody else's.
    std::thread::scope(|scope| {
        let work = move || {
            let _punctual = Scheduled::punctual(Urgency::End);
            carry_out(port, probe, stop).map_err(|error| Error::system("probe", error))
        };
        scope.spawn(work).join().unwrap_or_else(|_| Err(Error::Panicked("probe: a thread")))
    })
}

fn carry_out(port: &mut Port, probe: &Probe, stop: &dyn Fn() -> bool) -> io::Result<Probed> {
    let begin = Instant::now();
    let seconds = |s: f64| begin + Duration::from_secs_f64(s);
    let replayed = port.guard.guarded().replayed;
    let mut probed = Probed::default();
    let mut bursts = probe.bursts.iter().peekable();
    let until = seconds(probe.seconds);
    while Instant::now() < until && !stop() {
        if let Some(burst) = bursts.next_if(|burst| Instant::now() >= seconds(burst.at_s)) {
            probed.sent.push(send(port, burst)?);
        }
        collect(port, &mut probed)?;
        let next = bursts.peek().map_or(until, |burst| seconds(burst.at_s).min(until));
        // Waiting is in whole milliseconds: the last one is not slept through.
        let left = next.saturating_duration_since(Instant::now());
        port.wait(left.saturating_sub(Duration::from_millis(1)).min(Duration::from_millis(20)))?;
    }
    set_type_of_service(&port.socket, 0)?;
    probed.duplicates = port.guard.guarded().replayed - replayed;
    Ok(probed)
}

fn send(port: &mut Port, burst: &Burst) -> io::Result<(u64, u64, u64)> {
    set_type_of_service(&port.socket, burst.ecn)?;
    let body = vec![0; (burst.bytes - LEAST_BYTES) as usize];
    let first = port.next_number();
    let begin_ns = monotonic_ns();
    for _ in 0..burst.packets {
        port.put(Kind::Packet, &body);
    }
    while !port.flush()? {
        port.wait_to_send(Duration::from_millis(20))?;
    }
    Ok((first, begin_ns, monotonic_ns()))
}

fn collect(port: &mut Port, probed: &mut Probed) -> io::Result<()> {
    let (clock, now) = (Clock::starting_at(0), Time::from_ns(monotonic_ns()));
    loop {
        let mut any = false;
        port.receive(|datagram, length, taken| {
            any = true;
            if taken.kind == Kind::Packet && probed.arrived.len() < MOST_ARRIVED {
                let now = now.max(Time::from_ns(monotonic_ns()));
                let arrived_ns = datagram.arrived(clock, now).as_ns();
                let bytes = length as u32 + IP_UDP_BYTES;
                probed.arrived.push((taken.number, taken.stamp_ns, arrived_ns, bytes, datagram.tos & 3));
            }
        })?;
        if !any {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use endpoint::Key;
    use std::net::{Ipv4Addr, SocketAddrV4};

    fn pair() -> (Port, Port) {
        let sockets = [(); 2].map(|()| super::super::port::open(None).unwrap());
        let at = |index: usize| {
            let port: u16 = sockets[index].local_addr().unwrap().port();
            SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
        };
        let (there, back) = (at(1), at(0));
        let [key, other] = ["11", "22"].map(|digits| Key::from_hex(&digits.repeat(32)).unwrap());
        let [near, far] = sockets;
        (Port::new(near, there, &key, &other), Port::new(far, back, &other, &key))
    }

    #[test]
    #[ignore = "real time: make test-real"]
    fn what_is_sent_arrives_with_its_length_and_codepoint() {
        let (mut near, mut far) = pair();
        let burst = |at_s, packets, bytes, ecn| Burst { at_s, packets, bytes, ecn };
        let bursts = vec![burst(0.0, 50, 1500, 2), burst(0.05, 1, LEAST_BYTES, 1), burst(0.1, 2, 1000, 0)];
        let sends = Probe { bursts, seconds: 0.2 };
        let listens = Probe { bursts: Vec::new(), seconds: 1.0 };
        let (sent, heard) = std::thread::scope(|scope| {
            let far = scope.spawn(|| probe(&mut far, &listens, &|| false).unwrap());
            (probe(&mut near, &sends, &|| false).unwrap(), far.join().unwrap())
        });
        let firsts: Vec<u64> = sent.sent.iter().map(|burst| burst.0).collect();
        assert_eq!(firsts, [0, 50, 51]);
        assert!(sent.sent.iter().all(|(_, begin, end)| begin <= end));
        let seen: Vec<_> =
            heard.arrived.iter().map(|(number, _, _, bytes, ecn)| (*number, *bytes, *ecn)).collect();
        let train = (0..50).map(|number| (number, 1500, 2));
        let expected: Vec<_> = train.chain([(50, LEAST_BYTES, 1), (51, 1000, 0), (52, 1000, 0)]).collect();
        assert_eq!(seen, expected);
        assert!(heard.arrived.iter().all(|(_, left, came, ..)| left <= came && came - left < 1_000_000_000));
        assert_eq!(heard.duplicates, 0);
    }

    #[test]
    fn what_nobody_should_be_sent_is_refused() {
        let refusal = |text: &str| {
            let read: Probe = serde_json::from_str(text).unwrap();
            read.check().unwrap_err().to_string()
        };
        let one = |burst: &str| refusal(&format!(r#"{{"bursts": [{burst}], "seconds": 1.0}}"#));
        assert!(
            one(r#"{"at_s": 2.0, "packets": 1, "bytes": 100, "ecn": 0}"#)
                .contains("at_s = 2: allowed is 0 to 1")
        );
        assert!(one(r#"{"at_s": 0, "packets": 401, "bytes": 100, "ecn": 0}"#).contains("packets = 401"));
        assert!(one(r#"{"at_s": 0, "packets": 1, "bytes": 59, "ecn": 0}"#).contains("bytes = 59"));
        assert!(one(r#"{"at_s": 0, "packets": 1, "bytes": 100, "ecn": 4}"#).contains("ecn = 4"));
        assert!(refusal(r#"{"bursts": [], "seconds": 601}"#).contains("seconds = 601"));
        let much = [r#"{"at_s": 0, "packets": 400, "bytes": 9000, "ecn": 0}"#; 28].join(",");
        assert!(one(&much).contains("100800000 bytes in all"));
    }
}

//! The command line.

use crate::error::Error;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

pub(crate) const HELP: &str = "\
dumbbell-quic: bulk data over QUIC (quiche)

usage:
  dumbbell-quic receive --listen IP:PORT
  dumbbell-quic send IP:PORT (--duration S | --bytes N) [options]

options of send:
  --cc NAME            congestion control: cubic (default), reno or bbr2
  --duration S         stop after S seconds
  --bytes N            stop when N bytes have arrived
  --max-datagram N     largest UDP payload in bytes, 1200 to 9000 (default 1350)
  --stats              print one line of JSON per interval
  --stats-interval S   the interval in seconds, 0.001 to 60 (default 0.1)
";

/// What to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    Version,
    Receive { listen: SocketAddr },
    Send(SendOptions),
}

/// Options of `send`.
#[derive(Debug, PartialEq)]
pub(crate) struct SendOptions {
    pub(crate) peer: SocketAddr,
    /// Name of the algorithm, as quiche knows it.
    pub(crate) congestion_control: String,
    pub(crate) duration: Option<Duration>,
    pub(crate) bytes: Option<u64>,
    /// Largest UDP payload, bytes.
    pub(crate) max_datagram: usize,
    /// Interval of the lines of statistics; none without `--stats`.
    pub(crate) statistics: Option<Duration>,
}

/// Reads the words after the program's name. The error is one line.
pub(crate) fn parse(words: &[String]) -> Result<Command, Error> {
    let mut words = words.iter().map(String::as_str);
    match words.next() {
        Some("receive") => parse_receive(words),
        Some("send") => parse_send(words),
        Some("--help" | "-h") => Ok(Command::Help),
        Some("--version") => Ok(Command::Version),
        Some(other) => {
            Err(Error::usage(format!("no command {other:?}; allowed: receive, send (--help explains)")))
        }
        None => Err(Error::usage("a command is missing; allowed: receive, send (--help explains)")),
    }
}

fn parse_receive<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Command, Error> {
    let mut listen = None;
    while let Some(word) = words.next() {
        match word {
            "--listen" => listen = Some(address(word, words.next())?),
            "--help" | "-h" => return Ok(Command::Help),
            _ => {
                return Err(Error::usage(format!(
                    "receive: unknown argument {word:?}; allowed: --listen IP:PORT"
                )));
            }
        }
    }
    let listen = listen.ok_or_else(|| Error::usage("receive: --listen IP:PORT is missing"))?;
    Ok(Command::Receive { listen })
}

fn parse_send<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Command, Error> {
    let mut peer = None;
    let mut congestion_control = "cubic".to_owned();
    let mut duration = None;
    let mut bytes = None;
    let mut max_datagram = 1350;
    let mut statistics = false;
    let mut interval = 0.1;
    while let Some(word) = words.next() {
        match word {
            "--cc" => {
                let name = words.next().unwrap_or("");
                if !["cubic", "reno", "bbr2"].contains(&name) {
                    return Err(Error::usage(format!("--cc {name:?}; allowed: cubic, reno, bbr2")));
                }
                name.clone_into(&mut congestion_control);
            }
            "--duration" => {
                duration = Some(number(word, words.next(), 0.001..=1e6, "seconds, 0.001 to 1000000")?);
            }
            "--bytes" => bytes = Some(number(word, words.next(), 1..=u64::MAX, "a whole number from 1")?),
            "--max-datagram" => {
                max_datagram = number(word, words.next(), 1200..=9000, "a whole number, 1200 to 9000")?;
            }
            "--stats" => statistics = true,
            "--stats-interval" => {
                interval = number(word, words.next(), 0.001..=60.0, "seconds, 0.001 to 60")?;
            }
            "--help" | "-h" => return Ok(Command::Help),
            _ if word.starts_with('-') => {
                return Err(Error::usage(format!("send: unknown option {word:?} (--help lists them)")));
            }
            _ if peer.is_none() => peer = Some(address("send", Some(word))?),
            _ => return Err(Error::usage(format!("send: one address only, found {word:?} too"))),
        }
    }
    if duration.is_none() && bytes.is_none() {
        return Err(Error::usage("send: --duration S or --bytes N is missing"));
    }
    Ok(Command::Send(SendOptions {
        peer: peer.ok_or_else(|| Error::usage("send: the receiver's IP:PORT is missing"))?,
        congestion_control,
        duration: duration.map(Duration::from_secs_f64),
        bytes,
        max_datagram,
        statistics: statistics.then(|| Duration::from_secs_f64(interval)),
    }))
}

fn address(option: &str, word: Option<&str>) -> Result<SocketAddr, Error> {
    let word = word.unwrap_or("");
    word.parse().map_err(|_| {
        Error::usage(format!("{option} {word:?}; allowed: IP:PORT, for example 10.0.0.1:5000 or [::1]:5000"))
    })
}

fn number<T: FromStr + PartialOrd>(
    option: &str,
    word: Option<&str>,
    range: RangeInclusive<T>,
    allowed: &str,
) -> Result<T, Error> {
    let word = word.unwrap_or("");
    word.parse()
        .ok()
        .filter(|value| range.contains(value))
        .ok_or_else(|| Error::usage(format!("{option} {word:?}; allowed: {allowed}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Command, String> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn send_takes_every_option() {
        let command = parse_line(
            "send 10.0.0.1:5000 --cc bbr2 --duration 2.5 --bytes 7 --max-datagram 1400 --stats --stats-interval 0.5",
        );
        assert_eq!(
            command,
            Ok(Command::Send(SendOptions {
                peer: "10.0.0.1:5000".parse().unwrap(),
                congestion_control: "bbr2".to_owned(),
                duration: Some(Duration::from_millis(2500)),
                bytes: Some(7),
                max_datagram: 1400,
                statistics: Some(Duration::from_millis(500)),
            }))
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        for (line, expected) in [
            ("", "a command is missing; allowed: receive, send (--help explains)"),
            ("receive", "receive: --listen IP:PORT is missing"),
            (
                "receive --listen 5000",
                "--listen \"5000\"; allowed: IP:PORT, for example 10.0.0.1:5000 or [::1]:5000",
            ),
            ("send 10.0.0.1:1", "send: --duration S or --bytes N is missing"),
            ("send --duration 1", "send: the receiver's IP:PORT is missing"),
            ("send 10.0.0.1:1 --duration nan", "--duration \"nan\"; allowed: seconds, 0.001 to 1000000"),
            ("send 10.0.0.1:1 --cc vegas", "--cc \"vegas\"; allowed: cubic, reno, bbr2"),
            (
                "send 10.0.0.1:1 --max-datagram 100",
                "--max-datagram \"100\"; allowed: a whole number, 1200 to 9000",
            ),
        ] {
            assert_eq!(parse_line(line), Err(expected.to_owned()), "{line}");
        }
    }
}

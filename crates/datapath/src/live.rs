//! A run while it goes on, as a small file that is written anew several times a second, for whoever watches.

use crate::direction_thread::Gauges;
use endpoint::{Board, Meter, Reading, Shown};
use path::LinkTally;
use runs::RunSpec;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use units::{Span, Time};

/// Time between two writes of the file.
const INTERVAL: Span = Span::from_ms(200);

/// Where a run is shown while it goes on. The file is there from soon after the start of the run until its end.
#[derive(Clone, Debug)]
pub struct LiveFile {
    /// The file; a name with `.tmp` behind it is used too.
    pub file: PathBuf,
    /// Which attempt at the run this is, from 1.
    pub attempt: u32,
}

/// The content of the file. Bytes and packets are counted from the start of the run.
#[derive(Debug, Serialize)]
struct Content<'a> {
    at_s: f64,
    /// `None` where nobody knows how long it lasts.
    duration_s: Option<f64>,
    attempt: u32,
    flows: Vec<FlowContent<'a>>,
    links: Vec<LinkContent>,
}

#[derive(Debug, Serialize)]
struct FlowContent<'a> {
    flow: usize,
    scheme: &'a str,
    sent_bytes: u64,
    delivered_bytes: u64,
    delivered_packets: u64,
    /// One-way delays since the content before this; `None` where no packet arrived, or nobody knows them.
    delay_ms: Option<DelayContent>,
    state: Vec<StateContent>,
}

#[derive(Debug, Serialize)]
struct DelayContent {
    p50: f64,
    p95: f64,
    max: f64,
}

#[derive(Debug, Serialize)]
struct StateContent {
    name: &'static str,
    unit: &'static str,
    value: f64,
}

#[derive(Debug, Serialize)]
struct LinkContent {
    name: String,
    queue_packets: u64,
    queue_bytes: u64,
    dropped_packets: u64,
    marked_packets: u64,
    delivered_bytes: u64,
    /// Bytes that it could have sent; 0 for a link without a rate.
    offered_bytes: u64,
}

impl LinkContent {
    fn of(direction: &str, link: &LinkTally) -> Self {
        Self {
            name: format!("{direction}/{}", link.name),
            queue_packets: link.queue_packets,
            queue_bytes: link.queue_bytes,
            dropped_packets: link.packets_dropped,
            marked_packets: link.packets_marked,
            delivered_bytes: link.bytes_out,
            offered_bytes: u64::try_from(link.capacity_bits / 8).unwrap_or(u64::MAX),
        }
    }
}

impl From<&Shown> for StateContent {
    fn from(&Shown { name, unit, value }: &Shown) -> Self {
        Self { name, unit, value }
    }
}

/// A flow as it is shown: its name, who counts its packets, who knows its state.
struct FlowSource<'a> {
    scheme: &'a str,
    read: Box<dyn Fn() -> Reading + 'a>,
    board: Option<&'a Board>,
    before: Reading,
}

/// Writes the file when that is due, and removes it in the end.
pub(crate) struct Publisher<'a> {
    to: Option<&'a LiveFile>,
    duration: Option<Span>,
    flows: Vec<FlowSource<'a>>,
    links: &'a [Arc<Gauges>],
    next: Time,
}

impl<'a> Publisher<'a> {
    /// Shows an emulated run: both directions of the path count packets.
    pub(crate) fn of_run(
        to: Option<&'a LiveFile>,
        spec: &'a RunSpec,
        gauges: &'a [Arc<Gauges>; 2],
        boards: &'a [Board],
    ) -> Self {
        let flows = spec.flows.iter().zip(boards).enumerate().map(|(index, (flow, board))| {
            let direction = &gauges[usize::from(flow.reverse)];
            FlowSource {
                scheme: &flow.scheme,
                read: Box::new(move || direction.meters[index].read()),
                board: Some(board),
                before: Reading::default(),
            }
        });
        Self { to, duration: Some(spec.duration()), flows: flows.collect(), links: gauges, next: Time::ZERO }
    }

    /// Shows a side of a run between two machines: the ends count packets, or the tunnels that they are behind.
    pub(crate) fn of_side(
        to: Option<&'a LiveFile>,
        spec: &'a RunSpec,
        known: impl Iterator<Item = (&'a Board, &'a Meter)>,
    ) -> Self {
        let flows = spec.flows.iter().zip(known).map(|(flow, (board, meter))| FlowSource {
            scheme: &flow.scheme,
            read: Box::new(|| meter.read()),
            board: Some(board),
            before: Reading::default(),
        });
        Self { to, duration: Some(spec.duration()), flows: flows.collect(), links: &[], next: Time::ZERO }
    }

    /// Shows a path with a command inside: what it sends, and what it receives.
    pub(crate) fn of_path(to: Option<&'a LiveFile>, gauges: &'a [Arc<Gauges>; 2]) -> Self {
        let flows = gauges.iter().zip(["up", "down"]).map(|(direction, scheme)| FlowSource {
            scheme,
            read: Box::new(|| direction.meters[0].read()),
            board: None,
            before: Reading::default(),
        });
        Self { to, duration: None, flows: flows.collect(), links: gauges, next: Time::ZERO }
    }

    /// Writes the file if that is due. One that cannot be written is no reason to end a run.
    pub(crate) fn publish(&mut self, now: Time) {
        let Some(to) = self.to.filter(|_| now >= self.next && now > Time::ZERO) else { return };
        self.next = now + INTERVAL;
        if let Err(why) = self.write(to, now) {
            tracing::warn!(file = %to.file.display(), %why, "the run cannot be shown while it goes on");
            self.to = None;
        }
    }

    fn write(&mut self, to: &LiveFile, now: Time) -> io::Result<()> {
        let content = serde_json::to_vec(&self.content(to.attempt, now))?;
        let temporary = temporary(to);
        fs::write(&temporary, content)?;
        fs::rename(temporary, &to.file)
    }

    fn content(&mut self, attempt: u32, now: Time) -> Content<'a> {
        let flows = self.flows.iter_mut().enumerate().map(|(index, flow)| {
            let reading = (flow.read)();
            let delays = reading.delays_ms(&flow.before, [50.0, 95.0, 100.0]);
            let (sent_bytes, delivered_bytes) = (reading.sent_bytes, reading.delivered_bytes);
            let delivered_packets = reading.delivered_packets;
            flow.before = reading;
            FlowContent {
                flow: index + 1,
                scheme: flow.scheme,
                sent_bytes,
                delivered_bytes,
                delivered_packets,
                delay_ms: delays.map(|[p50, p95, max]| DelayContent { p50, p95, max }),
                state: flow
                    .board
                    .map_or_else(Vec::new, Board::state)
                    .iter()
                    .map(StateContent::from)
                    .collect(),
            }
        });
        let flows = flows.collect();
        let links = self.links.iter().zip(["data", "ack"]).flat_map(|(gauges, direction)| {
            let links = gauges.shown_links();
            links.iter().map(|link| LinkContent::of(direction, link)).collect::<Vec<_>>()
        });
        Content {
            at_s: now.as_secs_f64(),
            duration_s: self.duration.map(Span::as_secs_f64),
            attempt,
            flows,
            links: links.collect(),
        }
    }
}

impl Drop for Publisher<'_> {
    fn drop(&mut self) {
        if let Some(to) = self.to {
            // It may never have been written.
            let _removed = fs::remove_file(&to.file);
            let _removed = fs::remove_file(temporary(to));
        }
    }
}

fn temporary(to: &LiveFile) -> PathBuf {
    let mut name = to.file.clone().into_os_string();
    name.push(".tmp");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("live-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn the_file_shows_what_passed_and_goes_with_its_writer() {
        let folder = folder("shows");
        let to = LiveFile { file: folder.join("0.live.json"), attempt: 2 };
        let gauges = [1, 1].map(|ports| Arc::new(Gauges::of(ports)));
        gauges[0].meters[0].sent(3000);
        gauges[0].meters[0].delivered(1500);
        gauges[0].meters[0].delayed(Span::from_ms(40));
        let link = LinkTally {
            name: "bottleneck".to_owned(),
            queue_packets: 7,
            capacity_bits: 80,
            ..LinkTally::default()
        };
        gauges[0].show(|links| links.push(link));
        let mut publisher = Publisher::of_path(Some(&to), &gauges);
        publisher.publish(Time::ZERO);
        assert!(!to.file.exists());
        publisher.publish(at(50));
        let read = || serde_json::from_slice::<Value>(&fs::read(&to.file).unwrap()).unwrap();
        let found = read();
        assert_eq!(
            (&found["at_s"], &found["attempt"], &found["duration_s"]),
            (&0.05.into(), &2.into(), &Value::Null)
        );
        let up = &found["flows"][0];
        assert_eq!(
            (&up["scheme"], &up["sent_bytes"], &up["delivered_bytes"]),
            (&"up".into(), &3000.into(), &1500.into())
        );
        assert!((up["delay_ms"]["p95"].as_f64().unwrap() - 40.0).abs() < 3.0);
        let link = &found["links"][0];
        assert_eq!((&link["name"], &link["queue_packets"]), (&"data/bottleneck".into(), &7.into()));
        assert_eq!(link["offered_bytes"], 10);
        gauges[1].meters[0].delivered(60);
        publisher.publish(at(100));
        assert_eq!(read()["at_s"], 0.05, "too early");
        publisher.publish(at(250));
        assert_eq!(
            (&read()["flows"][0]["delay_ms"], &read()["flows"][1]["delivered_bytes"]),
            (&Value::Null, &60.into())
        );
        drop(publisher);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_written_is_given_up() {
        let to = LiveFile { file: folder("gone").join("nothing/0.live.json"), attempt: 1 };
        let gauges = [1, 1].map(|ports| Arc::new(Gauges::of(ports)));
        let mut publisher = Publisher::of_path(Some(&to), &gauges);
        publisher.publish(at(50));
        assert!(publisher.to.is_none());
    }
}

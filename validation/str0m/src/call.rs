//! The call: two peers, the path between them, a camera at the sender, one virtual clock.

use crate::Specification;
use crate::camera::Camera;
use crate::clock::Clock;
use crate::lane::Lane;
use crate::peer::{News, Peer, introduce};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use str0m::media::Mid;
use units::{Rate, Span, Time};

/// ICE and DTLS have to be done by then.
const SET_UP_BY: Time = Time::from_ns(5_000_000_000);

/// Which estimate the encoder follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Follow {
    /// The one str0m tells its application, averaged over 3 s.
    Reported,
    /// The one its pacer uses, read from its statistics.
    Raw,
}

/// What a call leaves.
pub(crate) struct Outcome {
    /// The packets in Pantheon's format.
    pub(crate) log: String,
    /// JSON.
    pub(crate) report: Value,
}

struct Call {
    sender: Peer,
    receiver: Peer,
    video: Mid,
    data: Lane,
    ack: Lane,
    /// There is one as soon as both are connected: time zero of the log and the series.
    camera: Option<Camera>,
    follow: Follow,
    /// What the encoder follows, bit/s.
    target: Option<f64>,
    /// Seconds since the first frame, Mbit/s.
    reported: Vec<(f64, f64)>,
    raw: Vec<(f64, f64)>,
    media_packets: u64,
}

impl Call {
    fn new(specification: &Specification) -> Result<Self, String> {
        specification.application.validate().map_err(|refusal| refusal.to_string())?;
        let path = &specification.path;
        let lane = |elements, name| Lane::new(elements, name, specification.seed, path.overhead_bytes);
        let clock = Clock::new();
        let here = SocketAddr::from(([10, 0, 0, 1], 1000));
        let there = SocketAddr::from(([10, 0, 0, 2], 2000));
        let initial_bps = specification.start_rate_kbps * 1000;
        let mut sender = Peer::new(clock, [here, there], Some(initial_bps));
        let mut receiver = Peer::new(clock, [there, here], None);
        let video = introduce(&mut sender, &mut receiver)?;
        Ok(Self {
            sender,
            receiver,
            video,
            data: lane(&path.data, "data")?,
            ack: lane(&path.ack, "ack")?,
            camera: None,
            follow: specification.follow,
            target: None,
            reported: Vec::new(),
            raw: Vec::new(),
            media_packets: 0,
        })
    }

    fn next_event(&self) -> Time {
        [
            self.data.next_event(),
            self.ack.next_event(),
            self.sender.wake,
            self.receiver.wake,
            self.camera.as_ref().map_or(Time::NEVER, Camera::next_frame_at),
        ]
        .into_iter()
        .min()
        .unwrap_or(Time::NEVER)
    }

    /// Does what is due at `now`.
    fn step(&mut self, now: Time) -> Result<(), String> {
        self.data.advance(now);
        self.ack.advance(now);
        while let Some(datagram) = self.data.receive(now) {
            self.receiver.receive(now, &datagram)?;
            self.listen_to_receiver(now)?;
        }
        while let Some(datagram) = self.ack.receive(now) {
            self.sender.receive(now, &datagram)?;
            self.listen_to_sender(now)?;
        }
        self.capture(now)?;
        if self.sender.wake <= now {
            self.sender.advance(now)?;
            self.listen_to_sender(now)?;
        }
        if self.receiver.wake <= now {
            self.receiver.advance(now)?;
            self.listen_to_receiver(now)?;
        }
        Ok(())
    }

    fn is_connected(&self) -> bool {
        self.sender.is_connected() && self.receiver.is_connected()
    }

    /// The first frame is captured at `now`.
    fn start(&mut self, now: Time, specification: &Specification) -> Result<(), String> {
        let application = specification.application.clone();
        self.sender.desire(Rate::from_mbps(application.max_rate_mbps).bps());
        self.data.start_log(now);
        self.target = None;
        self.camera = Some(Camera::new(application, now, specification.seed));
        self.capture(now)
    }

    /// Captures a frame if one is due.
    fn capture(&mut self, now: Time) -> Result<(), String> {
        let Some(camera) = self.camera.as_mut().filter(|camera| camera.next_frame_at() <= now) else {
            return Ok(());
        };
        let payload_type = self.sender.payload_type()?;
        let target = self.target.map(Rate::from_bps_f64);
        for packet in camera.capture(now, target) {
            self.sender.write(now, self.video, payload_type, packet)?;
            // str0m wants to be asked after everything it is given.
            self.listen_to_sender(now)?;
        }
        Ok(())
    }

    fn listen_to_sender(&mut self, now: Time) -> Result<(), String> {
        while let Some(news) = self.sender.poll(now)? {
            match news {
                News::Datagram(datagram) => {
                    if self.sender.is_media(&datagram) {
                        self.media_packets += 1;
                        if let Some(camera) = &mut self.camera {
                            camera.on_sent();
                        }
                    }
                    self.data.send(now, datagram);
                }
                News::Reported(rate) => {
                    self.reported.extend(self.since_start(now).map(|at| (at, rate / 1e6)));
                    if self.follow == Follow::Reported {
                        self.target = Some(rate);
                    }
                }
                News::Raw(rate) => {
                    self.raw.extend(self.since_start(now).map(|at| (at, rate / 1e6)));
                    if self.follow == Follow::Raw {
                        self.target = Some(rate);
                    }
                }
            }
        }
        Ok(())
    }

    /// Seconds.
    fn since_start(&self, now: Time) -> Option<f64> {
        self.camera.as_ref().map(|camera| now.since(camera.start()).as_secs_f64())
    }

    fn listen_to_receiver(&mut self, now: Time) -> Result<(), String> {
        while let Some(news) = self.receiver.poll(now)? {
            if let News::Datagram(datagram) = news {
                self.ack.send(now, datagram);
            }
        }
        Ok(())
    }
}

/// Runs a call.
pub(crate) fn run(specification: &Specification) -> Result<Outcome, String> {
    let mut call = Call::new(specification)?;
    let mut end = SET_UP_BY;
    loop {
        let now = call.next_event();
        if now > end {
            break;
        }
        let at = |error| format!("at {:.6} s: {error}", now.as_secs_f64());
        call.step(now).map_err(at)?;
        if call.camera.is_none() && call.is_connected() {
            end = now + Span::from_secs_f64(specification.duration_s);
            call.start(now, specification).map_err(at)?;
        }
    }
    let camera = call.camera.ok_or_else(|| format!("no connection within {} s", SET_UP_BY.as_secs_f64()))?;
    let (frames, frames_skipped) = camera.frames();
    let report = json!({
        "connected_s": camera.start().as_secs_f64(),
        "frames": frames,
        "frames_skipped": frames_skipped,
        "sender_calls": call.sender.calls,
        "media_packets": call.media_packets,
        "estimate_mbps": {"reported": call.reported, "raw": call.raw},
    });
    Ok(Outcome { log: call.data.into_log(), report })
}

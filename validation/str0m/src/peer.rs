//! A str0m peer: one end of the call.

use crate::camera::MediaPacket;
use crate::clock::Clock;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;
use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::media::{Direction, MediaKind, Mid, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::RtpWrite;
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc, RtcConfig};
use units::{Span, Time};

/// First byte of an RTP or RTCP packet: version 2.
const VERSION_2: u8 = 2;
/// Second byte of RTCP packets (RFC 5761, section 4).
const RTCP_TYPES: RangeInclusive<u8> = 192..=223;
/// How often the raw estimate is read.
const STATS_INTERVAL: Duration = Duration::from_millis(100);
/// A time-out that is already over is asked for again after this: time has to go on.
const TICK: Span = Span::from_us(1);

/// What a peer wants its driver to know.
#[derive(Debug)]
pub(crate) enum News {
    /// A datagram for the other peer.
    Datagram(Vec<u8>),
    /// The estimate as an application gets it (bit/s of payload): averaged over 3 s, told when it moves by 5 %.
    Reported(f64),
    /// The estimate itself.
    Raw(f64),
}

/// One end.
pub(crate) struct Peer {
    rtc: Rtc,
    clock: Clock,
    address: SocketAddr,
    other: SocketAddr,
    /// The stream of its video, once it writes one.
    ssrc: Option<u32>,
    /// When it wants to be called.
    pub(crate) wake: Time,
    /// How often it was called: str0m's estimate depends on it.
    pub(crate) calls: u64,
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
fn text(error: impl ToString) -> String {
    error.to_string()
}

fn candidate(address: SocketAddr) -> Result<Candidate, String> {
    Candidate::host(address, "udp").map_err(text)
}

/// Addresses, offer and answer for a video from `sender`: signalling, which never crosses the path. Returns the video.
pub(crate) fn introduce(sender: &mut Peer, receiver: &mut Peer) -> Result<Mid, String> {
    for peer in [&mut *sender, &mut *receiver] {
        let (here, there) = (candidate(peer.address)?, candidate(peer.other)?);
        peer.rtc.add_local_candidate(here);
        peer.rtc.add_remote_candidate(there);
    }
    let mut change = sender.rtc.sdp_api();
    let video = change.add_media(MediaKind::Video, Direction::SendOnly, None, None, None);
    let (offer, pending) = change.apply().ok_or("str0m has nothing to offer")?;
    let answer = receiver.rtc.sdp_api().accept_offer(offer).map_err(text)?;
    sender.rtc.sdp_api().accept_answer(pending, answer).map_err(text)?;
    Ok(video)
}

impl Peer {
    /// An end at time zero; the one with an initial estimate sends.
    pub(crate) fn new(clock: Clock, addresses: [SocketAddr; 2], initial_bps: Option<u64>) -> Self {
        let crypto = str0m::crypto::from_feature_flags();
        let mut config = RtcConfig::new()
            .set_crypto_provider(crypto.into())
            .set_rtp_mode(true)
            .set_stats_interval(Some(STATS_INTERVAL));
        if let Some(bps) = initial_bps {
            config = config.enable_bwe(Some(Bitrate::bps(bps)));
        }
        let rtc = config.build(clock.instant(Time::ZERO));
        let [address, other] = addresses;
        Self { rtc, clock, address, other, ssrc: None, wake: Time::ZERO, calls: 0 }
    }

    /// What its video would like to send at most.
    pub(crate) fn desire(&mut self, bps: u64) {
        self.rtc.bwe().set_desired_bitrate(Bitrate::bps(bps));
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.rtc.is_connected()
    }

    /// The payload type of the video.
    pub(crate) fn payload_type(&self) -> Result<Pt, String> {
        let vp8 = self.rtc.codec_config().find(|parameters| parameters.spec().codec == Codec::Vp8);
        vp8.map(str0m::format::PayloadParams::pt).ok_or_else(|| "str0m offers no VP8".to_owned())
    }

    /// Gives a packet of `video` to the pacer.
    pub(crate) fn write(
        &mut self,
        now: Time,
        video: Mid,
        payload_type: Pt,
        packet: MediaPacket,
    ) -> Result<(), String> {
        let wallclock = self.clock.instant(now);
        let payload = vec![0_u8; packet.payload_bytes];
        let write = RtpWrite::new(payload_type, packet.number.into(), packet.rtp_time, wallclock, payload)
            .marker(packet.ends_frame)
            .nackable(true);
        let mut api = self.rtc.direct_api();
        let stream = api.stream_tx_by_mid(video, None).ok_or("the peer has no video stream")?;
        self.ssrc = Some(*stream.ssrc());
        stream.write_rtp(write);
        Ok(())
    }

    /// Whether a datagram it sent carries a packet of the video, sent for the first time.
    pub(crate) fn is_media(&self, datagram: &[u8]) -> bool {
        let ssrc = datagram.get(8..12).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
        datagram.first().is_some_and(|first| first >> 6 == VERSION_2)
            && datagram.get(1).is_some_and(|second| !RTCP_TYPES.contains(second))
            && ssrc.is_some()
            && ssrc == self.ssrc
    }

    /// A datagram arrived.
    pub(crate) fn receive(&mut self, now: Time, datagram: &[u8]) -> Result<(), String> {
        let receive = Receive {
            proto: Protocol::Udp,
            source: self.other,
            destination: self.address,
            contents: datagram.try_into().map_err(text)?,
        };
        self.calls += 1;
        self.rtc.handle_input(Input::Receive(self.clock.instant(now), receive)).map_err(text)
    }

    /// Its time has come.
    pub(crate) fn advance(&mut self, now: Time) -> Result<(), String> {
        self.calls += 1;
        self.rtc.handle_input(Input::Timeout(self.clock.instant(now))).map_err(text)
    }

    /// The next thing it has to say; none until it is called again.
    pub(crate) fn poll(&mut self, now: Time) -> Result<Option<News>, String> {
        loop {
            match self.rtc.poll_output().map_err(text)? {
                Output::Timeout(at) => {
                    self.wake = self.clock.time(at).max(now + TICK);
                    return Ok(None);
                }
                Output::Transmit(send) => return Ok(Some(News::Datagram(send.contents.to_vec()))),
                Output::Event(Event::EgressBitrateEstimate(BweKind::Twcc(rate))) => {
                    return Ok(Some(News::Reported(rate.as_f64())));
                }
                Output::Event(Event::PeerStats(stats)) => {
                    if let Some(rate) = stats.bwe_tx {
                        return Ok(Some(News::Raw(rate.as_f64())));
                    }
                }
                Output::Event(Event::IceConnectionStateChange(IceConnectionState::Disconnected)) => {
                    return Err("the peers lost each other".to_owned());
                }
                Output::Event(_) => {}
            }
        }
    }
}

//! Service by delivery opportunities, shared by trace and Poisson links: each opportunity serves a fixed number of
//! bytes.
//!
//! Several packets may share an opportunity. A packet may also need several: its remaining bytes wait for the next one.
//! Bytes of an opportunity for which no packet waits are lost, as in Mahimahi (`src/frontend/link_queue.cc` of
//! ravinet/mahimahi@ae477d4).

use crate::buffer::Buffer;
use crate::{Packet, Tap};
use units::Time;

/// Queue served by opportunities.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) buffer: Buffer,
    /// Bytes of one opportunity.
    pub(crate) opportunity_bytes: u32,
    /// Bytes that every packet costs in addition to its size; the queue counts them too.
    pub(crate) header_bytes: u32,
    /// Packet being served and its remaining bytes.
    transit: Option<(Packet, u32)>,
    /// Remaining bytes of the current opportunity.
    left: u32,
}

impl Server {
    pub(crate) fn new(buffer: Buffer, opportunity_bytes: u32, header_bytes: u32) -> Self {
        let buffer = buffer.with_header(header_bytes);
        Self { buffer, opportunity_bytes, header_bytes, transit: None, left: 0 }
    }

    /// Returns the packet bytes that an opportunity serves: its bytes without one header.
    pub(crate) fn net_bytes(&self) -> u32 {
        self.opportunity_bytes - self.header_bytes
    }

    #[inline]
    pub(crate) fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, tap: &mut T) {
        let transit = self.transit.as_ref().map(|(packet, _)| packet.size_bytes);
        self.buffer.enqueue(now, packet, transit, tap);
    }

    /// Begins an opportunity.
    #[inline]
    pub(crate) fn begin<T: Tap>(&mut self, now: Time, tap: &mut T) {
        if tap.wants_opportunities() {
            tap.opportunity(now, self.net_bytes());
        }
        self.left = self.opportunity_bytes;
    }

    /// Returns true if the current opportunity may serve more.
    #[inline]
    pub(crate) fn is_serving(&self) -> bool {
        self.left > 0
    }

    /// Serves the current opportunity, up to the departure of one packet.
    #[inline]
    pub(crate) fn serve<T: Tap>(&mut self, now: Time, tap: &mut T) -> Option<Packet> {
        let next = self.transit.take().or_else(|| {
            let packet = self.buffer.dequeue(now, tap)?;
            Some((packet, packet.size_bytes + self.header_bytes))
        });
        let Some((packet, rest)) = next else {
            self.left = 0;
            return None;
        };
        let served = rest.min(self.left);
        self.left -= served;
        if served < rest {
            self.transit = Some((packet, rest - served));
            return None;
        }
        if self.buffer.is_empty() {
            self.left = 0;
        }
        self.buffer.gauge.sent(packet.size_bytes);
        Some(packet)
    }

    /// Returns true if nothing waits for an opportunity.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.transit.is_none() && self.buffer.is_empty()
    }

    pub(crate) fn packets(&self) -> u64 {
        self.buffer.packets() + u64::from(self.transit.is_some())
    }
}

//! Encapsulation of datagrams in packets: overhead, IPv4 fragmentation (RFC 791), reassembly.

use crate::change::LATEST_S;
use crate::element_settings::{not_negative, refuse};
use crate::{Error, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::Time;

/// IPv4 header without options, bytes.
const IP_HEADER_BYTES: u32 = 20;
/// Unit of fragment offsets, bytes.
const FRAGMENT_UNIT_BYTES: u32 = 8;
/// Maximum number of fragments of one datagram: the bits of the reassembler's masks.
const MOST_FRAGMENTS: u32 = 128;
/// Largest overhead, bytes.
const LARGEST_OVERHEAD: u32 = 10_000;

/// A scheduled change of a path's MTU: later datagrams that are larger are fragmented.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MtuChange {
    /// Time of the change, s.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub at_s: f64,
    /// New largest packet, overhead included.
    pub mtu_bytes: u32,
}

impl MtuChange {
    pub(crate) fn at(&self) -> Time {
        Time::from_secs_f64(self.at_s)
    }
}

/// Encapsulation of datagrams in packets on the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encapsulation {
    /// Bytes added to every datagram, and to every fragment of one.
    pub overhead_bytes: u32,
    /// Largest packet, overhead included.
    pub mtu_bytes: Option<u32>,
    /// Fragment datagrams that are too large instead of refusing them.
    pub fragment: bool,
}

impl Encapsulation {
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        if self.overhead_bytes > LARGEST_OVERHEAD {
            return Err(refuse("overhead_bytes", self.overhead_bytes, "must be at most 10000"));
        }
        let least = self.overhead_bytes + IP_HEADER_BYTES + FRAGMENT_UNIT_BYTES;
        match self.mtu_bytes {
            Some(mtu) if mtu < least => Err(refuse(
                "mtu_bytes",
                mtu,
                format!("must be at least {least} (overhead_bytes, 20 of IP header, 8 of payload)"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the encapsulation after each of these changes, with its time.
    pub(crate) fn after(self, changes: &[MtuChange]) -> impl Iterator<Item = (Time, Self)> {
        changes.iter().map(move |change| (change.at(), Self { mtu_bytes: Some(change.mtu_bytes), ..self }))
    }

    /// Checks changes of the MTU, and the resulting states.
    pub(crate) fn validate_changes(self, changes: &[MtuChange]) -> Result<(), Refusal> {
        if !changes.is_empty() && !self.fragment {
            let allowed =
                "allowed with fragment = true; a `loss` element with `min_bytes` loses larger packets";
            return Err(Refusal::of_key("schedule", allowed));
        }
        let mut last_s = 0.0;
        for (index, (change, (_, state))) in changes.iter().zip(self.after(changes)).enumerate() {
            let checked = not_negative("at_s", change.at_s, LATEST_S).and_then(|()| {
                if change.at_s < last_s {
                    let allowed = format!("must not be before {last_s}, the change before it");
                    return Err(refuse("at_s", change.at_s, allowed));
                }
                state.validate()
            });
            checked.map_err(|refusal| refusal.at(format!("schedule[{index}]")))?;
            last_s = change.at_s;
        }
        Ok(())
    }

    /// Returns the sizes on the path of the packets that carry an IP datagram of `datagram_bytes`, header included.
    ///
    /// # Errors
    /// One line if the datagram is too large and may not be fragmented, or would need more than 128 fragments.
    pub fn split(&self, datagram_bytes: u32) -> Result<FragmentSizes, Error> {
        match (self.whole(datagram_bytes), self.mtu_bytes) {
            (None, Some(mtu)) => self.split_at(datagram_bytes, mtu),
            (whole, _) => Ok(FragmentSizes { full: 0, full_bytes: 0, last_bytes: whole }),
        }
    }

    /// Returns the size on the path of the single packet that carries an IP datagram of `datagram_bytes`; `None` if the
    /// datagram needs fragments.
    #[inline]
    pub fn whole(&self, datagram_bytes: u32) -> Option<u32> {
        let whole = datagram_bytes + self.overhead_bytes;
        self.mtu_bytes.is_none_or(|mtu| whole <= mtu).then_some(whole)
    }

    fn split_at(&self, datagram_bytes: u32, mtu: u32) -> Result<FragmentSizes, Error> {
        let Self { overhead_bytes, fragment, .. } = *self;
        let oversized = Error::Oversized { datagram_bytes, overhead_bytes, mtu_bytes: mtu, fragment };
        if !fragment {
            return Err(oversized);
        }
        let room = mtu.saturating_sub(self.overhead_bytes + IP_HEADER_BYTES) / FRAGMENT_UNIT_BYTES
            * FRAGMENT_UNIT_BYTES;
        let payload = datagram_bytes.saturating_sub(IP_HEADER_BYTES);
        if room == 0 || payload.div_ceil(room) > MOST_FRAGMENTS {
            return Err(oversized);
        }
        let extra = IP_HEADER_BYTES + self.overhead_bytes;
        let full = (payload - 1) / room;
        let last_bytes = Some(payload - full * room + extra);
        Ok(FragmentSizes { full, full_bytes: room + extra, last_bytes })
    }
}

/// Sizes of the packets of one datagram, in order.
#[derive(Clone, Debug)]
pub struct FragmentSizes {
    full: u32,
    full_bytes: u32,
    last_bytes: Option<u32>,
}

impl Iterator for FragmentSizes {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.full > 0 {
            self.full -= 1;
            return Some(self.full_bytes);
        }
        self.last_bytes.take()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.full as usize + usize::from(self.last_bytes.is_some());
        (left, Some(left))
    }
}

impl ExactSizeIterator for FragmentSizes {}

/// Slots per flow. A datagram is forgotten if more than twice as many other datagrams of its flow come between its
/// fragments.
const SLOTS: u64 = 2048;

/// Datagram of which some fragments have arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    number: u64,
    token: u32,
    /// A bit for every fragment that has arrived; no bit in a free slot.
    arrived: u128,
}

/// Detects that all fragments of a datagram have arrived. Datagrams with lost fragments are forgotten when newer ones
/// need their place.
#[derive(Clone, Debug, Default)]
pub struct Reassembler {
    /// Two places per slot, the newer datagram first; memory is allocated per flow with the first fragment.
    flows: Vec<Vec<[Partial; 2]>>,
}

impl Reassembler {
    /// Records the arrival of a fragment (or a whole datagram); returns true if its datagram is complete now. Fragments
    /// that arrive twice count once.
    pub fn accept(&mut self, packet: &Packet) -> bool {
        if packet.fragments <= 1 {
            return true;
        }
        let flow = packet.flow as usize;
        if self.flows.len() <= flow {
            self.flows.resize_with(flow + 1, Vec::new);
        }
        let slots = &mut self.flows[flow];
        if slots.is_empty() {
            slots.resize(SLOTS as usize, [Partial::default(); 2]);
        }
        let places = &mut slots[(packet.number % SLOTS) as usize];
        let is_same = |place: &Partial| {
            place.arrived != 0 && place.number == packet.number && place.token == packet.token
        };
        let position = places.iter().position(is_same).unwrap_or_else(|| {
            places[1] = places[0];
            places[0] = Partial { number: packet.number, token: packet.token, arrived: 0 };
            0
        });
        let place = &mut places[position];
        place.arrived |= 1u128 << (packet.fragment & 127);
        let is_complete = place.arrived.count_ones() == u32::from(packet.fragments);
        if is_complete {
            place.arrived = 0;
        }
        is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    const TUNNEL: Encapsulation = Encapsulation { overhead_bytes: 36, mtu_bytes: Some(1500), fragment: true };

    fn sizes(encapsulation: &Encapsulation, datagram_bytes: u32) -> Vec<u32> {
        encapsulation.split(datagram_bytes).unwrap().collect()
    }

    #[test]
    fn pantheons_tunnel_has_the_logged_sizes() {
        // UDP payload 1440 + 28 = 1468 exceeds the inner MTU 1464: fragments of 20 + 1440 and 20 + 8, each + 36.
        assert_eq!(sizes(&TUNNEL, 1468), [1496, 64]);
        // Payload 1500 (before June 2018): 1508 - 1440 = 68, + 56.
        assert_eq!(sizes(&TUNNEL, 1528), [1496, 124]);
        // pcc_experimental: 1496 + 96, payload 1472 + 28 = 1500: 1480 - 1440 = 40, + 56.
        assert_eq!(sizes(&TUNNEL, 1500), [1496, 96]);
        // A datagram that fits stays whole: 1464 + 36.
        assert_eq!(sizes(&TUNNEL, 1464), [1500]);
    }

    #[test]
    fn fragments_carry_multiples_of_eight_and_everything_once() {
        for datagram in 1..10_000 {
            let split = TUNNEL.split(datagram).unwrap();
            let count = split.len();
            let sizes: Vec<u32> = split.collect();
            assert_eq!(sizes.len(), count);
            assert!(sizes.iter().all(|size| *size <= 1500), "{datagram}: {sizes:?}");
            if count > 1 {
                assert!(sizes[..count - 1].iter().all(|size| (size - 56) % 8 == 0));
                assert_eq!(sizes.iter().map(|size| size - 56).sum::<u32>(), datagram - 20);
            }
        }
    }

    #[test]
    fn too_large_datagrams_are_refused() {
        let error = Encapsulation { fragment: false, ..TUNNEL }.split(1468).unwrap_err().to_string();
        assert!(error.contains("1468 bytes and 36 of overhead exceeds mtu_bytes = 1500"), "{error}");
        let narrow = Encapsulation { mtu_bytes: Some(64), ..TUNNEL };
        assert!(narrow.split(1500).unwrap_err().to_string().contains("128 fragments"));
        assert!(
            Encapsulation { mtu_bytes: Some(63), ..TUNNEL }
                .validate()
                .unwrap_err()
                .to_string()
                .contains("at least 64")
        );
        assert!(Encapsulation { overhead_bytes: 20_000, ..TUNNEL }.validate().is_err());
    }

    fn fragment(number: u64, token: u32, fragment: u8, fragments: u16) -> Packet {
        Packet { fragment, fragments, ..Packet::new(1, number, 100, token, Time::ZERO) }
    }

    #[test]
    fn a_datagram_is_complete_with_its_last_fragment_in_any_order() {
        let mut reassembler = Reassembler::default();
        assert!(reassembler.accept(&fragment(0, 0, 0, 1)));
        assert!(!reassembler.accept(&fragment(1, 1, 2, 3)));
        assert!(!reassembler.accept(&fragment(2, 2, 0, 2)));
        assert!(!reassembler.accept(&fragment(1, 1, 0, 3)));
        assert!(!reassembler.accept(&fragment(1, 1, 0, 3)));
        assert!(reassembler.accept(&fragment(1, 1, 1, 3)));
        assert!(reassembler.accept(&fragment(2, 2, 1, 2)));
    }

    #[test]
    fn tokens_keep_datagrams_with_the_same_number_apart() {
        let mut reassembler = Reassembler::default();
        assert!(!reassembler.accept(&fragment(5, 1, 0, 2)));
        assert!(!reassembler.accept(&fragment(5, 2, 1, 2)));
        assert!(reassembler.accept(&fragment(5, 1, 1, 2)));
        assert!(reassembler.accept(&fragment(5, 2, 0, 2)));
    }

    #[test]
    fn incomplete_datagrams_are_forgotten_in_the_end() {
        let mut reassembler = Reassembler::default();
        for number in 0..10_000 {
            assert!(!reassembler.accept(&fragment(number, 7, 0, 2)));
        }
        // Number 0 was displaced by 2048 and 4096; 9999 is still stored.
        assert!(!reassembler.accept(&fragment(0, 7, 1, 2)));
        assert!(reassembler.accept(&fragment(9999, 7, 1, 2)));
    }
}

//! Layers around the IP packet that carries a transport: link layers and tunnels.

use super::link::Link;

/// Maximum number of nested layers.
const DEEPEST: usize = 12;

/// Names of the kinds of tunnels, in the order of the bits of [`Tunnels`].
const NAMES: [&str; 8] = ["IP in IP", "GRE", "ERSPAN", "VXLAN", "Geneve", "GTP-U", "PPPoE", "MPLS"];
const IP_IN_IP: Tunnels = Tunnels(1);
const GRE: Tunnels = Tunnels(1 << 1);
const ERSPAN: Tunnels = Tunnels(1 << 2);
const VXLAN: Tunnels = Tunnels(1 << 3);
const GENEVE: Tunnels = Tunnels(1 << 4);
const GTP: Tunnels = Tunnels(1 << 5);
const PPPOE: Tunnels = Tunnels(1 << 6);
const MPLS: Tunnels = Tunnels(1 << 7);

/// Set of tunnel kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tunnels(u8);

impl Tunnels {
    /// Returns true if the set is not empty.
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the names of the kinds.
    pub fn names(self) -> Vec<&'static str> {
        let bits = (0..).map(|bit| 1 << bit);
        NAMES
            .into_iter()
            .zip(bits)
            .filter(|&(_, bit): &(_, u8)| self.0 & bit != 0)
            .map(|(name, _)| name)
            .collect()
    }
}

/// Layer of a known kind with its content.
#[derive(Clone, Copy, Debug)]
enum Layer<'a> {
    Ethernet(&'a [u8]),
    /// Layer by its `EtherType`.
    Typed(u16, &'a [u8]),
    /// Layer by its PPP protocol number.
    Ppp(&'a [u8]),
    Ip(&'a [u8]),
}

/// Returns the innermost IP packet of a frame, and the tunnels around it; `None` if there is no such packet.
pub(super) fn innermost(link: Link, frame: &[u8]) -> Option<(&[u8], Tunnels)> {
    let mut layer = of_link(link, frame)?;
    let mut tunnels = Tunnels::default();
    for _ in 0..DEEPEST {
        let (next, through) = match layer {
            Layer::Ethernet(data) => (Layer::Typed(word(data, 12)?, data.get(14..)?), Tunnels::default()),
            Layer::Typed(kind, data) => of_type(kind, data)?,
            Layer::Ppp(data) => (of_ppp(data)?, Tunnels::default()),
            Layer::Ip(data) => match within_ip(data) {
                Some(found) => found,
                None => return Some((data, tunnels)),
            },
        };
        layer = next;
        tunnels = tunnels.and(through);
    }
    None
}

fn word(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

fn of_link(link: Link, frame: &[u8]) -> Option<Layer<'_>> {
    Some(match link {
        Link::Ethernet => Layer::Ethernet(frame),
        Link::Raw => Layer::Ip(frame),
        Link::Loopback => Layer::Ip(frame.get(4..)?),
        Link::Sll => Layer::Typed(word(frame, 14)?, frame.get(16..)?),
        Link::Sll2 => Layer::Typed(word(frame, 0)?, frame.get(20..)?),
        Link::Ppp => Layer::Ppp(frame),
        // One byte is the direction of the frame.
        Link::PppWithDirection => Layer::Ppp(frame.get(1..)?),
        Link::Wifi => of_wifi(frame)?,
        Link::Radiotap => {
            let header_bytes = u16::from_le_bytes(frame.get(2..4)?.try_into().ok()?);
            of_wifi(frame.get(usize::from(header_bytes)..)?)?
        }
        Link::Nflog => Layer::Ip(of_nflog(frame)?),
    })
}

/// Returns the content of an IEEE 802.11 data frame with LLC and SNAP, unless it is encrypted.
fn of_wifi(frame: &[u8]) -> Option<Layer<'_>> {
    let (kind, flags) = (*frame.first()?, *frame.get(1)?);
    let (is_data, is_null, is_encrypted) = (kind & 0x0C == 0x08, kind & 0x40 != 0, flags & 0x40 != 0);
    if !is_data || is_null || is_encrypted {
        return None;
    }
    let is_qos = kind & 0x80 != 0;
    let has_four_addresses = flags & 0x03 == 0x03;
    let has_ht_control = is_qos && flags & 0x80 != 0;
    let header_bytes =
        24 + 6 * usize::from(has_four_addresses) + 2 * usize::from(is_qos) + 4 * usize::from(has_ht_control);
    let llc = frame.get(header_bytes..)?;
    (llc.get(..3)? == [0xAA, 0xAA, 0x03]).then_some(Layer::Typed(word(llc, 6)?, llc.get(8..)?))
}

/// Returns the packet of a Linux `nfnetlink_log` record. Its attributes are in the host's byte order.
fn of_nflog(frame: &[u8]) -> Option<&[u8]> {
    const PAYLOAD: u16 = 9;
    let mut rest = frame.get(4..)?;
    loop {
        let length = usize::from(u16::from_le_bytes(rest.get(..2)?.try_into().ok()?));
        let kind = u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?);
        if kind & 0x7FFF == PAYLOAD {
            return rest.get(4..length.min(rest.len()));
        }
        rest = rest.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn of_ppp(data: &[u8]) -> Option<Layer<'_>> {
    let data = data.strip_prefix(&[0xFF, 0x03]).unwrap_or(data);
    let is_short = data.first()? & 1 == 1;
    let (protocol, rest) =
        if is_short { (u16::from(data[0]), data.get(1..)?) } else { (word(data, 0)?, data.get(2..)?) };
    match protocol {
        0x21 | 0x57 => Some(Layer::Ip(rest)),
        0x0281 | 0x0283 => Some(Layer::Typed(0x8847, rest)),
        _ => None,
    }
}

fn of_type(kind: u16, data: &[u8]) -> Option<(Layer<'_>, Tunnels)> {
    let none = Tunnels::default();
    Some(match kind {
        0x0800 | 0x86DD => (Layer::Ip(data), none),
        0x8100 | 0x88A8 | 0x9100 => (Layer::Typed(word(data, 2)?, data.get(4..)?), none),
        0x6558 => (Layer::Ethernet(data), none),
        0x8864 => (Layer::Ppp(data.get(6..)?), PPPOE),
        0x8847 | 0x8848 => (of_mpls(data)?, MPLS),
        _ => return None,
    })
}

/// Returns the layer below the label stack. No field has its type, but the first four bits identify IP (RFC 4928 2).
fn of_mpls(mut data: &[u8]) -> Option<Layer<'_>> {
    loop {
        let is_last = data.get(2)? & 1 == 1;
        data = data.get(4..)?;
        if is_last {
            break;
        }
    }
    match data.first()? >> 4 {
        4 | 6 => Some(Layer::Ip(data)),
        // Control word of a pseudowire (RFC 4385 3).
        0 => Some(Layer::Ethernet(data.get(4..)?)),
        _ => None,
    }
}

/// Returns the layer within an IP packet; `None` for a transport, a fragment or an unknown protocol.
fn within_ip(data: &[u8]) -> Option<(Layer<'_>, Tunnels)> {
    let (protocol, payload) = match data.first()? >> 4 {
        4 => {
            let is_fragment = word(data, 6)? & 0x3FFF != 0;
            let header_bytes = usize::from(data[0] & 0x0F) * 4;
            (!is_fragment).then_some((*data.get(9)?, data.get(header_bytes..)?))?
        }
        6 => (*data.get(6)?, data.get(40..)?),
        _ => return None,
    };
    match protocol {
        4 | 41 => Some((Layer::Ip(payload), IP_IN_IP)),
        47 => of_gre(payload),
        17 => of_udp(payload),
        _ => None,
    }
}

/// Returns the layer within GRE (RFC 2784, RFC 2890) or ERSPAN (draft-foschiano-erspan).
fn of_gre(data: &[u8]) -> Option<(Layer<'_>, Tunnels)> {
    let (flags, kind) = (word(data, 0)?, word(data, 2)?);
    if flags & 0x07 != 0 {
        return None;
    }
    let has_number = flags & 0x1000 != 0;
    let options = [0x8000, 0x2000, 0x1000].iter().filter(|&&flag| flags & flag != 0).count();
    let rest = data.get(4 + 4 * options..)?;
    match kind {
        0x88BE => Some((Layer::Ethernet(rest.get(if has_number { 8 } else { 0 }..)?), ERSPAN)),
        0x22EB => {
            let has_more = rest.get(11)? & 1 == 1;
            Some((Layer::Ethernet(rest.get(if has_more { 20 } else { 12 }..)?), ERSPAN))
        }
        _ => Some((Layer::Typed(kind, rest), GRE)),
    }
}

/// Returns the layer within VXLAN (RFC 7348), Geneve (RFC 8926) or GTP-U (3GPP TS 29.281). They are recognized by their
/// ports and the fixed fields of their headers.
fn of_udp(data: &[u8]) -> Option<(Layer<'_>, Tunnels)> {
    let (port, rest) = (word(data, 2)?, data.get(8..)?);
    match port {
        4789 | 8472 if rest.get(..4)? == [0x08, 0, 0, 0] && *rest.get(7)? == 0 => {
            Some((Layer::Ethernet(rest.get(8..)?), VXLAN))
        }
        6081 if rest.first()? >> 6 == 0 => {
            let options = usize::from(rest[0] & 0x3F) * 4;
            let kind = word(rest, 2)?;
            let is_known = matches!(kind, 0x6558 | 0x0800 | 0x86DD);
            is_known.then_some((Layer::Typed(kind, rest.get(8 + options..)?), GENEVE))
        }
        2152 if rest.first()? & 0xF0 == 0x30 && *rest.get(1)? == 0xFF => {
            Some((Layer::Ip(of_gtp(rest)?), GTP))
        }
        _ => None,
    }
}

/// Returns the user's packet behind the optional fields and the extension headers.
fn of_gtp(data: &[u8]) -> Option<&[u8]> {
    let has_options = data.first()? & 0x07 != 0;
    if !has_options {
        return data.get(8..);
    }
    let has_extension = data[0] & 0x04 != 0;
    let (mut at, mut next) = (12, if has_extension { *data.get(11)? } else { 0 });
    while next != 0 {
        let length = usize::from(*data.get(at)?) * 4;
        if length == 0 {
            return None;
        }
        next = *data.get(at + length - 1)?;
        at += length;
    }
    data.get(at..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an IPv4 packet with TCP and no payload.
    fn inner() -> Vec<u8> {
        let mut data = vec![0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        data.extend([0; 20]);
        data
    }

    fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut data = inner();
        data.truncate(20);
        data[9] = protocol;
        data.extend(payload);
        data
    }

    fn udp(port: u16, header: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut data = vec![0xC3, 0x50];
        data.extend(port.to_be_bytes());
        data.extend([0; 4]);
        ip(17, &[&data, header, payload].concat())
    }

    fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
        [&[0; 12][..], &kind.to_be_bytes(), payload].concat()
    }

    #[test]
    fn the_inner_packet_of_each_tunnel_is_found_and_the_tunnel_named() {
        let plain = ethernet(0x0800, &inner());
        let cases = [
            (ip(4, &inner()), vec!["IP in IP"]),
            (ip(47, &[&[0, 0, 8, 0][..], &inner()].concat()), vec!["GRE"]),
            (ip(47, &[&[0x20, 0, 8, 0, 1, 2, 3, 4][..], &inner()].concat()), vec!["GRE"]),
            (ip(47, &[&[0x10, 0, 0x88, 0xBE][..], &[0; 12], &plain].concat()), vec!["ERSPAN"]),
            (ip(47, &[&[0x10, 0, 0x22, 0xEB][..], &[0; 16], &plain].concat()), vec!["ERSPAN"]),
            (udp(4789, &[8, 0, 0, 0, 0, 0, 1, 0], &plain), vec!["VXLAN"]),
            (udp(6081, &[1, 0, 0x65, 0x58, 0, 0, 1, 0, 9, 9, 9, 9], &plain), vec!["Geneve"]),
            (udp(2152, &[0x30, 0xFF, 0, 40, 0, 0, 0, 1], &inner()), vec!["GTP-U"]),
            (udp(2152, &[0x34, 0xFF, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0], &inner()), vec!["GTP-U"]),
        ];
        for (packet, names) in cases {
            let (found, tunnels) = innermost(Link::Raw, &packet).expect("a packet");
            assert_eq!((found, tunnels.names()), (&inner()[..], names));
        }
    }

    #[test]
    fn link_layers_are_taken_off() {
        let wifi = [&[0x08, 0x02][..], &[0; 22], &[0xAA, 0xAA, 3, 0, 0, 0, 8, 0], &inner()].concat();
        let qos = [&[0x88, 0x02][..], &[0; 24], &[0xAA, 0xAA, 3, 0, 0, 0, 8, 0], &inner()].concat();
        let pppoe = [&[0x11, 0, 0, 1, 0, 42, 0, 0x21][..], &inner()].concat();
        let cases = [
            (Link::Ethernet, ethernet(0x0800, &inner()), vec![]),
            (Link::Ethernet, ethernet(0x8100, &[&[0, 7, 8, 0][..], &inner()].concat()), vec![]),
            (Link::Ethernet, ethernet(0x8864, &pppoe), vec!["PPPoE"]),
            (
                Link::Ethernet,
                ethernet(0x8847, &[&[0, 1, 0, 9, 0, 1, 1, 9][..], &inner()].concat()),
                vec!["MPLS"],
            ),
            (Link::Ppp, [&[0, 0x21][..], &inner()].concat(), vec![]),
            (Link::Ppp, [&[0xFF, 3, 0, 0x21][..], &inner()].concat(), vec![]),
            (Link::Ppp, [&[0x21][..], &inner()].concat(), vec![]),
            (Link::PppWithDirection, [&[1, 0xFF, 3, 0, 0x21][..], &inner()].concat(), vec![]),
            (Link::Wifi, wifi.clone(), vec![]),
            (Link::Wifi, qos, vec![]),
            (Link::Radiotap, [&[0, 0, 8, 0, 0, 0, 0, 0][..], &wifi].concat(), vec![]),
            (
                Link::Nflog,
                [&[2, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0, 0, 44, 0, 9, 0][..], &inner()].concat(),
                vec![],
            ),
        ];
        for (link, frame, names) in cases {
            let (found, tunnels) = innermost(link, &frame).expect("a packet");
            assert_eq!((found, tunnels.names()), (&inner()[..], names), "{link:?}");
        }
    }

    #[test]
    fn what_is_cut_off_or_endless_is_no_packet() {
        let deep = (0..100).fold(inner(), |packet, _| ip(4, &packet));
        assert!(innermost(Link::Raw, &deep).is_none());
        let frame = ethernet(0x8864, &[0x11, 0, 0, 1, 0, 42, 0, 0x21, 0x45]);
        for length in 0..frame.len() {
            for link in
                [Link::Ethernet, Link::Ppp, Link::Wifi, Link::Radiotap, Link::Nflog, Link::Sll, Link::Sll2]
            {
                let _ = innermost(link, &frame[..length]);
            }
        }
        let encrypted = [&[0x08, 0x42][..], &[0; 22], &[0xAA, 0xAA, 3, 0, 0, 0, 8, 0], &inner()].concat();
        assert!(innermost(Link::Wifi, &encrypted).is_none());
    }
}

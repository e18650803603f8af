//! Kinds of frames.

/// The kinds of frames that are read, by their number in <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Ethernet,
    /// A family of addresses in four bytes.
    Loopback,
    Raw,
    /// Linux's cooked captures.
    Sll,
    Sll2,
    Ppp,
    PppWithDirection,
    /// IEEE 802.11, and the same behind a radio's header.
    Wifi,
    Radiotap,
    /// Linux's log of netfilter.
    Nflog,
}

impl Link {
    pub(super) fn of(number: i32) -> Option<Self> {
        match number {
            0 | 108 => Some(Self::Loopback),
            1 => Some(Self::Ethernet),
            9 | 50 => Some(Self::Ppp),
            204 => Some(Self::PppWithDirection),
            105 => Some(Self::Wifi),
            127 => Some(Self::Radiotap),
            239 => Some(Self::Nflog),
            12 | 14 | 101 | 228 | 229 => Some(Self::Raw),
            113 => Some(Self::Sll),
            276 => Some(Self::Sll2),
            _ => None,
        }
    }
}

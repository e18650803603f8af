//! Link-layer types.

/// Supported link-layer types, by their number in <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Ethernet,
    /// Address family in four bytes.
    Loopback,
    Raw,
    /// Linux cooked captures.
    Sll,
    Sll2,
    Ppp,
    PppWithDirection,
    /// IEEE 802.11, without and with a radiotap header.
    Wifi,
    Radiotap,
    /// Linux netfilter log.
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

//! What a plug-in is asked.

/// What a plug-in may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Callback {
    /// Making a flow's state.
    Create,
    /// An ACK.
    OnAck,
    /// A loss.
    OnLoss,
    /// A timeout.
    OnTimeout,
    /// CE marks.
    OnEcn,
    /// A packet was sent.
    OnSent,
    /// A frame of a live source.
    OnFrame,
    /// The connection is set up.
    OnEstablished,
    /// A loss that was none.
    OnSpuriousLoss,
    /// Its timer.
    OnWake,
    /// The end of an episode.
    OnRecovered,
    /// The window and the pacing rate that the controller allows.
    Control,
    /// Values for plots.
    Fields,
    /// The end of a flow's state.
    Destroy,
}

impl Callback {
    pub(crate) const ALL: [Self; 14] = [
        Self::Create,
        Self::OnAck,
        Self::OnLoss,
        Self::OnTimeout,
        Self::OnEcn,
        Self::OnSent,
        Self::OnFrame,
        Self::OnEstablished,
        Self::OnSpuriousLoss,
        Self::OnWake,
        Self::OnRecovered,
        Self::Control,
        Self::Fields,
        Self::Destroy,
    ];

    /// The callbacks that report events, in order: a controller may be without any of them.
    pub fn events() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|callback| {
            !matches!(callback, Self::Create | Self::Control | Self::Fields | Self::Destroy)
        })
    }

    /// Its name in the interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::OnAck => "on_ack",
            Self::OnLoss => "on_loss",
            Self::OnTimeout => "on_timeout",
            Self::OnEcn => "on_ecn",
            Self::OnSent => "on_sent",
            Self::OnFrame => "on_frame",
            Self::OnEstablished => "on_established",
            Self::OnSpuriousLoss => "on_spurious_loss",
            Self::OnWake => "on_wake",
            Self::OnRecovered => "on_recovered",
            Self::Control => "control",
            Self::Fields => "fields",
            Self::Destroy => "destroy",
        }
    }
}

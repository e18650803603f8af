//! Callbacks of a plug-in.

/// Callback of a plug-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Callback {
    /// Creation of a flow's state.
    Create,
    /// ACK.
    OnAck,
    /// Loss.
    OnLoss,
    /// Timeout.
    OnTimeout,
    /// CE marks.
    OnEcn,
    /// Transmission of a packet.
    OnSent,
    /// Frame of a live source.
    OnFrame,
    /// Completion of the connection setup.
    OnEstablished,
    /// Spurious loss.
    OnSpuriousLoss,
    /// Timer of the controller.
    OnWake,
    /// End of a loss episode.
    OnRecovered,
    /// Window and pacing rate that the controller allows.
    Control,
    /// Values for plots.
    Fields,
    /// Destruction of a flow's state.
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

    /// Returns the callbacks that report events, in order. Each of them is optional for a controller.
    pub fn events() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|callback| {
            !matches!(callback, Self::Create | Self::Control | Self::Fields | Self::Destroy)
        })
    }

    /// Returns the name in the interface.
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

//! Sans-IO path elements and their composition: the same objects run under the simulator's virtual clock and under
//! the emulator's real one.

mod packet;
mod tap;

pub use packet::{Ecn, Packet};
pub use tap::{NoTap, PacketEvent, Tap};

//! Memory of the packets inside the path: slots of one size that are reused, no allocation per packet.

use crate::inspect::Content;
use crate::superpacket::HEADER_BYTES;

/// Reference-counted slots, each one packet; a slot's number is the token of the path's packets. Each has memory of its
/// own: one block for all would be copied, at length, whenever a queue grows.
#[derive(Debug)]
pub(crate) struct Buffers {
    slot_bytes: usize,
    most_slots: usize,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    memory: Box<[u8]>,
    /// Length of the packet behind its header, bytes.
    length: u32,
    users: u32,
    content: Content,
}

impl Buffers {
    /// At most `most_slots` slots for packets of at most `mtu_bytes`.
    pub(crate) const fn new(mtu_bytes: u32, most_slots: usize) -> Self {
        Self {
            slot_bytes: HEADER_BYTES + mtu_bytes as usize,
            most_slots,
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    /// A free slot with one user, and its memory; none if all that there may be are in use.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(u32, &mut [u8])> {
        let token = match self.free.pop() {
            Some(token) => token,
            None => self.grow()?,
        };
        let slot = &mut self.slots[token as usize];
        slot.users = 1;
        Some((token, &mut slot.memory))
    }

    #[cold]
    fn grow(&mut self) -> Option<u32> {
        if self.slots.len() >= self.most_slots {
            return None;
        }
        let memory = vec![0; self.slot_bytes].into_boxed_slice();
        self.slots.push(Slot { memory, length: 0, users: 0, content: Content::Nothing });
        Some((self.slots.len() - 1) as u32)
    }

    /// The slot holds a header and a packet, of that length together; gives the packet back.
    #[inline]
    pub(crate) fn fill(&mut self, token: u32, length: usize) -> &[u8] {
        self.slots[token as usize].length = (length - HEADER_BYTES) as u32;
        self.packet(token)
    }

    /// What the packet in the slot carries.
    #[inline]
    pub(crate) fn tell(&mut self, token: u32, content: Content) {
        self.slots[token as usize].content = content;
    }

    #[inline]
    pub(crate) fn packet(&mut self, token: u32) -> &mut [u8] {
        let slot = &mut self.slots[token as usize];
        &mut slot.memory[HEADER_BYTES..][..slot.length as usize]
    }

    /// Header and packet in the slot.
    #[inline]
    pub(crate) fn framed(&self, token: u32) -> &[u8] {
        let slot = &self.slots[token as usize];
        &slot.memory[..HEADER_BYTES + slot.length as usize]
    }

    /// The packet in the slot, to look at.
    pub(crate) fn peek(&self, token: u32) -> &[u8] {
        let slot = &self.slots[token as usize];
        &slot.memory[HEADER_BYTES..][..slot.length as usize]
    }

    #[inline]
    pub(crate) fn content(&self, token: u32) -> Content {
        self.slots[token as usize].content
    }

    /// One packet more carries the token.
    pub(crate) fn share(&mut self, token: u32) {
        self.slots[token as usize].users += 1;
    }

    /// One packet less carries it.
    #[inline]
    pub(crate) fn release(&mut self, token: u32) {
        let slot = &mut self.slots[token as usize];
        slot.users -= 1;
        if slot.users == 0 {
            self.free.push(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_reused_when_its_last_user_is_gone() {
        let mut buffers = Buffers::new(1500, 2);
        let (token, memory) = buffers.take().unwrap();
        memory[HEADER_BYTES..][..3].copy_from_slice(b"abc");
        assert_eq!(buffers.fill(token, HEADER_BYTES + 3), b"abc");
        buffers.tell(token, Content::Opaque { payload_bytes: 1 });
        buffers.share(token);
        buffers.release(token);
        let (other, _) = buffers.take().unwrap();
        assert_ne!(other, token);
        assert!(buffers.take().is_none(), "there are two");
        assert_eq!(buffers.packet(token), b"abc");
        assert_eq!(buffers.content(token).payload_bytes(), 1);
        buffers.release(token);
        assert_eq!(buffers.take().unwrap().0, token);
    }
}

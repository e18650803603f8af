//! Authentication of datagrams with a tag from a secret key of the run (RFC 8439). Only the two ends of a run can make
//! valid tags.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use std::fmt;
use strict_input::Refusal;

/// Number of bytes that authentication adds to a datagram.
pub const TAG_BYTES: usize = 16;

/// Secret key of the two ends of a run: 32 random bytes, for one flow in one direction.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Parses 64 hexadecimal digits.
    ///
    /// # Errors
    /// Returns one line without the digits.
    pub fn from_hex(text: &str) -> Result<Self, Refusal> {
        let refused = || Refusal::new("a key of the run is not 64 hexadecimal digits");
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(refused());
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| refused())?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(..)")
    }
}

/// Kind of a datagram. Each kind has its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Data packet of the built-in transport.
    Data = 1,
    /// ACK of the built-in transport.
    Ack = 2,
    /// Packet in a tunnel.
    Packet = 3,
    /// Greeting, which reveals the sender's address and keeps NAT bindings open.
    Hello = 4,
    /// Clock probe, which asks for the time.
    Ask = 5,
    /// Reply to a clock probe.
    Answer = 6,
}

/// Tag maker and checker of one direction.
pub struct Seal {
    cipher: ChaCha20Poly1305,
}

impl fmt::Debug for Seal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Seal(..)")
    }
}

impl Seal {
    /// Creates a seal with this key.
    pub fn new(key: &Key) -> Self {
        Self { cipher: ChaCha20Poly1305::new(&key.0.into()) }
    }

    /// Encrypts `body` in place. Returns the tag of `body` and the unencrypted `head`. A number must be used only once
    /// per kind.
    pub fn close(&self, kind: Kind, number: u64, head: &[u8], body: &mut [u8]) -> [u8; TAG_BYTES] {
        let tag = self.cipher.encrypt_inout_detached(&nonce(kind, number).into(), head, body.into());
        // The library refuses only inputs that are longer than any datagram.
        tag.map_or([0; TAG_BYTES], Into::into)
    }

    /// Decrypts `body` in place. Returns true if `body`, `head` and `tag` match; otherwise `body` is unchanged.
    #[must_use]
    pub fn open(&self, kind: Kind, number: u64, head: &[u8], body: &mut [u8], tag: &[u8]) -> bool {
        let Ok(tag) = <[u8; TAG_BYTES]>::try_from(tag) else { return false };
        let nonce = nonce(kind, number).into();
        self.cipher.decrypt_inout_detached(&nonce, head, body.into(), &tag.into()).is_ok()
    }
}

/// Returns the nonce, which is unique for each datagram of a direction.
fn nonce(kind: Kind, number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[0] = kind as u8;
    nonce[4..].copy_from_slice(&number.to_le_bytes());
    nonce
}

/// Number of remembered numbers: a tenth of a second of full packets at 8 Gbit/s.
const REMEMBERED: u64 = 1 << 16;

/// Window of received numbers, which detects replays (RFC 4303, section 3.4.3).
#[derive(Clone, Debug)]
pub struct Window {
    /// One more than the highest received number.
    next: u64,
    seen: Vec<u64>,
}

impl Default for Window {
    fn default() -> Self {
        Self { next: 0, seen: vec![0; (REMEMBERED / 64) as usize] }
    }
}

impl Window {
    /// Returns true if `number` is new, and records it. Numbers older than the window are not new.
    pub fn is_new(&mut self, number: u64) -> bool {
        if number >= self.next {
            // Skipped numbers are new.
            if number - self.next >= REMEMBERED {
                self.seen.fill(0);
            } else {
                (self.next..number).for_each(|between| self.set(between, false));
            }
            self.next = number + 1;
        } else if self.next - number > REMEMBERED || self.get(number) {
            return false;
        }
        self.set(number, true);
        true
    }

    fn get(&self, number: u64) -> bool {
        self.seen[(number % REMEMBERED / 64) as usize] >> (number % 64) & 1 == 1
    }

    fn set(&mut self, number: u64, seen: bool) {
        let word = &mut self.seen[(number % REMEMBERED / 64) as usize];
        *word = *word & !(1 << (number % 64)) | u64::from(seen) << (number % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Tests that every change of a datagram is detected. The library tests the vector of RFC 8439, section 2.8.2,
    /// which needs its own nonce.
    #[test]
    fn whatever_is_changed_is_found() {
        let seal = Seal::new(&Key::from_hex(&"5a".repeat(32)).unwrap());
        let (head, mut body) = (*b"head", *b"body of a packet");
        let tag = seal.close(Kind::Packet, 7, &head, &mut body);
        assert_ne!(&body, b"body of a packet");
        let closed = body;
        for change in 0..head.len() + body.len() + tag.len() {
            let mut all = [&head[..], &closed, &tag].concat();
            all[change] ^= 1;
            let (head, rest) = all.split_at_mut(4);
            let (body, tag) = rest.split_at_mut(16);
            assert!(!seal.open(Kind::Packet, 7, head, body, tag), "{change}");
        }
        assert!(!seal.open(Kind::Packet, 8, &head, &mut body, &tag));
        assert!(!seal.open(Kind::Hello, 7, &head, &mut body, &tag));
        let other = Seal::new(&Key::from_hex(&"5b".repeat(32)).unwrap());
        assert!(!other.open(Kind::Packet, 7, &head, &mut body, &tag));
        assert!(seal.open(Kind::Packet, 7, &head, &mut body, &tag));
        assert_eq!(&body, b"body of a packet");
    }

    #[test]
    fn keys_are_not_shown() {
        let key = Key::from_hex(&"c0ffee01".repeat(8)).unwrap();
        assert_eq!(format!("{key:?} {:?}", Seal::new(&key)), "Key(..) Seal(..)");
        for wrong in ["", "5a", &"zz".repeat(32), &"5a".repeat(33)] {
            let error = Key::from_hex(wrong).unwrap_err().to_string();
            assert!(error.contains("64 hexadecimal digits") && !error.contains("5a"));
        }
    }

    proptest! {
        #[test]
        fn a_number_is_new_once(numbers in proptest::collection::vec(0_u64..300_000, 1..400)) {
            let (mut window, mut seen, mut highest) = (Window::default(), HashSet::new(), 0);
            for number in numbers {
                highest = number.max(highest);
                let remembered = number + REMEMBERED > highest;
                prop_assert_eq!(window.is_new(number), seen.insert(number) && remembered);
            }
        }
    }
}

//! Numbers of variable length.

/// Exclusive limit of the numbers on the wire.
pub(super) const LIMIT: u64 = 1 << 60;

/// Appends `value` as a LEB128 varint.
pub(super) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Removes a number from the front of `bytes`; `None` if there is no number below the limit.
pub(super) fn get(bytes: &mut &[u8]) -> Option<u64> {
    get_varint(bytes).filter(|value| *value < LIMIT)
}

/// Removes a number of up to 63 bits, which may be a zigzag number, from the front of `bytes`.
pub(super) fn get_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    // Nine bytes hold 63 bits.
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Returns the step back from `from` to `to` as a zigzag number. Small steps of either sign are small numbers.
pub(super) const fn zigzag(from: u64, to: u64) -> u64 {
    let step = from as i64 - to as i64;
    (step << 1 ^ step >> 63) as u64
}

/// Returns the value that is `zigzag` back from `from`.
pub(super) fn back(from: u64, zigzag: u64) -> Option<u64> {
    let step = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    let value = u64::try_from(from as i64 - step).ok()?;
    (value <= LIMIT).then_some(value)
}

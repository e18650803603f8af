//! Binary format of pyramids. The reader checks everything, since the bytes may come from anybody.
//!
//! The format begins with a line of text and the version. Numbers follow, 7 bits per byte, the lowest bits first; the
//! top bit tells whether more bytes follow. Signed numbers have their sign in the lowest bit. Ordered times and
//! numbers are stored as differences. A checksum of all bytes is at the end.

use crate::bins::{Bin, Bins};
use crate::checkpoints::Checkpoints;
use crate::error::Error;
use crate::pyramid::{
    FlowIndex, MAX_BINS, MAX_FLOWS, MAX_NAME_BYTES, MAX_NAMES, MAX_RARE, MAX_SAMPLED, Owner, Pyramid,
    SampledSeries,
};
use crate::rare::{Rare, RareKind, Rares};
use crate::resends::{MAX_RESENDS, Resends};
use crate::sums::{Sums, is_width};

const MAGIC: &[u8] = b"dumbbell index of a run\n";
const VERSION: u64 = 1;
/// Maximum bins of all series together that are read.
const MAX_BINS_READ: usize = 1 << 22;
/// Length of the checksum, bytes.
const SUM_BYTES: usize = 8;
/// Limit below which `f64` holds whole numbers exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

const fn damage_error(problem: &'static str) -> Error {
    Error::Damaged { problem }
}

impl Pyramid {
    /// Returns the pyramid as bytes, for a file beside the log.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.number(VERSION);
        for number in [self.records, self.samples, self.end_ns, self.flows_left_out] {
            out.number(number);
        }
        for sums in [&self.density, &self.sample_density, &self.offered] {
            out.sums(sums);
        }
        out.number(self.flows.len() as u64);
        for flow in &self.flows {
            out.flow(flow);
        }
        out.number(self.sampled.len() as u64);
        for series in &self.sampled {
            out.owner(&series.owner);
            out.text(&series.field);
            out.text(&series.unit);
            out.bins(&series.bins);
        }
        for rares in &self.rare {
            out.rares(rares);
        }
        out.number(self.texts.len() as u64);
        for text in &self.texts {
            out.text(text);
        }
        let sum = sum_of(&out.0);
        out.0.extend(sum.to_le_bytes());
        out.0
    }

    /// Reads the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// Returns an error if the bytes have another format or version, or are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(Error::Foreign)?;
        let mut source = Reader(rest, MAX_BINS_READ);
        let version = source.number()?;
        if version != VERSION {
            return Err(Error::Version { found: version, wanted: VERSION });
        }
        let end = rest.len().checked_sub(SUM_BYTES).ok_or(damage_error("it is cut off"))?;
        let (_, sum) = rest.split_at(end);
        if sum_of(&bytes[..bytes.len() - SUM_BYTES]).to_le_bytes() != sum {
            return Err(damage_error("its bytes are not those that were written"));
        }
        let read = rest.len() - source.0.len();
        source.0 = rest.get(read..end).ok_or(damage_error("it is cut off"))?;
        let pyramid = source.pyramid()?;
        if !source.0.is_empty() {
            return Err(damage_error("something follows its end"));
        }
        Ok(pyramid)
    }
}

/// Returns the checksum: FNV-1a over 8 bytes at a time.
fn sum_of(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    let mut sum = 0xcbf2_9ce4_8422_2325;
    let words = bytes.chunks(8);
    for word in words {
        let mut whole = [0; 8];
        whole[..word.len()].copy_from_slice(word);
        sum = step(sum, u64::from_le_bytes(whole));
    }
    step(sum, bytes.len() as u64)
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    fn owner(&mut self, owner: &Owner) {
        match owner {
            Owner::Flow(number) => {
                self.number(0);
                self.number(u64::from(*number));
            }
            Owner::Link(name) => {
                self.number(1);
                self.text(name);
            }
            Owner::Path => self.number(2),
        }
    }

    fn sums(&mut self, sums: &Sums) {
        self.number(sums.width_ns);
        self.number(sums.bins.len() as u64);
        let mut last = 0;
        for &(bin, sum) in &sums.bins {
            self.number(bin - last);
            self.number(sum);
            last = bin;
        }
    }

    fn bins(&mut self, bins: &Bins) {
        self.number(bins.per);
        self.number(bins.cell_ns);
        self.number(bins.list.len() as u64);
        let is_whole = |value: f64| {
            value.trunc() == value && value.abs() < EXACT && value.to_bits() != (-0.0_f64).to_bits()
        };
        let whole = bins.list.iter().all(|bin| [bin.low, bin.high, bin.close].into_iter().all(is_whole));
        self.number(u64::from(whole));
        let (mut last_ns, mut last) = (0, 0.0);
        for bin in &bins.list {
            self.number(bin.first_ns - last_ns);
            self.value(whole, bin.low, last);
            last = bin.low;
            if bins.per > 1 {
                self.number(bin.last_ns - bin.first_ns);
                self.number(bin.count);
                self.value(whole, bin.high, bin.low);
                self.value(whole, bin.close, bin.low);
            }
            last_ns = bin.last_ns;
        }
    }

    fn value(&mut self, whole: bool, value: f64, last: f64) {
        if whole {
            self.signed(value as i64 - last as i64);
        } else {
            self.0.extend(value.to_le_bytes());
        }
    }

    fn flow(&mut self, flow: &FlowIndex) {
        self.number(u64::from(flow.number));
        for number in [flow.packets_sent, flow.packets_delivered, flow.longest_ack_delay_ns] {
            self.number(number);
        }
        self.number(u64::from(flow.tells_acked));
        self.number(u64::from(flow.tells_new));
        self.number(flow.resends.total);
        self.number(flow.resends.packets.len() as u64);
        let mut last = 0;
        for &packet in &flow.resends.packets {
            self.number(packet - last);
            last = packet;
        }
        self.sums(&flow.sent);
        self.sums(&flow.delivered);
        self.bins(&flow.delay);
        let checkpoints = &flow.checkpoints;
        self.number(u64::from(checkpoints.ascends));
        self.number(checkpoints.stride);
        self.number(checkpoints.at.len() as u64);
        let mut last = (0, 0);
        for &(time_ns, seq) in &checkpoints.at {
            self.number(time_ns - last.0);
            self.number(seq - last.1);
            last = (time_ns, seq);
        }
    }

    fn rares(&mut self, rares: &Rares) {
        self.number(rares.total);
        self.number(rares.cell_ns);
        self.number(rares.events.len() as u64);
        let mut last = Rare { time_ns: 0, flow: 0, detail: 0 };
        for event in &rares.events {
            self.number(event.time_ns - last.time_ns);
            self.signed(i64::from(event.flow) - i64::from(last.flow));
            self.signed(event.detail.wrapping_sub(last.detail) as i64);
            last = *event;
        }
    }
}

/// Remaining bytes, and the number of bins still allowed: a bin takes more memory than bytes.
struct Reader<'a>(&'a [u8], usize);

impl Reader<'_> {
    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damage_error("a number is too long"))
    }

    fn byte(&mut self) -> Result<u8, Error> {
        let (&byte, rest) = self.0.split_first().ok_or(damage_error("it is cut off"))?;
        self.0 = rest;
        Ok(byte)
    }

    fn signed(&mut self) -> Result<i64, Error> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn float(&mut self) -> Result<f64, Error> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(damage_error("it is cut off"))?;
        self.0 = rest;
        let value = f64::from_le_bytes(*bytes);
        if value.is_finite() { Ok(value) } else { Err(damage_error("a value is no number")) }
    }

    /// Reads the number of items that take at least `least_bytes` each.
    fn count(&mut self, most: usize, least_bytes: usize) -> Result<usize, Error> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > most {
            return Err(damage_error("it has more of something than is ever written"));
        }
        if count.saturating_mul(least_bytes) > self.0.len() {
            return Err(damage_error("it is cut off"));
        }
        Ok(count)
    }

    fn bin_count(&mut self) -> Result<usize, Error> {
        let count = self.count(MAX_BINS, 2)?;
        self.1 = self.1.checked_sub(count).ok_or(damage_error("it has more bins than are ever written"))?;
        Ok(count)
    }

    fn flag(&mut self) -> Result<bool, Error> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damage_error("a flag is neither 0 nor 1")),
        }
    }

    fn flow_number(&mut self) -> Result<u32, Error> {
        u32::try_from(self.number()?).map_err(|_| damage_error("a flow's number is too large"))
    }

    fn text(&mut self) -> Result<String, Error> {
        let length = self.count(MAX_NAME_BYTES, 1)?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| damage_error("a text is not UTF-8"))
    }

    fn owner(&mut self) -> Result<Owner, Error> {
        match self.number()? {
            0 => Ok(Owner::Flow(self.flow_number()?)),
            1 => Ok(Owner::Link(self.text()?)),
            2 => Ok(Owner::Path),
            _ => Err(damage_error("a series has an owner of an unknown kind")),
        }
    }

    fn later(&mut self, than_ns: u64) -> Result<u64, Error> {
        than_ns.checked_add(self.number()?).ok_or(damage_error("a time or number is too large"))
    }

    fn sums(&mut self) -> Result<Sums, Error> {
        let width_ns = self.number()?;
        if !is_width(width_ns) {
            return Err(damage_error("bins have a width that is never written"));
        }
        let count = self.bin_count()?;
        let mut bins = Vec::with_capacity(count);
        let mut last = None;
        for _ in 0..count {
            let bin = self.later(last.unwrap_or(0))?;
            if last == Some(bin) || bin.checked_add(1).and_then(|next| next.checked_mul(width_ns)).is_none() {
                return Err(damage_error("its bins are not in order of time"));
            }
            bins.push((bin, self.number()?));
            last = Some(bin);
        }
        Ok(Sums { width_ns, bins })
    }

    fn bins(&mut self) -> Result<Bins, Error> {
        let (per, cell_ns) = (self.number()?, self.number()?);
        if per == 0 || cell_ns == 0 {
            return Err(damage_error("bins are empty"));
        }
        let count = self.bin_count()?;
        let whole = self.flag()?;
        let mut bins = Vec::with_capacity(count);
        let (mut last_ns, mut last) = (0, 0.0);
        for _ in 0..count {
            let first_ns = self.later(last_ns)?;
            let low = self.value(whole, last)?;
            let mut bin = Bin::of(first_ns, low);
            if per > 1 {
                bin.last_ns = self.later(first_ns)?;
                bin.count = self.number()?;
                bin.high = self.value(whole, low)?;
                bin.close = self.value(whole, low)?;
                if bin.count == 0 || bin.high < low || bin.close < low || bin.close > bin.high {
                    return Err(damage_error("a bin contradicts itself"));
                }
            }
            last_ns = bin.last_ns;
            last = low;
            bins.push(bin);
        }
        Ok(Bins { list: bins, per, cell_ns })
    }

    fn value(&mut self, whole: bool, last: f64) -> Result<f64, Error> {
        if !whole {
            return self.float();
        }
        let value = (last as i64).checked_add(self.signed()?).map(|value| value as f64);
        value.filter(|value| value.abs() < EXACT).ok_or(damage_error("a value is too large"))
    }

    fn flow(&mut self, after: Option<u32>) -> Result<FlowIndex, Error> {
        let number = self.flow_number()?;
        if after.is_some_and(|after| number <= after) {
            return Err(damage_error("its flows are not in order"));
        }
        let (packets_sent, packets_delivered) = (self.number()?, self.number()?);
        let longest_ack_delay_ns = self.number()?;
        let (tells_acked, tells_new) = (self.flag()?, self.flag()?);
        let resend_count = self.number()?;
        let mut packets = Vec::with_capacity(self.count(MAX_RESENDS, 1)?);
        for _ in 0..packets.capacity() {
            packets.push(self.later(packets.last().copied().unwrap_or(0))?);
        }
        if packets.len() as u64 > resend_count {
            return Err(damage_error("it has more retransmissions than it says"));
        }
        let (sent, delivered, delay) = (self.sums()?, self.sums()?, self.bins()?);
        let (ascends, stride) = (self.flag()?, self.number()?);
        let count = self.count(Checkpoints::most(), 2)?;
        if stride == 0 {
            return Err(damage_error("its checkpoints have no distance"));
        }
        let mut at = Vec::with_capacity(count);
        let mut last = (0, 0);
        for _ in 0..count {
            last = (self.later(last.0)?, self.later(last.1)?);
            at.push(last);
        }
        let checkpoints = Checkpoints::of(at, stride, ascends);
        Ok(FlowIndex {
            number,
            sent,
            delivered,
            delay,
            checkpoints,
            packets_sent,
            packets_delivered,
            longest_ack_delay_ns,
            tells_acked,
            tells_new,
            resends: Resends::of(packets, resend_count),
        })
    }

    fn rares(&mut self) -> Result<Rares, Error> {
        let (total, cell_ns) = (self.number()?, self.number()?);
        let count = self.count(MAX_RARE, 3)?;
        if (count as u64) > total || (cell_ns == 0 && (count as u64) < total) {
            return Err(damage_error("it has another number of events than it says"));
        }
        let mut events = Vec::with_capacity(count);
        let mut last = Rare { time_ns: 0, flow: 0, detail: 0 };
        for _ in 0..count {
            let time_ns = self.later(last.time_ns)?;
            let flow = i64::from(last.flow).checked_add(self.signed()?);
            let flow = flow.and_then(|flow| u32::try_from(flow).ok());
            let flow = flow.ok_or(damage_error("a flow's number is too large"))?;
            last = Rare { time_ns, flow, detail: last.detail.wrapping_add(self.signed()? as u64) };
            events.push(last);
        }
        Ok(Rares::of(events, total, cell_ns))
    }

    fn pyramid(&mut self) -> Result<Pyramid, Error> {
        let mut pyramid = Pyramid {
            records: self.number()?,
            samples: self.number()?,
            end_ns: self.number()?,
            flows_left_out: self.number()?,
            density: self.sums()?,
            sample_density: self.sums()?,
            offered: self.sums()?,
            ..Pyramid::default()
        };
        for _ in 0..self.count(MAX_FLOWS, 1)? {
            let after = pyramid.flows.last().map(|flow| flow.number);
            pyramid.flows.push(self.flow(after)?);
        }
        for _ in 0..self.count(MAX_SAMPLED, 1)? {
            let (owner, field, unit, bins) = (self.owner()?, self.text()?, self.text()?, self.bins()?);
            pyramid.sampled.push(SampledSeries { owner, field, unit, bins });
        }
        for rares in &mut pyramid.rare {
            *rares = self.rares()?;
        }
        for _ in 0..self.count(MAX_NAMES.max(MAX_FLOWS), 1)? {
            pyramid.texts.push(self.text()?);
        }
        let texts = pyramid.texts.len() as u64;
        if pyramid.rare[RareKind::Mode as usize].events.iter().any(|event| event.detail >= texts) {
            return Err(damage_error("a mode has no name"));
        }
        Ok(pyramid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoRows, PyramidBuilder, SeriesSelector, View};
    use proptest::prelude::*;
    use record::{Event, Record};

    fn pyramid() -> Pyramid {
        let mut builder = PyramidBuilder::new();
        for at in 0..3_000_u64 {
            let event = Event::ALL[(at % 14) as usize];
            builder.record(&Record {
                time_ns: at * 700_000,
                flow: (at % 3) as u32,
                event,
                seq: at / 3,
                size_bytes: 1_500,
                data_bytes: 1_448,
                one_way_delay_ns: (at % 77) as i64 * 1_000_000,
            });
            builder.flow_value(at * 700_000, 1, "mode", "0 startup, 1 drain", (at / 900) as f64);
            builder.link_value(at * 700_000, "data/link", "queue", "packets", (at % 50) as f64 / 4.0);
        }
        builder.finish()
    }

    /// Returns the bytes with a correct checksum, as an attacker would write them.
    fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.truncate(bytes.len() - SUM_BYTES);
        bytes.extend(sum_of(&bytes).to_le_bytes());
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn whatever_is_read_is_shown_without_a_crash(
            places in prop::collection::vec((0usize..1 << 20, any::<u8>()), 1..6), whole in 0u8..4,
        ) {
            let mut bytes = pyramid_bytes();
            let head = MAGIC.len() + 1;
            for (place, byte) in places {
                let place = head + place % (bytes.len() - head);
                bytes[place] = byte;
            }
            if whole == 0 {
                let length = bytes.len();
                bytes.truncate(length - length / 3);
            }
            match Pyramid::from_bytes(&with_checksum(bytes)) {
                Ok(read) => {
                    let selectors: Vec<SeriesSelector> =
                        read.series().into_iter().take(40).map(|one| SeriesSelector::Owned(one.owner, one.name)).collect();
                    let view = View::new(&read, &NoRows);
                    for end_ns in [1.0, 2e9, 4e18] {
                        view.window(0.0, end_ns, 100, &selectors).unwrap();
                    }
                    let resend_count = Pyramid::from_bytes(&read.to_bytes());
                    prop_assert!(resend_count.is_ok());
                }
                Err(error) => prop_assert!(!error.to_string().contains('\n')),
            }
        }
    }

    fn pyramid_bytes() -> Vec<u8> {
        static BYTES: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| pyramid().to_bytes());
        BYTES.clone()
    }
}

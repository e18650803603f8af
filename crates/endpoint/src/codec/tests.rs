use super::varint::LIMIT;
use super::*;
use proptest::prelude::*;
use transport::{AckFrame, Arrival, Config, Data, EcnCounts, FrameMark, Part, Range};
use units::{Span, Time};

fn encoded(frame: &AckFrame, datagram_bytes: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_ack(frame, datagram_bytes, &mut bytes);
    bytes
}

fn decoded(bytes: &[u8]) -> Option<AckFrame> {
    let mut frame = AckFrame::default();
    decode_ack(bytes, &mut frame).map(|()| frame)
}

#[test]
fn usual_packets_have_the_size_of_the_configuration() {
    let (number, offset) = (1_500_000, 2_000_000_000);
    let (data, mut bytes) = (
        Data {
            number,
            offset,
            payload_bytes: 1448,
            datagram_bytes: 1500,
            sent_at: Time::from_secs_f64(59.0),
            least_unacked: number - 5000,
            retransmission: true,
            ..Data::default()
        },
        Vec::new(),
    );
    encode_data(&data, &mut bytes);
    assert_eq!(bytes.len(), 1472);
    assert_eq!(decode_data(&bytes[..DATA_HEAD_BYTES]), Some(data));
    let arrival =
        |number, us| Arrival { number, at: Time::from_secs_f64(59.0) + Span::from_us(us), ce: false };
    let frame = AckFrame {
        number: number / 2,
        largest: number,
        delay: Span::ZERO,
        ranges: [Range { start: number - 5000, end: number + 1 }].into_iter().collect(),
        arrivals: [arrival(number - 1, 0), arrival(number, 120)].into_iter().collect(),
        ecn: EcnCounts::default(),
        next_offset: offset,
        feedback: Vec::new(),
        padding_bytes: 0,
        part: None,
    };
    let config = Config::tcp();
    let bytes = encoded(&frame, ack_datagram_bytes(&config, &frame));
    assert_eq!(bytes.len() as u32, config.ack_bytes - IP_UDP_BYTES);
    assert_eq!(decoded(&bytes), Some(frame));
}

#[test]
fn an_opener_is_a_little_longer_than_its_headers() {
    let (data, mut bytes) = (Data { datagram_bytes: 30, ..Data::default() }, Vec::new());
    encode_data(&data, &mut bytes);
    assert_eq!((bytes.len(), decode_data(&bytes)), (7, Some(data)));
}

#[test]
fn data_and_acks_are_told_apart() {
    let (mut bytes, mut frame) = (Vec::new(), AckFrame::default());
    encode_data(&Data { datagram_bytes: 1500, ..Data::default() }, &mut bytes);
    assert!(decode_ack(&bytes, &mut frame).is_none());
    assert!(decode_data(&encoded(&AckFrame::default(), 52)).is_none());
    assert!(data_fields(&encoded(&AckFrame::default(), 52)).is_none());
}

fn number() -> impl Strategy<Value = u64> {
    // Small numbers are as frequent as large ones.
    (0..LIMIT, 0u32..60).prop_map(|(value, shift)| value >> shift)
}

prop_compose! {
    fn any_frame()(number in 1u32.., bytes: u32, key: bool, captured_at in number(), paused in number()) -> FrameMark {
        FrameMark { number, bytes, key, captured_at: Time::from_ns(captured_at), paused: Span::from_ns(paused) }
    }
}

prop_compose! {
    fn any_data()(
        number in number(), back in number(), offset in number(), sent_at in number(),
        payload_bytes in 0u32..3000, header_bytes in 0u32..100, retransmission: bool, filler: bool,
        frame in prop::option::of(any_frame()), message in prop::option::of(any::<[u64; 2]>()),
    ) -> Data {
        Data {
            number,
            offset,
            payload_bytes,
            datagram_bytes: payload_bytes + header_bytes,
            sent_at: Time::from_ns(sent_at),
            least_unacked: number.saturating_sub(back),
            retransmission,
            filler,
            frame: frame.unwrap_or_default(),
            message: message.unwrap_or_default(),
        }
    }
}

prop_compose! {
    fn any_ack()(
        number in number(), largest in number(), next_offset in number(), delay in number(),
        ends in prop::collection::vec((number(), number()), 0..40),
        arrivals in prop::collection::vec((number(), number(), any::<bool>()), 0..40),
        ecn in (number(), number(), number()), feedback in prop::collection::vec(any::<u8>(), 0..300),
        part in prop::option::of((any::<u32>(), any::<u32>())),
    ) -> AckFrame {
        AckFrame {
            number,
            largest,
            delay: Span::from_ns(delay),
            ranges: ends.iter().map(|&(a, b)| Range { start: a.min(b), end: a.max(b) }).collect(),
            arrivals: arrivals
                .iter()
                .map(|&(number, at, ce)| Arrival { number, at: Time::from_ns(at), ce: ce && ecn.2 > 0 })
                .collect(),
            ecn: EcnCounts { ect0: ecn.0, ect1: ecn.1, ce: ecn.2 },
            next_offset,
            feedback,
            padding_bytes: 0,
            part: part.map(|(index, count)| Part { index, count }),
        }
    }
}

proptest! {
    #[test]
    fn data_comes_back_as_it_was(data in any_data()) {
        let mut bytes = vec![7];
        encode_data(&data, &mut bytes);
        let expected = data.datagram_bytes.saturating_sub(IP_UDP_BYTES) as usize;
        prop_assert!(bytes.len() > expected && bytes.len() <= 1 + expected.max(DATA_HEAD_BYTES));
        prop_assert_eq!(decode_data(&bytes[1..]), Some(data));
        let fields = data_fields(&bytes[1..]).map(|fields| (fields.number, fields.offset));
        prop_assert_eq!(fields, Some((data.number, data.offset)));
    }

    #[test]
    fn acks_come_back_as_they_were(frame in any_ack(), size in 0u32..200) {
        let bytes = encoded(&frame, size);
        prop_assert!(bytes.len() >= size.saturating_sub(IP_UDP_BYTES) as usize);
        prop_assert_eq!(decoded(&bytes), Some(frame));
    }

    #[test]
    fn what_is_cut_short_is_refused(frame in any_ack(), data in any_data(), cut in 0.0..1.0f64) {
        let bytes = encoded(&frame, 0);
        prop_assert_eq!(decoded(&bytes[..(bytes.len() as f64 * cut) as usize]), None);
        let (mut bytes, data) = (Vec::new(), Data { datagram_bytes: data.payload_bytes, ..data });
        encode_data(&data, &mut bytes);
        let head = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let cut = (head as f64 * cut) as usize;
        prop_assert_ne!(decode_data(&bytes[..cut]), Some(data));
    }

    #[test]
    fn random_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0..3) {
        if let (Some(first), 1..) = (bytes.first_mut(), kind) {
            *first = *first & !KIND_MASK | if kind == 1 { DATA } else { ACK };
        }
        // Decoded numbers stay far from overflow for any input.
        if let Some(data) = decode_data(&bytes) {
            prop_assert!(data.number < LIMIT && data.offset < LIMIT && data.least_unacked <= data.number);
        }
        if let Some(frame) = decoded(&bytes) {
            prop_assert!(frame.ranges.iter().all(|range| range.start <= range.end && range.end <= LIMIT));
            prop_assert!(frame.arrivals.iter().all(|arrival| arrival.number <= LIMIT));
        }
    }
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { type LiveRun, namedValue, Track, toDisplayUnit } from "../../src/live/feed";
import { close } from "../close";

interface Moment {
    at_s: number;
    delivered?: number;
    sent?: number;
    p95?: number | null;
    flow?: number;
    queue?: number;
}

function moment({ at_s, delivered = 0, sent = 0, p95 = null, flow = 1, queue = 0 }: Moment): LiveRun {
    return {
        key: "k",
        id: null,
        label: "run",
        at_s,
        duration_s: 60,
        attempt: 1,
        flows: [
            {
                flow,
                scheme: "cubic",
                sent_bytes: sent,
                delivered_bytes: delivered,
                delay_ms: p95 === null ? null : { p50: 1, p95, max: 99 },
                state: [{ name: "cwnd", unit: "bytes", value: 15_000 }],
            },
        ],
        links: [
            {
                name: "bottleneck",
                queue_packets: queue,
                queue_bytes: 0,
                dropped_packets: 0,
                marked_packets: 0,
                delivered_bytes: 0,
                offered_bytes: 0,
            },
        ],
    };
}

function trackOf(...moments: Moment[]): Track {
    const [first, ...rest] = moments.map(moment);
    const track = new Track(first!);
    for (const next of rest) track.take(next);
    return track;
}

test("a rate is what was delivered since the moment before", () => {
    const track = trackOf({ at_s: 1, delivered: 1000 }, { at_s: 3, delivered: 251_000 });
    // 250,000 bytes in 2 s
    close(track.last("rate", "flow 1"), 1);
    assert.deepEqual(track.times, [1, 3]);
});

test("at the first moment no rate is known, and none is below zero", () => {
    assert.equal(trackOf({ at_s: 1, delivered: 1000 }).last("rate", "flow 1"), null);
    assert.equal(trackOf({ at_s: 1, delivered: 1000 }, { at_s: 2, delivered: 10 }).last("rate", "flow 1"), 0);
});

test("as long as nothing was delivered the rate is that of sending", () => {
    const track = trackOf({ at_s: 1 }, { at_s: 2, sent: 125_000 });
    close(track.last("sent", "flow 1"), 1);
    assert.deepEqual(track.lines("rate"), []);
});

test("every line has a value for every time", () => {
    const track = trackOf({ at_s: 1, p95: 5 }, { at_s: 2, flow: 2, p95: 7 }, { at_s: 3, flow: 2, p95: null });
    assert.deepEqual(track.lines("delay"), [
        { key: "flow 1", values: [5, null, null] },
        { key: "flow 2", values: [null, 7, null] },
    ]);
    assert.deepEqual(track.lines("queue"), [{ key: "bottleneck", values: [0, 0, 0] }]);
});

test("what is older than is kept goes, from all lines alike", () => {
    const track = trackOf(...Array.from({ length: 200 }, (_, at_s) => ({ at_s, queue: at_s })));
    assert.equal(track.times[0], 199 - 75);
    assert.equal(track.times.length, 76);
    for (const name of ["queue", "delay", "cwnd"])
        for (const { values } of track.lines(name)) assert.equal(values.length, 76, name);
    assert.equal(track.lines("queue")[0]!.values[0], 124);
});

test("a run that begins again begins with nothing", () => {
    const track = trackOf({ at_s: 5, queue: 9 }, { at_s: 1, queue: 3 });
    assert.deepEqual(track.times, [1]);
    assert.deepEqual(track.lines("queue"), [{ key: "bottleneck", values: [3] }]);
});

test("a copy does not go on", () => {
    const track = trackOf({ at_s: 1, queue: 1 }, { at_s: 2, queue: 2 });
    const copy = track.copy();
    track.take(moment({ at_s: 3, queue: 3 }));
    assert.deepEqual(copy.times, [1, 2]);
    assert.deepEqual(copy.lines("queue"), [{ key: "bottleneck", values: [1, 2] }]);
    assert.equal(track.last("queue", "bottleneck"), 3);
});

test("bytes are shown as kB, other units as they are", () => {
    assert.deepEqual(toDisplayUnit({ name: "cwnd", unit: "bytes", value: 15_000 }), {
        name: "cwnd",
        unit: "kB",
        value: 15,
    });
    assert.deepEqual(toDisplayUnit({ name: "x", unit: "ms", value: 3 }), { name: "x", unit: "ms", value: 3 });
});

test("a value whose unit lists names has one, where it is listed", () => {
    const nameOf = (unit: string, value: number) => namedValue({ name: "mode", unit, value });
    assert.equal(nameOf("0 slow start, 1 avoidance", 1), "avoidance");
    assert.equal(nameOf("0 slow start, 1 avoidance", 0), "slow start");
    assert.equal(nameOf("0 slow start, 1 avoidance", 2), null);
    assert.equal(nameOf("ms", 0), null);
    assert.equal(nameOf("", 0), null);
});

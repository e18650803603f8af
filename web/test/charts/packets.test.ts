import assert from "node:assert/strict";
import { test } from "node:test";
import {
    lifeSteps,
    MARKS,
    nearestPacket,
    type Packets,
    packetsOf,
    STEPS,
    stepActivity,
} from "../../src/charts/packets";
import { Columns } from "../../src/data/columns";
import type { PacketsMeta } from "../../src/data/source";

const NEVER = Number.NaN;

function columns(given: Record<string, number[]>, rows: number): Columns<PacketsMeta> {
    const names = ["flow", "seq", "size_bytes", "retransmission", "sacked", ...STEPS.map(([name]) => name)];
    const columns = names.map((name) => [name, given[name] ?? new Array<number>(rows).fill(NEVER)] as const);
    const acks = Object.entries(given).filter(([name]) => name.startsWith("ack_"));
    const meta: PacketsMeta = { t0_ns: 0, t1_ns: 100, too_many: null, packets: rows, acks: 0 };
    return new Columns(
        meta,
        new Map(
            [...columns, ...acks].map(([name, values]) => [name, { values: Float64Array.from(values), names: null }]),
        ),
    );
}

function two(): Packets {
    return packetsOf(
        columns(
            {
                flow: [1, 1],
                seq: [10, 20],
                send_ns: [100, 200],
                deliver_ns: [150, NEVER],
                drop_ns: [NEVER, 220],
                acked_ns: [180, NEVER],
                retransmission: [0, 1],
                sacked: [0, 0],
            },
            2,
        ),
    );
}

function marks(row: number): string[] {
    const packets = two();
    return MARKS.filter((mark) => !Number.isNaN(mark.at(packets, row))).map(({ id }) => id);
}

test("a packet has a mark for each thing that happened to it", () => {
    assert.deepEqual(marks(0), ["sent", "delivered", "acknowledged"]);
    assert.deepEqual(marks(1), ["retransmitted", "dropped"]);
});

test("a packet that was acknowledged past a gap is SACKed, not acknowledged", () => {
    const packets = packetsOf(columns({ seq: [1], acked_ns: [5], sacked: [1] }, 1));
    const at = (id: string) => MARKS.find((mark) => mark.id === id)!.at(packets, 0);
    assert.equal(at("sacked"), 5);
    assert.ok(Number.isNaN(at("acknowledged")));
});

test("logs without acknowledgements have none", () => {
    assert.equal(two().acks, null);
    const ack = { ack_seq: [1], ack_flow: [1], ack_send_ns: [1], ack_deliver_ns: [2], ack_drop_ns: [NEVER] };
    assert.equal(packetsOf(columns(ack, 1)).acks?.rows, 1);
});

test("the nearest packet is the one whose mark is nearest, within the reach", () => {
    const packets = two();
    const self = (value: number) => value;
    const near = (x: number, y: number, most: number) => nearestPacket(packets, MARKS, self, self, { x, y }, most);
    assert.equal(near(152, 11, 5), 0);
    assert.equal(near(219, 20, 5), 1);
    assert.equal(near(165, 10, 5), null);
    assert.equal(near(165, 10, 15), 0);
});

test("marks that are not drawn are not near", () => {
    const self = (value: number) => value;
    const dropMarks = MARKS.filter(({ id }) => id === "dropped");
    assert.equal(nearestPacket(two(), dropMarks, self, self, { x: 150, y: 10 }, 5), null);
});

test("the life of a packet is in order of time, without what did not happen", () => {
    const times: Record<string, number | null> = {
        send_ns: 1,
        deliver_ns: 9,
        enqueue_ns: 2,
        dequeue_ns: NEVER,
        lost_ns: null,
    };
    assert.deepEqual(
        lifeSteps((step) => times[step]).map(({ name, time }) => [name, time]),
        [
            ["send_ns", 1],
            ["enqueue_ns", 2],
            ["deliver_ns", 9],
        ],
    );
});

test("steps at the same time stay in the order in which they happen", () => {
    assert.deepEqual(
        lifeSteps(() => 5).map(({ name }) => name),
        STEPS.map(([name]) => name),
    );
});

test("the time until a step was spent as the step says", () => {
    assert.equal(stepActivity("enqueue_ns", "dequeue_ns"), "queued");
    assert.equal(stepActivity("send_ns", "enqueue_ns"), "on the way to the queue");
    assert.equal(stepActivity("dequeue_ns", "deliver_ns"), "on the way to the receiver");
    assert.equal(stepActivity("enqueue_ns", "mark_ns"), "later");
});

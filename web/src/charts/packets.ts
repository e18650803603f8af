/** Packets of a window: the events of each packet, and a search for the packet nearest to a place. */

import type { Columns, NumberArray } from "../data/columns";
import type { PacketsMeta } from "../data/source";

/** Events of a packet in order of time, as pairs of time column and title. */
export const STEPS = [
    ["send_ns", "sent"],
    ["enqueue_ns", "entered a queue"],
    ["mark_ns", "marked (CE)"],
    ["drop_ns", "dropped"],
    ["dequeue_ns", "left the queue"],
    ["deliver_ns", "delivered"],
    ["acked_ns", "acknowledged"],
    ["lost_ns", "declared lost"],
] as const;

export type Step = (typeof STEPS)[number][0];

export interface Packets {
    rows: number;
    flow: NumberArray;
    seq: NumberArray;
    size: NumberArray;
    times: Record<Step, NumberArray>;
    retransmission: NumberArray;
    sacked: NumberArray;
    acks: {
        rows: number;
        flow: NumberArray;
        send: NumberArray;
        deliver: NumberArray;
        drop: NumberArray;
        seq: NumberArray;
    } | null;
    /** Number of packets if it exceeds the limit (then no packet is loaded), else 0. */
    tooMany: number;
}

export function packetsOf(columns: Columns<PacketsMeta>): Packets {
    const column = (name: string) => columns.numbers(name);
    const seq = column("seq");
    const times = Object.fromEntries(STEPS.map(([name]) => [name, column(name)])) as Packets["times"];
    return {
        rows: seq.length,
        flow: column("flow"),
        seq,
        size: column("size_bytes"),
        times,
        retransmission: column("retransmission"),
        sacked: column("sacked"),
        acks: columns.has("ack_seq")
            ? {
                  rows: columns.numbers("ack_seq").length,
                  flow: column("ack_flow"),
                  seq: column("ack_seq"),
                  send: column("ack_send_ns"),
                  deliver: column("ack_deliver_ns"),
                  drop: column("ack_drop_ns"),
              }
            : null,
        tooMany: columns.meta?.too_many ?? 0,
    };
}

/** Symbol of one event of a packet. */
export interface Mark {
    id: string;
    title: string;
    says: string;
    color: string;
    dark: string;
    marker: string;
    /** Returns the time of the event for a packet, ns; NaN for a packet without the event. */
    at: (packets: Packets, row: number) => number;
}

const never = Number.NaN;

export const MARKS: Mark[] = [
    {
        id: "sent",
        title: "sent",
        says: "a new packet left the sender",
        color: "#0072b2",
        dark: "#6cb8e6",
        marker: "s",
        at: ({ times, retransmission }, row) => (retransmission[row] === 1 ? never : times.send_ns[row]!),
    },
    {
        id: "retransmitted",
        title: "retransmission",
        says: "a packet left the sender with bytes that were sent before",
        color: "#c2185b",
        dark: "#ff8ab5",
        marker: "D",
        at: ({ times, retransmission }, row) => (retransmission[row] === 1 ? times.send_ns[row]! : never),
    },
    {
        id: "delivered",
        title: "delivered",
        says: "it arrived at the receiver",
        color: "#007a5a",
        dark: "#4fd1a5",
        marker: "o",
        at: ({ times }, row) => times.deliver_ns[row]!,
    },
    {
        id: "acknowledged",
        title: "acknowledged",
        says: "the sender learned that it had arrived, and everything before it too",
        color: "#4d5866",
        dark: "#b7c0cc",
        marker: "^",
        at: ({ times, sacked }, row) => (sacked[row] ? never : times.acked_ns[row]!),
    },
    {
        id: "sacked",
        title: "SACKed",
        says: "the sender learned that it had arrived while an earlier packet was missing",
        color: "#9a6a00",
        dark: "#f2c14e",
        marker: ">",
        at: ({ times, sacked }, row) => (sacked[row] ? times.acked_ns[row]! : never),
    },
    {
        id: "marked",
        title: "CE mark",
        says: "a queue marked it: congestion experienced",
        color: "#8a6100",
        dark: "#ffd97a",
        marker: "*",
        at: ({ times }, row) => times.mark_ns[row]!,
    },
    {
        id: "dropped",
        title: "dropped",
        says: "it was dropped on the path",
        color: "#b3261e",
        dark: "#ff8a80",
        marker: "x",
        at: ({ times }, row) => times.drop_ns[row]!,
    },
    {
        id: "lost",
        title: "declared lost",
        says: "the sender decided that it was lost",
        color: "#7b3fa0",
        dark: "#d3a4f0",
        marker: "v",
        at: ({ times }, row) => times.lost_ns[row]!,
    },
];

/** Returns the row of the packet with the nearest visible mark, at most `maxDistance` pixels away. */
export function nearestPacket(
    packets: Packets,
    marks: readonly Mark[],
    x: (time: number) => number,
    y: (seq: number) => number,
    at: { x: number; y: number },
    maxDistance: number,
): number | null {
    let nearestRow: number | null = null;
    let distance = maxDistance * maxDistance;
    for (let row = 0; row < packets.rows; row++) {
        const down = y(packets.seq[row]!) - at.y;
        if (down * down > distance) continue;
        for (const mark of marks) {
            const time = mark.at(packets, row);
            if (Number.isNaN(time)) continue;
            const across = x(time) - at.x;
            const away = across * across + down * down;
            if (away > distance) continue;
            distance = away;
            nearestRow = row;
        }
    }
    return nearestRow;
}

export interface LifeStep {
    name: Step;
    title: string;
    time: number;
}

/** Returns the events of a packet in order of time. */
export function lifeSteps(time: (step: Step) => number | null | undefined): LifeStep[] {
    return STEPS.flatMap(([name, title]) => {
        const at = time(name);
        return at === null || at === undefined || Number.isNaN(at) ? [] : [{ name, title, time: at }];
    }).sort((one, other) => one.time - other.time);
}

/** Returns how a packet spent the time between two consecutive events. */
export function stepActivity(before: Step, now: Step): string {
    if (before === "enqueue_ns" && now === "dequeue_ns") return "queued";
    if (now === "dequeue_ns") return "queued";
    if (now === "enqueue_ns") return "on the way to the queue";
    if (now === "deliver_ns") return "on the way to the receiver";
    if (now === "acked_ns") return "until the acknowledgement came";
    if (now === "lost_ns") return "until the sender gave it up";
    if (now === "drop_ns") return "until it was dropped";
    return "later";
}

/** What the page and its worker tell each other. */

/** A part of a run that is looked at. */
export interface Question {
    from_ns: number;
    to_ns: number;
    columns: number;
    /** `owner/name`. */
    series: string[];
}

/** Returns a text that is the same for the same question. */
export function keyOf({ from_ns, to_ns, columns, series }: Question): string {
    return [from_ns, to_ns, columns, ...series].join("\n");
}

/** To the worker. A run ends the one before; what is watched is answered unasked, whenever there is more of it. */
export type Ask =
    | { kind: "run"; id: number; specification: string; files: string[]; watched: Question[] }
    | { kind: "watch"; watched: Question[] }
    | { kind: "file"; name: string; bytes: ArrayBuffer }
    | { kind: "stop" }
    | { kind: "window"; ask: number; question: Question }
    | { kind: "packets"; ask: number; from_ns: number; to_ns: number; flow: number; most: number }
    | { kind: "life"; ask: number; flow: number; seq: number }
    | { kind: "reading"; ask: number; facts: string };

export interface Spent {
    /** Since the worker began with the run, ms. */
    total_ms: number;
    /** In the simulator's own loop, ms. */
    simulated_ms: number;
}

/** How far a run is: the answers to what is watched, by their keys, and the series that it has, as JSON. */
export interface Looked {
    id: number;
    now_ns: number;
    records: number;
    answers: [string, ArrayBuffer][];
    series: string;
}

/** From the worker. Tables are bytes, everything else is JSON. */
export type Told =
    | { kind: "ready" }
    | ({ kind: "progress" } & Looked)
    | ({ kind: "done"; totals: string; spent: Spent } & Looked)
    | { kind: "failed"; id: number; why: string }
    | { kind: "answer"; ask: number; answer: ArrayBuffer | string }
    | { kind: "unanswered"; ask: number; why: string };

/** A flow of what the run came to: the metrics that the page shows. */
export interface FlowTotals {
    flow: number;
    scheme: string;
    throughput_mbps: number | null;
    goodput_mbps: number | null;
    owd_mean_ms: number | null;
    owd_p95_ms: number | null;
    packet_loss_rate: number | null;
    retransmissions: number | null;
}

export interface LinkTotals {
    link: string;
    utilization: number | null;
    mean_queue_delay_ms: number | null;
    max_queue_packets: number | null;
    packets_dropped: number | null;
}

export interface Totals {
    digest: string;
    records: number;
    events: number;
    statistics: {
        flows: FlowTotals[];
        links: LinkTotals[];
        network: { jain_index: number | null; throughput_mbps: number | null; owd_p95_ms: number | null };
    };
}

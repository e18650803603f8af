/** Messages between the page and its worker. */

/** Window of a run. */
export interface Question {
    from_ns: number;
    to_ns: number;
    columns: number;
    /** Keys of series, `owner/name`. */
    series: string[];
}

/** Returns a key of a window: equal windows have equal keys. */
export function keyOf({ from_ns, to_ns, columns, series }: Question): string {
    return [from_ns, to_ns, columns, ...series].join("\n");
}

/**
 * Messages to the worker. A run ends the previous one. The worker sends watched windows again whenever the run has new
 * data.
 */
export type Ask =
    | { kind: "run"; id: number; specification: string; files: string[]; watched: Question[] }
    | { kind: "watch"; watched: Question[] }
    | { kind: "file"; name: string; bytes: ArrayBuffer }
    | { kind: "stop" }
    | { kind: "window"; ask: number; question: Question }
    | { kind: "packets"; ask: number; from_ns: number; to_ns: number; flow: number; most: number }
    | { kind: "life"; ask: number; flow: number; seq: number }
    | { kind: "reading"; ask: number; facts: string };

export interface RunTimes {
    /** Time since the worker began the run, ms. */
    total_ms: number;
    /** Time in the simulator's loop, ms. */
    simulated_ms: number;
}

/** Progress of a run: responses for the watched windows by key, and its series as JSON. */
export interface RunProgress {
    id: number;
    now_ns: number;
    records: number;
    answers: [string, ArrayBuffer][];
    series: string;
}

/** Messages from the worker. Tables are bytes, everything else is JSON. */
export type WorkerMessage =
    | { kind: "ready" }
    | ({ kind: "progress" } & RunProgress)
    | ({ kind: "done"; totals: string; spent: RunTimes } & RunProgress)
    | { kind: "failed"; id: number; why: string }
    | { kind: "answer"; ask: number; answer: ArrayBuffer | string }
    | { kind: "unanswered"; ask: number; why: string };

/** Final metrics of a flow that the page shows. */
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

/** What the page and its worker tell each other. */

/** To the worker. A run ends the one before. */
export type Ask =
    | { kind: "run"; id: number; specification: string; files: string[]; columns: number; series: string[] }
    | { kind: "file"; name: string; bytes: ArrayBuffer }
    | { kind: "stop" }
    | { kind: "window"; ask: number; from_ns: number; to_ns: number; columns: number; series: string[] }
    | { kind: "packets"; ask: number; from_ns: number; to_ns: number; flow: number; most: number };

export interface Spent {
    /** Since the worker began with the run, ms. */
    total_ms: number;
    /** In the simulator's own loop, ms. */
    simulated_ms: number;
}

/** From the worker. `columns` are the bytes of a table. */
export type Told =
    | { kind: "ready" }
    | { kind: "progress"; id: number; now_ns: number; records: number; columns: ArrayBuffer }
    | { kind: "done"; id: number; records: number; columns: ArrayBuffer; totals: string; series: string; spent: Spent }
    | { kind: "failed"; id: number; why: string }
    | { kind: "answer"; ask: number; columns: ArrayBuffer | null };

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

/** The page's side of the worker. */

import { type Columns, decodeColumns } from "../data/columns";
import type { PacketsMeta, WindowMeta } from "../data/source";
import type { Ask, Spent, Told, Totals } from "./messages";

export interface Progress {
    /** How far the run is, ns; the whole duration when it is done. */
    now_ns: number;
    records: number;
    window: Columns<WindowMeta>;
    /** Once it is done. */
    totals: Totals | null;
    spent: Spent | null;
    /** From the change to its data in the page, ms. */
    latency_ms: number;
}

type Listener = (progress: Progress) => void;

export class Engine {
    readonly #worker = new Worker("worker.js", { type: "module" });
    readonly #answers = new Map<number, (bytes: ArrayBuffer | null) => void>();
    #id = 0;
    #asks = 0;
    #began = 0;
    #duration_ns = 0;
    #listener: Listener;
    #failed: (why: string) => void;

    constructor(listener: Listener, failed: (why: string) => void) {
        this.#listener = listener;
        this.#failed = failed;
        this.#worker.addEventListener("message", (event: MessageEvent<Told>) => this.#told(event.data));
        this.#worker.addEventListener("error", (event) => this.#failed(event.message || "the worker did not start"));
    }

    /** Ends the run that is going on and begins this one. */
    run(specification: string, duration_s: number, files: string[], columns: number): void {
        this.#id += 1;
        this.#began = performance.now();
        this.#duration_ns = duration_s * 1e9;
        this.#post({ kind: "run", id: this.#id, specification, files, columns });
    }

    /** Ends the run that is going on: what it has shown stays. */
    stop(): void {
        this.#id += 1;
        this.#post({ kind: "stop" });
    }

    /** Hands over a file of the reader's own. */
    put(name: string, bytes: ArrayBuffer): void {
        this.#worker.postMessage({ kind: "file", name, bytes } satisfies Ask, [bytes]);
    }

    window(from_ns: number, to_ns: number, columns: number): Promise<Columns<WindowMeta> | null> {
        return this.#ask((ask) => ({ kind: "window", ask, from_ns, to_ns, columns }));
    }

    /** Packets on the path in a time. */
    packets(from_ns: number, to_ns: number, most: number): Promise<Columns<PacketsMeta> | null> {
        return this.#ask((ask) => ({ kind: "packets", ask, from_ns, to_ns, flow: 0, most }));
    }

    #post(ask: Ask): void {
        this.#worker.postMessage(ask);
    }

    #ask<M>(make: (ask: number) => Ask): Promise<Columns<M> | null> {
        this.#asks += 1;
        const ask = this.#asks;
        const answer = new Promise<Columns<M> | null>((resolve) => {
            this.#answers.set(ask, (bytes) => resolve(bytes && decodeColumns<M>(bytes)));
        });
        this.#post(make(ask));
        return answer;
    }

    #told(told: Told): void {
        if (told.kind === "answer") {
            this.#answers.get(told.ask)?.(told.columns);
            this.#answers.delete(told.ask);
            return;
        }
        if (told.kind === "ready" || told.id !== this.#id) {
            if (told.kind === "failed" && told.id === 0) this.#failed(told.why);
            return;
        }
        if (told.kind === "failed") {
            this.#failed(told.why);
            return;
        }
        const isDone = told.kind === "done";
        this.#listener({
            now_ns: isDone ? this.#duration_ns : told.now_ns,
            records: told.records,
            window: decodeColumns<WindowMeta>(told.columns),
            totals: isDone ? (JSON.parse(told.totals) as Totals) : null,
            spent: isDone ? told.spent : null,
            latency_ms: performance.now() - this.#began,
        });
    }
}

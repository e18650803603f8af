/** The page's side of the worker. */

import { type Columns, decodeColumns } from "../data/columns";
import type { PacketsMeta, WindowMeta } from "../data/source";
import type { Ask, Spent, Told, Totals } from "./messages";

export interface Described {
    owner: string;
    name: string;
    title: string;
    unit: string;
}

export interface Progress {
    /** How far the run is, ns; the whole duration when it is done. */
    now_ns: number;
    records: number;
    window: Columns<WindowMeta>;
    /** Which series the run has; once it is done. */
    series: Described[];
    totals: Totals | null;
    spent: Spent | null;
    /** From the change to its data in the page, ms. */
    latency_ms: number;
}

interface Policy {
    createScriptURL(name: string): string;
}

/** Scripts of this folder by their names; browsers that ask for it are told that these are meant. */
const policy = (
    globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }
).trustedTypes?.createPolicy("playground", {
    createScriptURL: (name) => {
        if (name !== "worker.js" && name !== "offline.js") throw new Error(`${name} is no script of the playground`);
        return name;
    },
});

export function script(name: string): string {
    return policy ? policy.createScriptURL(name) : name;
}

type Listener = (progress: Progress) => void;

export class Engine {
    readonly #worker = new Worker(script("worker.js"), { type: "module" });
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
    run(specification: string, duration_s: number, files: string[], columns: number, series: string[]): void {
        this.#id += 1;
        this.#began = performance.now();
        this.#duration_ns = duration_s * 1e9;
        this.#post({ kind: "run", id: this.#id, specification, files, columns, series });
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

    /** Series of these names in a part of the run. */
    window(from_ns: number, to_ns: number, columns: number, series: string[]): Promise<Columns<WindowMeta> | null> {
        return this.#ask((ask) => ({ kind: "window", ask, from_ns, to_ns, columns, series }));
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
            series: isDone ? (JSON.parse(told.series) as Described[]) : [],
            totals: isDone ? (JSON.parse(told.totals) as Totals) : null,
            spent: isDone ? told.spent : null,
            latency_ms: performance.now() - this.#began,
        });
    }
}

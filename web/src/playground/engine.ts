/** Page side of the worker: starts runs and requests data on the current run. */

import type { SeriesInfo } from "../charts/panels";
import { type Columns, decodeColumns } from "../data/columns";
import type { Life, PacketsMeta, RunData, Sentence, WindowMeta } from "../data/source";
import {
    type Ask,
    keyOf,
    type Question,
    type RunProgress,
    type RunTimes,
    type Totals,
    type WorkerMessage,
} from "./messages";

export interface Progress {
    /** Number of the run. */
    run: number;
    /** Counter of messages about the run. */
    age: number;
    duration_ns: number;
    /** Simulated time, ns; the whole duration when the run is done. */
    now_ns: number;
    records: number;
    /** Series of the run up to now. */
    seriesList: SeriesInfo[];
    totals: Totals | null;
    times: RunTimes | null;
    /** Time from the change to its data in the page, ms. */
    latency_ms: number;
}

/** Part of a run spec that the engine itself reads. */
export interface EngineSpec {
    duration_s: number;
    flows: { scheme: string; application?: { kind?: string } }[];
}

interface Policy {
    createScriptURL(name: string): string;
}

/** Policy that allows scripts of this folder by name, for browsers with trusted types. */
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

interface Waiting {
    resolve: (answer: ArrayBuffer | string) => void;
    reject: (why: Error) => void;
}

export class Engine implements RunData {
    readonly #worker = new Worker(script("worker.js"), { type: "module" });
    readonly #pendingAsks = new Map<number, Waiting>();
    /** Watched windows, with the number of watchers. */
    readonly #watches = new Map<string, { question: Question; count: number }>();
    /** Latest responses for the watched windows. */
    #responses = new Map<string, Columns<WindowMeta>>();
    #series: { text: string; schemes: string; list: SeriesInfo[] } = { text: "[]", schemes: "", list: [] };
    #id = 0;
    #age = 0;
    #asks = 0;
    #began = 0;
    #spec: EngineSpec = { duration_s: 0, flows: [] };
    #totals: Totals | null = null;
    /** Length of the shown run, ns. The newest run is shown once it has data. */
    #seen_ns = 0;
    #listener: Listener;
    #onFailure: (why: string) => void;

    constructor(listener: Listener, onFailure: (why: string) => void) {
        this.#listener = listener;
        this.#onFailure = onFailure;
        this.#worker.addEventListener("message", (event: MessageEvent<WorkerMessage>) => this.#told(event.data));
        this.#worker.addEventListener("error", (event) => this.#onFailure(event.message || "the worker did not start"));
    }

    get #duration_ns(): number {
        return this.#spec.duration_s * 1e9;
    }

    /** Ends the current run and starts this one. */
    run(specification: EngineSpec, files: string[]): void {
        this.#id += 1;
        this.#began = performance.now();
        this.#spec = specification;
        const text = JSON.stringify(specification);
        this.#post({ kind: "run", id: this.#id, specification: text, files, watched: this.#questions() });
    }

    /** Ends the current run. Its data stay. */
    stop(): void {
        this.#id += 1;
        this.#post({ kind: "stop" });
    }

    /** Sends a file of the reader to the worker. */
    put(name: string, bytes: ArrayBuffer): void {
        this.#worker.postMessage({ kind: "file", name, bytes } satisfies Ask, [bytes]);
    }

    async window(from_ns: number, to_ns: number, columns: number, series: string[]): Promise<Columns<WindowMeta>> {
        const question = { from_ns, to_ns, columns, series };
        return decodeColumns(await this.#ask<ArrayBuffer>((ask) => ({ kind: "window", ask, question })));
    }

    async packets(from_ns: number, to_ns: number, flow: number, maxPackets: number): Promise<Columns<PacketsMeta>> {
        const packetsRequest = { kind: "packets", from_ns, to_ns, flow, most: maxPackets } as const;
        return decodeColumns(await this.#ask<ArrayBuffer>((ask) => ({ ...packetsRequest, ask })));
    }

    async life(flow: number, seq: number): Promise<Life> {
        return JSON.parse(await this.#ask<string>((ask) => ({ kind: "life", ask, flow, seq })));
    }

    async reading(): Promise<Sentence[]> {
        const flowTotals = this.#totals?.statistics.flows ?? [];
        const flows = this.#spec.flows.map(({ scheme, application }, index) => ({
            flow: index + 1,
            scheme,
            application: application?.kind ?? null,
            metrics: { retransmissions: flowTotals[index]?.retransmissions ?? null },
        }));
        const facts = JSON.stringify({ duration_ns: this.#duration_ns, flows });
        const sentences = await this.#ask<string>((ask) => ({ kind: "reading", ask, facts }));
        return (JSON.parse(sentences) as { sentences: Sentence[] }).sentences;
    }

    atHand(from_ns: number, to_ns: number, columns: number, series: string[]): Columns<WindowMeta> | null {
        return this.#responses.get(keyOf({ from_ns, to_ns, columns, series })) ?? null;
    }

    watch(from_ns: number, to_ns: number, columns: number, series: string[]): () => void {
        const question = { from_ns, to_ns, columns, series };
        const key = keyOf(question);
        const watch = this.#watches.get(key) ?? { question, count: 0 };
        watch.count += 1;
        this.#watches.set(key, watch);
        if (watch.count === 1) this.#tellWatched();
        return () => {
            watch.count -= 1;
            if (watch.count > 0) return;
            this.#watches.delete(key);
            this.#tellWatched();
        };
    }

    #tellWatched(): void {
        this.#post({ kind: "watch", watched: this.#questions() });
    }

    /**
     * Returns the watched windows for the newest run. A window over the whole old run becomes one over the whole new
     * run.
     */
    #questions(): Question[] {
        return [...this.#watches.values()].map(({ question }) =>
            question.from_ns === 0 && question.to_ns === this.#seen_ns
                ? { ...question, to_ns: this.#duration_ns }
                : question,
        );
    }

    #post(ask: Ask): void {
        this.#worker.postMessage(ask);
    }

    #ask<A extends ArrayBuffer | string>(make: (ask: number) => Ask): Promise<A> {
        this.#asks += 1;
        const ask = this.#asks;
        const answer = new Promise<ArrayBuffer | string>((resolve, reject) => {
            this.#pendingAsks.set(ask, { resolve, reject });
        });
        this.#post(make(ask));
        return answer as Promise<A>;
    }

    #told(message: WorkerMessage): void {
        if (message.kind === "answer" || message.kind === "unanswered") {
            const waiting = this.#pendingAsks.get(message.ask);
            this.#pendingAsks.delete(message.ask);
            if (message.kind === "answer") waiting?.resolve(message.answer);
            else waiting?.reject(new Error(message.why));
            return;
        }
        if (message.kind === "ready" || message.id !== this.#id) {
            if (message.kind === "failed" && message.id === 0) this.#onFailure(message.why);
            return;
        }
        if (message.kind === "failed") {
            this.#onFailure(message.why);
            return;
        }
        this.#look(message, message.kind === "done" ? message : null);
    }

    /**
     * Updates the list of series. An equal list remains one object, so that panels are not rebuilt. Flows that start
     * later have series later: until the run is done, those of the previous run stay if the schemes are equal.
     */
    #describe(text: string, isDone: boolean): void {
        const schemes = this.#spec.flows.map(({ scheme }) => scheme).join();
        if (text === this.#series.text && schemes === this.#series.schemes) return;
        const series = JSON.parse(text) as SeriesInfo[];
        if (!isDone && schemes === this.#series.schemes) {
            const before = new Set(this.#series.list.map((each) => JSON.stringify(each)));
            if (series.every((each) => before.has(JSON.stringify(each)))) return;
        }
        this.#series = { text, schemes, list: series };
    }

    #look(progress: RunProgress, done: Extract<WorkerMessage, { kind: "done" }> | null): void {
        this.#age += 1;
        this.#seen_ns = this.#duration_ns;
        this.#responses = new Map(progress.answers.map(([key, bytes]) => [key, decodeColumns<WindowMeta>(bytes)]));
        this.#describe(progress.series, done !== null);
        this.#totals = done ? (JSON.parse(done.totals) as Totals) : null;
        this.#listener({
            run: progress.id,
            age: this.#age,
            duration_ns: this.#duration_ns,
            now_ns: done ? this.#duration_ns : progress.now_ns,
            records: progress.records,
            seriesList: this.#series.list,
            totals: this.#totals,
            times: done?.spent ?? null,
            latency_ms: performance.now() - this.#began,
        });
    }
}

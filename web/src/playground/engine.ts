/** The page's side of the worker: runs, and what is asked about the one that is there. */

import type { Known } from "../charts/panels";
import { type Columns, decodeColumns } from "../data/columns";
import type { Life, PacketsMeta, RunData, Sentence, WindowMeta } from "../data/source";
import { type Ask, keyOf, type Looked, type Question, type Spent, type Told, type Totals } from "./messages";

export interface Progress {
    /** Number of the run. */
    run: number;
    /** Grows with everything that is told. */
    age: number;
    duration_ns: number;
    /** How far the run is, ns; the whole duration when it is done. */
    now_ns: number;
    records: number;
    /** Which series the run has so far. */
    known: Known[];
    totals: Totals | null;
    spent: Spent | null;
    /** From the change to its data in the page, ms. */
    latency_ms: number;
}

/** What the engine itself reads of a specification. */
export interface Specified {
    duration_s: number;
    flows: { scheme: string; application?: { kind?: string } }[];
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

interface Waiting {
    resolve: (answer: ArrayBuffer | string) => void;
    reject: (why: Error) => void;
}

export class Engine implements RunData {
    readonly #worker = new Worker(script("worker.js"), { type: "module" });
    readonly #waiting = new Map<number, Waiting>();
    /** Parts that are looked at, and by how many. */
    readonly #watched = new Map<string, { question: Question; count: number }>();
    /** The newest answers to them. */
    #known = new Map<string, Columns<WindowMeta>>();
    #series: { text: string; schemes: string; known: Known[] } = { text: "[]", schemes: "", known: [] };
    #id = 0;
    #age = 0;
    #asks = 0;
    #began = 0;
    #specified: Specified = { duration_s: 0, flows: [] };
    #totals: Totals | null = null;
    /** Length of the run that is seen: the newest one is not until there is something of it. */
    #seen_ns = 0;
    #listener: Listener;
    #failed: (why: string) => void;

    constructor(listener: Listener, failed: (why: string) => void) {
        this.#listener = listener;
        this.#failed = failed;
        this.#worker.addEventListener("message", (event: MessageEvent<Told>) => this.#told(event.data));
        this.#worker.addEventListener("error", (event) => this.#failed(event.message || "the worker did not start"));
    }

    get #duration_ns(): number {
        return this.#specified.duration_s * 1e9;
    }

    /** Ends the run that is going on and begins this one. */
    run(specification: Specified, files: string[]): void {
        this.#id += 1;
        this.#began = performance.now();
        this.#specified = specification;
        const text = JSON.stringify(specification);
        this.#post({ kind: "run", id: this.#id, specification: text, files, watched: this.#questions() });
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

    async window(from_ns: number, to_ns: number, columns: number, series: string[]): Promise<Columns<WindowMeta>> {
        const question = { from_ns, to_ns, columns, series };
        return decodeColumns(await this.#ask<ArrayBuffer>((ask) => ({ kind: "window", ask, question })));
    }

    async packets(from_ns: number, to_ns: number, flow: number, most: number): Promise<Columns<PacketsMeta>> {
        const asked = { kind: "packets", from_ns, to_ns, flow, most } as const;
        return decodeColumns(await this.#ask<ArrayBuffer>((ask) => ({ ...asked, ask })));
    }

    async life(flow: number, seq: number): Promise<Life> {
        return JSON.parse(await this.#ask<string>((ask) => ({ kind: "life", ask, flow, seq })));
    }

    async reading(): Promise<Sentence[]> {
        const counted = this.#totals?.statistics.flows ?? [];
        const flows = this.#specified.flows.map(({ scheme, application }, index) => ({
            flow: index + 1,
            scheme,
            application: application?.kind ?? null,
            metrics: { retransmissions: counted[index]?.retransmissions ?? null },
        }));
        const facts = JSON.stringify({ duration_ns: this.#duration_ns, flows });
        const found = await this.#ask<string>((ask) => ({ kind: "reading", ask, facts }));
        return (JSON.parse(found) as { sentences: Sentence[] }).sentences;
    }

    atHand(from_ns: number, to_ns: number, columns: number, series: string[]): Columns<WindowMeta> | null {
        return this.#known.get(keyOf({ from_ns, to_ns, columns, series })) ?? null;
    }

    watch(from_ns: number, to_ns: number, columns: number, series: string[]): () => void {
        const question = { from_ns, to_ns, columns, series };
        const key = keyOf(question);
        const found = this.#watched.get(key) ?? { question, count: 0 };
        found.count += 1;
        this.#watched.set(key, found);
        if (found.count === 1) this.#tellWatched();
        return () => {
            found.count -= 1;
            if (found.count > 0) return;
            this.#watched.delete(key);
            this.#tellWatched();
        };
    }

    #tellWatched(): void {
        this.#post({ kind: "watch", watched: this.#questions() });
    }

    /** What is watched, as it will be asked of the newest run: who looks at the whole of one looks at the whole of the next. */
    #questions(): Question[] {
        return [...this.#watched.values()].map(({ question }) =>
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
            this.#waiting.set(ask, { resolve, reject });
        });
        this.#post(make(ask));
        return answer as Promise<A>;
    }

    #told(told: Told): void {
        if (told.kind === "answer" || told.kind === "unanswered") {
            const waiting = this.#waiting.get(told.ask);
            this.#waiting.delete(told.ask);
            if (told.kind === "answer") waiting?.resolve(told.answer);
            else waiting?.reject(new Error(told.why));
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
        this.#look(told, told.kind === "done" ? told : null);
    }

    /**
     * Takes in which series there are. The same list is the same object: nothing is divided anew. Flows that start later have
     * series later: those of the run before are there until it is known that there are no such ones, if the schemes are the same.
     */
    #describe(text: string, isDone: boolean): void {
        const schemes = this.#specified.flows.map(({ scheme }) => scheme).join();
        if (text === this.#series.text && schemes === this.#series.schemes) return;
        const known = JSON.parse(text) as Known[];
        if (!isDone && schemes === this.#series.schemes) {
            const before = new Set(this.#series.known.map((each) => JSON.stringify(each)));
            if (known.every((each) => before.has(JSON.stringify(each)))) return;
        }
        this.#series = { text, schemes, known };
    }

    #look(told: Looked, done: Extract<Told, { kind: "done" }> | null): void {
        this.#age += 1;
        this.#seen_ns = this.#duration_ns;
        this.#known = new Map(told.answers.map(([key, bytes]) => [key, decodeColumns<WindowMeta>(bytes)]));
        this.#describe(told.series, done !== null);
        this.#totals = done ? (JSON.parse(done.totals) as Totals) : null;
        this.#listener({
            run: told.id,
            age: this.#age,
            duration_ns: this.#duration_ns,
            now_ns: done ? this.#duration_ns : told.now_ns,
            records: told.records,
            known: this.#series.known,
            totals: this.#totals,
            spent: done?.spent ?? null,
            latency_ms: performance.now() - this.#began,
        });
    }
}

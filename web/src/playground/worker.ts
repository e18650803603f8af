/** The worker: makes runs one after the other, in slices, and looks between two slices whether a newer one is wanted. */

import { type Ask, keyOf, type Looked, type Question, type Told } from "./messages";
import { Simulation } from "./module";

/** A slice takes about so long, ms: a newer run waits no longer. */
const SLICE_MS = 12;
const FIRST_EVENTS = 4000;
/** The first picture of a long run, and then one every so often, ms. */
const FIRST_PICTURE_MS = 50;
const PICTURE_MS = 120;

const post = (told: Told, transfer: Transferable[] = []): void => postMessage(told, { transfer });

/** What was fetched or dropped; names are those in specifications. */
const files = new Map<string, Uint8Array>();
const compiled = compile();
let wanted = 0;
let watched: Question[] = [];
let current: Simulation | null = null;

async function compile(): Promise<WebAssembly.Module> {
    const response = await fetch("simulator.wasm");
    if (!response.ok) throw new Error(`simulator.wasm: ${response.status} ${response.statusText}`);
    // A server that does not know the type is no reason to stop.
    if (response.headers.get("content-type") !== "application/wasm") {
        return WebAssembly.compile(await response.arrayBuffer());
    }
    return WebAssembly.compileStreaming(response);
}

async function fetched(name: string): Promise<void> {
    if (files.has(name)) return;
    const response = await fetch(name);
    if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
    files.set(name, new Uint8Array(await response.arrayBuffer()));
}

/** Lets messages in that have arrived. A timer would wait for 4 ms. */
const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();
const breath = (): Promise<void> =>
    new Promise((resolve) => {
        waiting.push(resolve);
        port2.postMessage(null);
    });

/** What is to be seen of a run now. */
function looked(id: number, simulation: Simulation): Looked {
    const answers = watched.map((question): [string, ArrayBuffer] => [keyOf(question), simulation.window(question)]);
    const { now_ns, records } = simulation;
    return { id, now_ns, records, answers, series: simulation.series() };
}

const bytesOf = ({ answers }: Looked): ArrayBuffer[] => answers.map(([, bytes]) => bytes);

async function run(ask: Extract<Ask, { kind: "run" }>): Promise<void> {
    const { id, specification } = ask;
    const began = performance.now();
    let simulated_ms = 0;
    try {
        await Promise.all(ask.files.filter((name) => !files.has(name)).map(fetched));
        const needed = new Map(ask.files.map((name) => [name, files.get(name)!]));
        const simulation = await Simulation.begin(await compiled, specification, needed);
        if (id !== wanted) return;
        current = simulation;
        let events = FIRST_EVENTS;
        let picture = FIRST_PICTURE_MS;
        for (;;) {
            const from = performance.now();
            const over = simulation.advance(events);
            const took = performance.now() - from;
            simulated_ms += took;
            if (over) break;
            events = Math.max(1000, Math.min(events * 4, Math.round((events * SLICE_MS) / Math.max(took, 0.1))));
            await breath();
            if (id !== wanted) return;
            if (performance.now() - began > picture) {
                const seen = looked(id, simulation);
                post({ kind: "progress", ...seen }, bytesOf(seen));
                picture = performance.now() - began + PICTURE_MS;
            }
        }
        const seen = looked(id, simulation);
        const totals = simulation.totals();
        const spent = { total_ms: performance.now() - began, simulated_ms };
        post({ kind: "done", ...seen, totals, spent }, bytesOf(seen));
    } catch (error) {
        if (id === wanted) post({ kind: "failed", id, why: reason(error) });
    }
}

/** One line: what was wrong, or that the module panicked. */
function reason(error: unknown): string {
    if (error instanceof WebAssembly.RuntimeError) return `the simulator stopped: ${error.message}`;
    return error instanceof Error ? error.message : String(error);
}

function answer<A extends ArrayBuffer | string>(ask: number, make: (simulation: Simulation) => A): void {
    try {
        if (!current) throw new Error("there is no run yet");
        const found = make(current);
        post({ kind: "answer", ask, answer: found }, typeof found === "string" ? [] : [found]);
    } catch (error) {
        post({ kind: "unanswered", ask, why: reason(error) });
    }
}

addEventListener("message", (event: MessageEvent<Ask>) => {
    const ask = event.data;
    switch (ask.kind) {
        case "run":
            wanted = ask.id;
            watched = ask.watched;
            void run(ask);
            break;
        case "watch":
            watched = ask.watched;
            break;
        case "stop":
            wanted = 0;
            break;
        case "file":
            files.set(ask.name, new Uint8Array(ask.bytes));
            break;
        case "window":
            answer(ask.ask, (simulation) => simulation.window(ask.question));
            break;
        case "packets":
            answer(ask.ask, (simulation) => simulation.packets(ask.from_ns, ask.to_ns, ask.flow, ask.most));
            break;
        case "life":
            answer(ask.ask, (simulation) => simulation.life(ask.flow, ask.seq));
            break;
        case "reading":
            answer(ask.ask, (simulation) => simulation.reading(ask.facts));
            break;
    }
});

compiled.then(
    () => post({ kind: "ready" }),
    (error: unknown) => post({ kind: "failed", id: wanted, why: reason(error) }),
);

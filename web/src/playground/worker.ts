/** Worker: makes one run at a time, in slices. Between two slices it checks for a newer run. */

import { type Ask, keyOf, type Question, type RunProgress, type WorkerMessage } from "./messages";
import { Simulation } from "./module";

/** Target duration of a slice, ms. A newer run waits no longer. */
const SLICE_MS = 12;
const FIRST_EVENTS = 4000;
/** Time until the first picture of a long run, and interval of the next ones, ms. */
const FIRST_PICTURE_MS = 50;
const PICTURE_MS = 120;

const post = (message: WorkerMessage, transfer: Transferable[] = []): void => postMessage(message, { transfer });

/** Fetched and dropped files, by their name in run specs. */
const files = new Map<string, Uint8Array>();
const moduleOnceCompiled = compile();
let newestRun = 0;
let watchedWindows: Question[] = [];
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

async function fetchFile(name: string): Promise<void> {
    if (files.has(name)) return;
    const response = await fetch(name);
    if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
    files.set(name, new Uint8Array(await response.arrayBuffer()));
}

/** Yields to messages that have arrived. A timer would wait for 4 ms. */
const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();
const breath = (): Promise<void> =>
    new Promise((resolve) => {
        waiting.push(resolve);
        port2.postMessage(null);
    });

/** Returns the current data on a run. */
function progressOf(id: number, simulation: Simulation): RunProgress {
    const answers = watchedWindows.map((question): [string, ArrayBuffer] => [
        keyOf(question),
        simulation.window(question),
    ]);
    const { now_ns, records } = simulation;
    return { id, now_ns, records, answers, series: simulation.series() };
}

const bytesOf = ({ answers }: RunProgress): ArrayBuffer[] => answers.map(([, bytes]) => bytes);

async function run(ask: Extract<Ask, { kind: "run" }>): Promise<void> {
    const { id, specification } = ask;
    const began = performance.now();
    let simulated_ms = 0;
    try {
        await Promise.all(ask.files.filter((name) => !files.has(name)).map(fetchFile));
        const runFiles = new Map(ask.files.map((name) => [name, files.get(name)!]));
        const simulation = await Simulation.begin(await moduleOnceCompiled, specification, runFiles);
        if (id !== newestRun) return;
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
            if (id !== newestRun) return;
            if (performance.now() - began > picture) {
                const progress = progressOf(id, simulation);
                post({ kind: "progress", ...progress }, bytesOf(progress));
                picture = performance.now() - began + PICTURE_MS;
            }
        }
        const progress = progressOf(id, simulation);
        const totals = simulation.totals();
        const times = { total_ms: performance.now() - began, simulated_ms };
        post({ kind: "done", ...progress, totals, spent: times }, bytesOf(progress));
    } catch (error) {
        if (id === newestRun) post({ kind: "failed", id, why: reason(error) });
    }
}

/** Returns one line: the error, or a note that the module panicked. */
function reason(error: unknown): string {
    if (error instanceof WebAssembly.RuntimeError) return `the simulator stopped: ${error.message}`;
    return error instanceof Error ? error.message : String(error);
}

function answer<A extends ArrayBuffer | string>(ask: number, make: (simulation: Simulation) => A): void {
    try {
        if (!current) throw new Error("there is no run yet");
        const answer = make(current);
        post({ kind: "answer", ask, answer }, typeof answer === "string" ? [] : [answer]);
    } catch (error) {
        post({ kind: "unanswered", ask, why: reason(error) });
    }
}

addEventListener("message", (event: MessageEvent<Ask>) => {
    const ask = event.data;
    switch (ask.kind) {
        case "run":
            newestRun = ask.id;
            watchedWindows = ask.watched;
            void run(ask);
            break;
        case "watch":
            watchedWindows = ask.watched;
            break;
        case "stop":
            newestRun = 0;
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

moduleOnceCompiled.then(
    () => post({ kind: "ready" }),
    (error: unknown) => post({ kind: "failed", id: newestRun, why: reason(error) }),
);

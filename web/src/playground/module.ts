/** WebAssembly module of the simulator. One instance makes one run, since its memory never shrinks. */

import type { Question } from "./messages";

interface Exports {
    memory: WebAssembly.Memory;
    room(bytes: number): number;
    answer(): number;
    answer_bytes(): number;
    put_file(name_bytes: number): void;
    begin(): number;
    advance(until_ns: number, events: number): number;
    now_ns(): number;
    records(): number;
    window(from_ns: number, to_ns: number, columns: number): number;
    packets(from_ns: number, to_ns: number, flow: number, most: number): number;
    life(flow: number, seq: number): number;
    reading(): number;
    series(): number;
    totals(): number;
}

const PAUSED = 0;
const FAILED = 2;

export class Simulation {
    readonly #exports: Exports;

    private constructor(exports: Exports) {
        this.#exports = exports;
    }

    /** Begins a run. On an invalid run spec throws an error of one line for people. */
    static async begin(
        module: WebAssembly.Module,
        specification: string,
        files: ReadonlyMap<string, Uint8Array>,
    ): Promise<Simulation> {
        const instance = await WebAssembly.instantiate(module, {});
        const simulation = new Simulation(instance.exports as unknown as Exports);
        const encoder = new TextEncoder();
        for (const [name, contents] of files) {
            const bytes = encoder.encode(name);
            simulation.#put(bytes, contents);
            simulation.#exports.put_file(bytes.length);
        }
        simulation.#put(encoder.encode(specification));
        simulation.#check(simulation.#exports.begin());
        return simulation;
    }

    #put(...parts: Uint8Array[]): void {
        let at = this.#exports.room(parts.reduce((sum, part) => sum + part.length, 0));
        for (const part of parts) {
            new Uint8Array(this.#exports.memory.buffer, at, part.length).set(part);
            at += part.length;
        }
    }

    #taken(): ArrayBuffer {
        const at = this.#exports.answer();
        return this.#exports.memory.buffer.slice(at, at + this.#exports.answer_bytes());
    }

    #check(outcome: number): number {
        if (outcome === FAILED) throw new Error(new TextDecoder().decode(this.#taken()));
        return outcome;
    }

    /** Advances by at most `events` events. Returns true when the run is over. */
    advance(events: number): boolean {
        return this.#check(this.#exports.advance(Number.MAX_SAFE_INTEGER, events)) !== PAUSED;
    }

    get now_ns(): number {
        return this.#exports.now_ns();
    }

    get records(): number {
        return this.#exports.records();
    }

    /** Returns the data of a window. */
    window({ from_ns, to_ns, columns, series }: Question): ArrayBuffer {
        // In `owner/name`, the owner's name may contain slashes.
        const pairs = series.map((each) => [
            each.slice(0, each.lastIndexOf("/")),
            each.slice(each.lastIndexOf("/") + 1),
        ]);
        this.#put(new TextEncoder().encode(JSON.stringify(pairs)));
        this.#check(this.#exports.window(from_ns, to_ns, columns));
        return this.#taken();
    }

    packets(from_ns: number, to_ns: number, flow: number, maxPackets: number): ArrayBuffer {
        this.#check(this.#exports.packets(from_ns, to_ns, flow, maxPackets));
        return this.#taken();
    }

    /** Returns the life of a packet as JSON. */
    life(flow: number, seq: number): string {
        return this.#text(this.#exports.life(flow, seq));
    }

    /** Returns sentences on the run as JSON. `facts` is JSON with further facts on the run. */
    reading(facts: string): string {
        this.#put(new TextEncoder().encode(facts));
        return this.#text(this.#exports.reading());
    }

    /** Returns the series of the run as JSON. */
    series(): string {
        return this.#text(this.#exports.series());
    }

    /** Returns the final metrics of the run as JSON. */
    totals(): string {
        return this.#text(this.#exports.totals());
    }

    #text(outcome: number): string {
        this.#check(outcome);
        return new TextDecoder().decode(this.#taken());
    }
}

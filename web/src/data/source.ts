/** Source of results: `dumbbell serve`, or the files of `dumbbell site`. Both use equal names of files. */

import { type Columns, decodeColumns } from "./columns";
import type { CriticalValues } from "./statistics";
import { isWritten, readWritten } from "./written";

/** Field of the table of runs. */
export interface Field {
    name: string;
    title: string;
    kind: "text" | "number";
    unit?: string;
    /** Better direction: "more", "less", or "neutral". */
    better?: string;
    /** Subject: "run", "axis" (of a grid), "network", "flow" or "link". */
    group: string;
    convention?: string;
    /** True for a fraction of a whole: intervals of its mean stay within 0 and 1. */
    fraction?: boolean;
    formula?: string;
    /** True if the field is shown by default. */
    main?: boolean;
    /** Factor from stored to display units; `digits` is the number of decimals. */
    factor?: number;
    digits?: number;
}

/** Look of a scheme on all pages. `dashes` are lengths of line and gap in units of the line's width. */
export interface SchemeLook {
    title: string;
    color: string;
    marker: string;
    /** True if only the edge of the marker has the colour. */
    hollow?: boolean;
    dashes: number[];
    family: string;
}

export interface DirectoryFacts {
    id: string;
    label: string;
    experiment: string;
    version: string;
    /** Start of the first run, ISO 8601. */
    date: string;
    running: boolean;
}

/** Convention of metrics: `rules` is a sentence, `metrics` are names of fields for throughput, delay and loss. */
export interface Convention {
    title: string;
    rules: string;
    metrics: readonly [string, string, string];
}

/** Content of `data/runs.json`. */
export interface RunsFacts {
    /** "server" answers any window, "files" has only precomputed data. */
    kind: "server" | "files";
    /** True if the directories are the experiments of a benchmark. */
    is_benchmark: boolean;
    version: string;
    rows: number;
    directories: DirectoryFacts[];
    fields: Field[];
    schemes: Record<string, SchemeLook>;
    conventions: Record<string, Convention>;
    critical_values: CriticalValues;
}

/** Time series of a run. */
export interface SeriesHeader {
    owner: string;
    name: string;
    title: string;
    unit: string;
    kind: "points" | "steps" | "bars";
    detail: "all" | "thinned";
    first: number;
    rows: number;
    bin_ns?: number;
    /** Names of the states 0, 1, ... for a series of states. */
    names?: string[];
}

export interface WindowMeta {
    t0_ns: number;
    t1_ns: number;
    end_ns: number;
    series: SeriesHeader[];
    events: { thinned: boolean; total: number; rows: number };
}

export interface PacketsMeta {
    t0_ns: number;
    t1_ns: number;
    /** Approximate number of packets if the limit was exceeded (no rows are sent then); otherwise null. */
    too_many: number | null;
    packets: number;
    acks: number;
}

export interface FlowFacts {
    flow: number;
    scheme: string;
    start_s: number;
    stop_s: number | null;
    reverse: boolean;
    metrics: Record<string, number>;
}

export interface RunFacts {
    id: string;
    label: string;
    directory: string;
    path: string;
    scheme: string;
    run: number;
    seed: number | null;
    backend: string;
    status: string;
    reason: string | null;
    duration_ns: number;
    flows: FlowFacts[];
    links: string[];
    series: { owner: string; name: string; title: string; unit: string; names?: string[] }[];
    files: { name: string; bytes: number }[];
    /** Relative address of the run's files from the pages of a site; null without files. */
    files_at: string | null;
    /** Text that the run wrote to its log. */
    log: string;
    /** Command that repeats the run. */
    command: string;
    has_packets: boolean;
    /** True if only the precomputed packets and windows are available. */
    thinned_only: boolean;
}

export interface Sentence {
    text: string;
    from_ns: number;
    to_ns: number;
    flow: number | null;
    kind: string;
    evidence: Record<string, number | string>;
}

export interface Life {
    packet: Record<string, number | null>;
    sentences: string[];
}

/** Data on a run, from a server, files, or a simulation in this browser. */
export interface RunData {
    reading(): Promise<Sentence[]>;
    /** `series` are `owner/name`; without them all series are sent. */
    window(from_ns: number, to_ns: number, columns: number, series?: string[]): Promise<Columns<WindowMeta>>;
    packets(from_ns: number, to_ns: number, flow: number, maxPackets: number): Promise<Columns<PacketsMeta>>;
    life(flow: number, seq: number): Promise<Life | null>;
    /** Returns the response for a window if it is already loaded. */
    atHand?(from_ns: number, to_ns: number, columns: number, series: string[]): Columns<WindowMeta> | null;
    /** Marks a window as watched until the returned function is called: a growing run then sends updates. */
    watch?(from_ns: number, to_ns: number, columns: number, series: string[]): () => void;
}

/** Run of results, with its files. */
export interface RunSource extends RunData {
    facts(): Promise<RunFacts>;
    /** Returns the address of a run's file, or null without such a file. */
    file(name: string): string | null;
    /** Returns the address of the flow as qlog, or null. */
    qlog(flow: number): string | null;
}

/** Fetches an address relative to the page. On failure throws an error of one line for people. */
async function get(address: string): Promise<Response> {
    if (isWritten()) return new Response(await readWritten(address));
    const response = await fetch(address, { credentials: "same-origin" });
    if (!response.ok) {
        const text = response.headers.get("content-type")?.startsWith("text/plain") ? await response.text() : "";
        throw new Error(text.trim() || `${address}: ${response.status} ${response.statusText}`);
    }
    return response;
}

/** Fetches JSON. */
export async function getJson<T>(address: string): Promise<T> {
    return (await get(address)).json();
}

async function getColumns<M>(address: string): Promise<Columns<M>> {
    return decodeColumns<M>(await (await get(address)).arrayBuffer());
}

/** Fetches the facts of all runs. */
export function runsFacts(): Promise<RunsFacts> {
    return getJson("data/runs.json");
}

/** Findings on all runs of a directory, by the directory's identity. */
export type Findings = Record<string, DirectoryFindings>;

export interface DirectoryFindings {
    sentences: string[];
    /** Schemes that comparisons leave out for their conduct, by path. */
    left_out: Record<string, string[]>;
}

export function findingsOf(): Promise<Findings> {
    return getJson("data/findings.json");
}

/** Text recorded on a machine, with its heading. */
export interface MachineRecord {
    heading: string;
    text: string;
}

/** Returns the records of each directory, by the directory's identity. */
export function recordsOf(): Promise<Record<string, MachineRecord[]>> {
    return getJson("data/records.json");
}

/** Returns one column of the table of runs. */
export async function runsColumn(name: string): Promise<Columns> {
    return getColumns(`data/columns/${encodeURIComponent(name)}.bin`);
}

/** Returns the source of a run. Its identity is `directory/path/scheme/run`. */
export function runSource(id: string, kind: RunsFacts["kind"]): RunSource {
    const place = `data/run/${id.split("/").map(encodeURIComponent).join("/")}`;
    return kind === "server" ? new ServedRun(place) : new WrittenRun(place);
}

/** Common part of both sources of a run: the data below its address. */
class FetchedRun {
    readonly place: string;

    constructor(place: string) {
        this.place = place;
    }

    facts(): Promise<RunFacts> {
        return getJson(`${this.place}/facts.json`);
    }

    async reading(): Promise<Sentence[]> {
        return (await getJson<{ sentences: Sentence[] }>(`${this.place}/reading.json`)).sentences;
    }
}

class ServedRun extends FetchedRun implements RunSource {
    window(from_ns: number, to_ns: number, columns: number, series?: string[]): Promise<Columns<WindowMeta>> {
        const query = new URLSearchParams({
            from: String(Math.floor(from_ns)),
            to: String(Math.ceil(to_ns)),
            columns: String(columns),
        });
        for (const key of series ?? []) query.append("series", key);
        return getColumns(`${this.place}/window.bin?${query}`);
    }

    packets(from_ns: number, to_ns: number, flow: number, maxPackets: number): Promise<Columns<PacketsMeta>> {
        const query = new URLSearchParams({
            from: String(Math.floor(from_ns)),
            to: String(Math.ceil(to_ns)),
            flow: String(flow),
            most: String(maxPackets),
        });
        return getColumns(`${this.place}/packets.bin?${query}`);
    }

    life(flow: number, seq: number): Promise<Life | null> {
        return getJson(`${this.place}/life.json?flow=${flow}&seq=${seq}`);
    }

    file(name: string): string | null {
        return `${this.place}/files/${encodeURIComponent(name)}`;
    }

    qlog(flow: number): string | null {
        return `${this.place}/qlog?flow=${flow}`;
    }
}

/** Run whose series were thinned when the site was written. For a short run all packets are there. */
class WrittenRun extends FetchedRun implements RunSource {
    #window: Promise<Columns<WindowMeta>> | undefined;
    #packets: Promise<Columns<PacketsMeta>> | undefined;

    /** Returns the whole run. The drawing clips it. */
    window(): Promise<Columns<WindowMeta>> {
        this.#window ??= getColumns(`${this.place}/window.bin`);
        return this.#window;
    }

    packets(): Promise<Columns<PacketsMeta>> {
        this.#packets ??= getColumns(`${this.place}/packets.bin`);
        return this.#packets;
    }

    async life(): Promise<Life | null> {
        return null;
    }

    file(): string | null {
        return null;
    }

    qlog(): string | null {
        return null;
    }
}

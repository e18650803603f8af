/** Where results come from: `dumbbell serve`, or the files that `dumbbell site` wrote. Both have the same names. */

import { type Columns, decodeColumns } from "./columns";
import type { CriticalValues } from "./statistics";
import { isWritten, readWritten } from "./written";

/** A field of the table of runs. */
export interface Field {
    name: string;
    title: string;
    kind: "text" | "number";
    unit?: string;
    /** Which way is better: "more", "less", or "neutral". */
    better?: string;
    /** "run" (what it is), "axis" (of a grid), or "network", "flow", "link": what the metric is of. */
    group: string;
    convention?: string;
    /** A fraction of a whole: intervals of its mean stay within 0 and 1. */
    fraction?: boolean;
    formula?: string;
    /** One of those that are shown at first. */
    main?: boolean;
    /** What a value is multiplied by, and digits behind the point, for people. */
    factor?: number;
    digits?: number;
}

/** How a scheme is drawn everywhere: `dashes` are lengths of line and gap in units of the line's width. */
export interface SchemeLook {
    title: string;
    color: string;
    marker: string;
    /** Only the edge of the marker has the colour. */
    hollow?: boolean;
    dashes: number[];
    family: string;
}

export interface DirectoryFacts {
    id: string;
    label: string;
    experiment: string;
    version: string;
    /** When the first run began, ISO 8601. */
    date: string;
    running: boolean;
}

/** A convention of metrics: `rules` is a sentence, `metrics` are names of fields for throughput, delay and loss. */
export interface Convention {
    title: string;
    rules: string;
    metrics: readonly [string, string, string];
}

/** What `data/runs.json` says. */
export interface RunsFacts {
    /** "server" answers any window, "files" has what was written beforehand. */
    kind: "server" | "files";
    /** The directories are the experiments of a benchmark. */
    is_benchmark: boolean;
    version: string;
    rows: number;
    directories: DirectoryFacts[];
    fields: Field[];
    schemes: Record<string, SchemeLook>;
    conventions: Record<string, Convention>;
    critical_values: CriticalValues;
}

/** A time series of a run. */
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
    /** What 0, 1, ... stand for, where values are states. */
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
    /** About how many there are where they are more than were asked for: there are no rows then. */
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
    /** The way from written pages to the files, if these are there. */
    files_at: string | null;
    /** What the run wrote to its log. */
    log: string;
    /** The command that repeats the run. */
    command: string;
    has_packets: boolean;
    /** Packets and windows beyond the written ones cannot be asked for. */
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

/** What happened in a run: asked of a server, of files, or of a simulation in this browser. */
export interface RunData {
    reading(): Promise<Sentence[]>;
    /** `series` are `owner/name`; none means all. */
    window(from_ns: number, to_ns: number, columns: number, series?: string[]): Promise<Columns<WindowMeta>>;
    packets(from_ns: number, to_ns: number, flow: number, most: number): Promise<Columns<PacketsMeta>>;
    life(flow: number, seq: number): Promise<Life | null>;
    /** The answer for a window where it is here already. */
    atHand?(from_ns: number, to_ns: number, columns: number, series: string[]): Columns<WindowMeta> | null;
    /** A window is looked at until the function that this returns is called: a run that grows answers by itself. */
    watch?(from_ns: number, to_ns: number, columns: number, series: string[]): () => void;
}

/** A run of results, with its files. */
export interface RunSource extends RunData {
    facts(): Promise<RunFacts>;
    /** Address of a file of the run, or null where there is none. */
    file(name: string): string | null;
    /** Address of the flow as qlog, or null. */
    qlog(flow: number): string | null;
}

/** Fetches what is given relative to the page; throws one line for people where that fails. */
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

/** Which form of data there is; asked once. */
export function runsFacts(): Promise<RunsFacts> {
    return getJson("data/runs.json");
}

/** Findings on all runs of a directory, by its identity. */
export type Findings = Record<string, DirectoryFindings>;

export interface DirectoryFindings {
    sentences: string[];
    /** Schemes that comparisons leave out for their conduct, by path. */
    left_out: Record<string, string[]>;
}

export function findingsOf(): Promise<Findings> {
    return getJson("data/findings.json");
}

/** Text that was recorded of a machine, below its heading. */
export interface MachineRecord {
    heading: string;
    text: string;
}

/** Returns the records of each directory, by its identity. */
export function recordsOf(): Promise<Record<string, MachineRecord[]>> {
    return getJson("data/records.json");
}

/** Returns one column of the table of runs. */
export async function runsColumn(name: string): Promise<Columns> {
    return getColumns(`data/columns/${encodeURIComponent(name)}.bin`);
}

/** Returns the source of a run whose identity is `directory/path/scheme/run`. */
export function runSource(id: string, kind: RunsFacts["kind"]): RunSource {
    const place = `data/run/${id.split("/").map(encodeURIComponent).join("/")}`;
    return kind === "server" ? new ServedRun(place) : new WrittenRun(place);
}

/** What both forms have of a run, below its address. */
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
        for (const each of series ?? []) query.append("series", each);
        return getColumns(`${this.place}/window.bin?${query}`);
    }

    packets(from_ns: number, to_ns: number, flow: number, most: number): Promise<Columns<PacketsMeta>> {
        const query = new URLSearchParams({
            from: String(Math.floor(from_ns)),
            to: String(Math.ceil(to_ns)),
            flow: String(flow),
            most: String(most),
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

/** A run whose series were thinned when the site was written. Of short runs every packet is there. */
class WrittenRun extends FetchedRun implements RunSource {
    #window: Promise<Columns<WindowMeta>> | undefined;
    #packets: Promise<Columns<PacketsMeta>> | undefined;

    /** Always the whole run: whoever draws it clips it. */
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

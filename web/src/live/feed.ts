/** Messages of the server while runs are made, and the last minute of each active run. */

import { useEffect, useState } from "preact/hooks";

export interface Progress {
    running: boolean;
    /** True if runs were added since the last message. */
    changed: boolean;
    done: number;
    failed: number;
    total: number;
    /** Labels of the active runs. */
    now: string[];
}

export interface StateValue {
    name: string;
    unit: string;
    value: number;
}

export interface LiveFlow {
    flow: number;
    scheme: string;
    sent_bytes: number;
    delivered_bytes: number;
    /** One-way delays of the last fifth of a second, or null if they are unknown. */
    delay_ms: { p50: number; p95: number; max: number } | null;
    state: StateValue[];
}

export interface LiveLink {
    name: string;
    queue_packets: number;
    queue_bytes: number;
    dropped_packets: number;
    marked_packets: number;
    delivered_bytes: number;
    offered_bytes: number;
}

export interface LiveRun {
    key: string;
    /** Address of the finished run; null for a run without results. */
    id: string | null;
    label: string;
    at_s: number;
    duration_s: number | null;
    attempt: number;
    flows: LiveFlow[];
    links: LiveLink[];
}

/** Length of the shown time, s. `KEPT_S`: length of the stored time. */
export const SHOWN_S = 60;
const KEPT_S = SHOWN_S + 15;
/** Maximum number of finished runs that are still shown. */
const MOST_OVER = 3;

/** Line of a chart: `key` is `flow 1` or the name of a link. */
export interface Line {
    key: string;
    values: (number | null)[];
}

/** Live run: its current state, and series of its past states. */
export class Track {
    now: LiveRun;
    over = false;
    readonly times: number[] = [];
    readonly #series = new Map<string, Map<string, (number | null)[]>>();

    constructor(first: LiveRun) {
        this.now = first;
        this.take(first);
    }

    /** Returns the lines of a series, such as `rate`. */
    lines(name: string): Line[] {
        return [...(this.#series.get(name) ?? new Map())].map(([key, values]) => ({ key, values }));
    }

    /** Returns the last value of a line. */
    last(name: string, key: string): number | null {
        return this.#series.get(name)?.get(key)?.at(-1) ?? null;
    }

    /** Returns a copy of the run that gets no updates. */
    copy(): Track {
        const copy = new Track(this.now);
        copy.over = this.over;
        copy.times.splice(0, copy.times.length, ...this.times);
        for (const [name, lines] of this.#series)
            copy.#series.set(name, new Map([...lines].map(([key, values]) => [key, [...values]])));
        return copy;
    }

    take(next: LiveRun): void {
        const before = this.now;
        if (next.at_s < before.at_s) {
            this.times.length = 0;
            this.#series.clear();
        }
        this.now = next;
        this.times.push(next.at_s);
        const elapsed_s = next.at_s - before.at_s;
        for (const flow of next.flows) {
            const key = `flow ${flow.flow}`;
            const earlier = before.flows.find((each) => each.flow === flow.flow);
            const mbps = (name: "sent_bytes" | "delivered_bytes") =>
                earlier && elapsed_s > 0 ? (Math.max(0, flow[name] - earlier[name]) * 8e-6) / elapsed_s : null;
            this.#put(
                flow.delivered_bytes > 0 ? "rate" : "sent",
                key,
                mbps(flow.delivered_bytes > 0 ? "delivered_bytes" : "sent_bytes"),
            );
            this.#put("delay", key, flow.delay_ms?.p95 ?? null);
            for (const value of flow.state) this.#put(value.name, key, toDisplayUnit(value).value);
        }
        for (const link of next.links) {
            this.#put("queue", link.name, link.queue_packets);
        }
        this.#trim(next.at_s - KEPT_S);
    }

    #put(name: string, key: string, value: number | null): void {
        const lines = this.#series.get(name) ?? new Map<string, (number | null)[]>();
        const values = lines.get(key) ?? [];
        this.#series.set(name, lines.set(key, values));
        while (values.length < this.times.length - 1) values.push(null);
        values.push(value);
    }

    /** Removes old values. Every line has a value for every time. */
    #trim(from_s: number): void {
        const old = Math.max(
            0,
            this.times.findIndex((time) => time >= from_s),
        );
        if (old) this.times.splice(0, old);
        for (const lines of this.#series.values())
            for (const values of lines.values()) {
                while (values.length < this.times.length + old) values.push(null);
                if (old) values.splice(0, old);
            }
    }
}

export interface Feed {
    progress: Progress | null;
    /** Active runs, then the runs that finished last. */
    tracks: Track[];
    /** True if the server responds. */
    connected: boolean;
    /** True if the command has announced its end. */
    ended: boolean;
}

let feed: Feed = { progress: null, tracks: [], connected: false, ended: false };
let source: EventSource | null = null;
const listeners = new Set<(feed: Feed) => void>();

function tell(next: Partial<Feed>): void {
    feed = { ...feed, ...next };
    for (const listener of listeners) listener(feed);
}

function takeRuns({ keys, runs }: { keys: string[]; runs: LiveRun[] }): void {
    for (const run of runs) {
        const track = feed.tracks.find((track) => track.now.key === run.key && !track.over);
        if (track && track.now.label === run.label) track.take(run);
        else {
            if (track) track.over = true;
            feed.tracks.push(new Track(run));
        }
    }
    for (const track of feed.tracks) if (!keys.includes(track.now.key)) track.over = true;
    const over = feed.tracks.filter((track) => track.over).slice(-MOST_OVER);
    tell({ tracks: [...feed.tracks.filter((track) => !track.over), ...over.reverse()] });
}

function listen(): void {
    source = new EventSource("data/live");
    source.addEventListener("open", () => tell({ connected: true }));
    source.addEventListener("error", () => tell({ connected: false }));
    const on = <T>(name: string, take: (content: T) => void) =>
        source?.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
    on<Progress>("progress", (progress) => tell({ progress, connected: true, ended: false }));
    on<object>("ended", () => {
        source?.close(); // it would ask again for ever
        for (const track of feed.tracks) track.over = true;
        tell({ ended: true, tracks: [...feed.tracks] });
    });
    on<{ keys: string[]; runs: LiveRun[] }>("live", takeRuns);
}

/**
 * Returns the feed, and rerenders the caller on each update. The connection stays open as long as a component uses it.
 */
export function useFeed(): Feed {
    const [found, setFound] = useState(feed);
    useEffect(() => {
        listeners.add(setFound);
        if (!source) listen();
        setFound(feed);
        return () => {
            listeners.delete(setFound);
            if (listeners.size === 0) {
                source?.close();
                source = null;
            }
        };
    }, []);
    return found;
}

/** Returns a value in the display unit: bytes as kB. */
export function toDisplayUnit(value: StateValue): StateValue {
    return value.unit === "bytes" ? { ...value, unit: "kB", value: value.value / 1e3 } : value;
}

/** Returns the name of a value whose unit lists names: `0 slow start, 1 avoidance`. */
export function namedValue({ unit, value }: StateValue): string | null {
    for (const entry of unit.split(", ")) {
        const space = entry.indexOf(" ");
        if (space > 0 && entry.slice(0, space) === String(value)) return entry.slice(space + 1);
    }
    return null;
}

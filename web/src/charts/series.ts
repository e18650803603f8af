/** Time series of a window as they are drawn and read: decoded once, then only looked at. */

import type { Columns } from "../data/columns";
import type { SeriesHeader, WindowMeta } from "../data/source";
import type { View } from "./view";

type Numbers = { readonly length: number; readonly [row: number]: number };

export interface Series {
    /** `owner/name`. */
    key: string;
    owner: string;
    name: string;
    title: string;
    unit: string;
    kind: SeriesHeader["kind"];
    thinned: boolean;
    bin_ns: number;
    time: Numbers;
    low: Numbers;
    high: Numbers;
    /** What whole numbers stand for, where they are names of states. */
    states: ReadonlyMap<number, string> | null;
}

export interface Events {
    time: Numbers;
    flow: Numbers;
    seq: Numbers;
    kind: (row: number) => string;
    text: (row: number) => string;
    thinned: boolean;
    total: number;
}

export interface WindowData {
    series: ReadonlyMap<string, Series>;
    events: Events;
}

/** Returns what the whole numbers of a series stand for, or null where they are just numbers. */
export function statesOf({ names }: { names?: readonly string[] }): ReadonlyMap<number, string> | null {
    return names && names.length > 0 ? new Map(names.map((name, number) => [number, name])) : null;
}

/** Decodes the answer to a question for a window. */
export function windowData(columns: Columns<WindowMeta>): WindowData {
    const { meta } = columns;
    const time = columns.numbers("time_ns");
    const low = columns.numbers("low");
    const high = columns.numbers("high");
    const series = new Map<string, Series>();
    for (const header of meta.series) {
        const { owner, name, title, unit, kind, detail, first, rows, bin_ns } = header;
        const key = `${owner}/${name}`;
        const part = (all: typeof time) => all.subarray(first, first + rows);
        series.set(key, {
            key,
            owner,
            name,
            title,
            unit,
            kind,
            thinned: detail === "thinned",
            bin_ns: bin_ns ?? 0,
            time: part(time),
            low: part(low),
            high: part(high),
            states: statesOf(header),
        });
    }
    return {
        series,
        events: {
            time: columns.numbers("event_time_ns"),
            flow: columns.numbers("event_flow"),
            seq: columns.numbers("event_seq"),
            kind: (row) => columns.text("event_kind", row),
            text: (row) => columns.text("event_text", row),
            thinned: meta.events.thinned,
            total: meta.events.total,
        },
    };
}

/** Returns the series and events at other times: `by` later. */
export function shifted(data: WindowData, by: number): WindowData {
    if (by === 0) return data;
    const later = (times: Numbers) => Float64Array.from(times, (each) => each + by);
    const series = new Map([...data.series].map(([key, each]) => [key, { ...each, time: later(each.time) }]));
    const events = { ...data.events, time: later(data.events.time) };
    return { series, events };
}

/** Returns the first row whose time is not before `time`. */
export function firstAt(times: Numbers, time: number): number {
    let low = 0;
    let high = times.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle]! < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

export interface Value {
    row: number;
    time: number;
    low: number;
    high: number;
}

/**
 * Returns the value of a series at a time, or null where it has none.
 *
 * Steps and bars hold from their time on, and so does a thinned row: it is of all samples up to the next.
 * Of single points it is the nearest.
 */
export function valueAt(series: Series, time: number): Value | null {
    const { time: times, low, high } = series;
    if (times.length === 0) return null;
    const next = firstAt(times, time);
    const at = (row: number) => ({ row, time: times[row]!, low: low[row]!, high: high[row]! });
    const before = times[next] === time ? next : next - 1;
    if (series.kind === "points" && !series.thinned) {
        if (before < 0) return at(0);
        if (before === times.length - 1) return at(before);
        return at(time - times[before]! <= times[before + 1]! - time ? before : before + 1);
    }
    if (before < 0) return series.kind === "points" ? at(0) : null;
    const bars = series.kind === "bars" && !series.thinned;
    return bars && time >= times[before]! + series.bin_ns ? null : at(before);
}

export interface Aggregate {
    rows: number;
    min: number;
    max: number;
    /** Of samples, each alike; of bars and steps over time. NaN where only minima and maxima are known. */
    mean: number;
}

/** Returns what a series is between two times. */
export function aggregate(series: Series, view: View): Aggregate {
    const { time, low, high, kind, thinned, bin_ns } = series;
    const found: Aggregate = { rows: 0, min: Number.NaN, max: Number.NaN, mean: Number.NaN };
    let sum = 0;
    let weight = 0;
    const first = firstAt(time, view.from);
    const start = kind === "points" ? first : Math.max(0, time[first] === view.from ? first : first - 1);
    for (let row = start; row < time.length && time[row]! <= view.to; row++) {
        const end = kind === "bars" && !thinned ? time[row]! + bin_ns : (time[row + 1] ?? view.to);
        if (kind !== "points" && end <= view.from) continue;
        if (Number.isNaN(low[row]!)) continue;
        const width = kind === "points" ? 1 : Math.min(end, view.to) - Math.max(time[row]!, view.from);
        found.rows++;
        if (!(low[row]! >= found.min)) found.min = low[row]!;
        if (!(high[row]! <= found.max)) found.max = high[row]!;
        sum += width * low[row]!;
        weight += width;
    }
    if (!thinned && weight > 0) found.mean = sum / weight;
    return found;
}

/** Returns how many events of each kind lie between two times, of the flows that are looked at (all: null). */
export function countEvents(events: Events, view: View, flows: ReadonlySet<number> | null): Map<string, number> {
    const counts = new Map<string, number>();
    for (let row = firstAt(events.time, view.from); row < events.time.length && events.time[row]! <= view.to; row++) {
        if (flows && !flows.has(events.flow[row]!)) continue;
        const kind = events.kind(row);
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return counts;
}

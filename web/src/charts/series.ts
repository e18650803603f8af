/** Time series of a window, decoded once for drawing and for reading values. */

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
    /** Names of the states that the whole numbers stand for; null for ordinary numbers. */
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

/** Returns the state names of a series by number, or null for ordinary numbers. */
export function statesOf({ names }: { names?: readonly string[] }): ReadonlyMap<number, string> | null {
    return names && names.length > 0 ? new Map(names.map((name, number) => [number, name])) : null;
}

/** Decodes the response for a window. */
export function windowData(columns: Columns<WindowMeta>): WindowData {
    const { meta } = columns;
    const time = columns.numbers("time_ns");
    const low = columns.numbers("low");
    const high = columns.numbers("high");
    const series = new Map<string, Series>();
    for (const header of meta.series) {
        const { owner, name, title, unit, kind, detail, first, rows, bin_ns } = header;
        const key = `${owner}/${name}`;
        const part = (column: typeof time) => column.subarray(first, first + rows);
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

/** Returns the series and events `by` ns later. */
export function shiftData(data: WindowData, by: number): WindowData {
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
 * Returns the value of a series at a time, or null if it has none.
 *
 * Steps and bars hold from their time on. A thinned row does too, since it covers all samples up to the next row.
 * For single points the nearest one counts.
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
    /** Mean of the samples; for bars and steps the mean over time. NaN if only minima and maxima are known. */
    mean: number;
}

/** Returns the number of rows, minimum, maximum and mean of a series within a view. */
export function aggregate(series: Series, view: View): Aggregate {
    const { time, low, high, kind, thinned, bin_ns } = series;
    const result: Aggregate = { rows: 0, min: Number.NaN, max: Number.NaN, mean: Number.NaN };
    let sum = 0;
    let weight = 0;
    const first = firstAt(time, view.from);
    const start = kind === "points" ? first : Math.max(0, time[first] === view.from ? first : first - 1);
    for (let row = start; row < time.length && time[row]! <= view.to; row++) {
        const end = kind === "bars" && !thinned ? time[row]! + bin_ns : (time[row + 1] ?? view.to);
        if (kind !== "points" && end <= view.from) continue;
        if (Number.isNaN(low[row]!)) continue;
        const width = kind === "points" ? 1 : Math.min(end, view.to) - Math.max(time[row]!, view.from);
        result.rows++;
        if (!(low[row]! >= result.min)) result.min = low[row]!;
        if (!(high[row]! <= result.max)) result.max = high[row]!;
        sum += width * low[row]!;
        weight += width;
    }
    if (!thinned && weight > 0) result.mean = sum / weight;
    return result;
}

/** Returns the number of events of each kind between two times, for the given flows (null: all flows). */
export function countEvents(events: Events, view: View, flows: ReadonlySet<number> | null): Map<string, number> {
    const counts = new Map<string, number>();
    for (let row = firstAt(events.time, view.from); row < events.time.length && events.time[row]! <= view.to; row++) {
        if (flows && !flows.has(events.flow[row]!)) continue;
        const kind = events.kind(row);
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return counts;
}

/** Table of runs: columns, filters, order and groups. Fetches columns; otherwise uses neither page nor network. */

import type { Column, NumberArray } from "./columns";
import { type Field, type RunsFacts, runsColumn } from "./source";
import { type Estimate, estimate } from "./statistics";

/** Fields that identify a run. */
const IDENTITY = ["directory", "path", "scheme", "run"];

export class Runs {
    readonly facts: RunsFacts;
    readonly fields: ReadonlyMap<string, Field>;
    readonly #columns = new Map<string, Column>();
    readonly #coming = new Map<string, Promise<void>>();
    readonly #keys = new Map<string, Uint32Array[]>();
    readonly #varies = new Map<string, boolean>();

    constructor(facts: RunsFacts) {
        this.facts = facts;
        this.fields = new Map(facts.fields.map((field) => [field.name, field]));
    }

    get rows(): number {
        return this.facts.rows;
    }

    /** Returns the fields of throughput, delay and loss in a convention that the runs have. */
    mainOf(convention: string): Field[] {
        return (this.facts.conventions[convention]?.metrics ?? []).flatMap((name) => this.fields.get(name) ?? []);
    }

    /** Fetches missing columns. Names without a field are skipped. */
    async load(names: Iterable<string>, fetchColumn = runsColumn): Promise<void> {
        const columnNames = new Set([...IDENTITY, "status", ...names]);
        await Promise.all(
            [...columnNames]
                .filter((name) => this.fields.has(name))
                .map((name) => {
                    const coming =
                        this.#coming.get(name) ??
                        fetchColumn(name).then(
                            (table) => this.put(name, table.column("values")),
                            (error: Error) => {
                                this.#coming.delete(name); // the next one who asks tries again
                                throw error;
                            },
                        );
                    this.#coming.set(name, coming);
                    return coming;
                }),
        );
    }

    put(name: string, column: Column): void {
        this.#columns.set(name, column);
    }

    /** Names of the loaded columns. */
    get columns(): string[] {
        return [...this.#columns.keys()];
    }

    has(name: string): boolean {
        return this.#columns.has(name);
    }

    column(name: string): Column {
        const column = this.#columns.get(name);
        if (!column) throw new Error(`column ${name} has not been read`);
        return column;
    }

    numbers(name: string): NumberArray {
        return this.column(name).values;
    }

    text(name: string, row: number): string {
        const { values, names } = this.column(name);
        return names?.[values[row]!] ?? "";
    }

    /** Returns true if the metrics of a run count in means (status `done`). Other runs are shown but not counted. */
    counts(row: number): boolean {
        return this.text("status", row) === "done";
    }

    /** Returns the identity, which the address of the page of a run contains. */
    id(row: number): string {
        return `${this.text("directory", row)}/${this.text("path", row)}/${this.text("scheme", row)}/${this.numbers("run")[row]}`;
    }

    directoryLabel(id: string): string {
        return this.facts.directories.find((each) => each.id === id)?.label ?? id;
    }

    /** Returns true if a field has several values over all runs, or if its column is not loaded yet. */
    varies(name: string): boolean {
        const knownResult = this.#varies.get(name);
        if (knownResult !== undefined) return knownResult;
        if (!this.has(name)) return true;
        const { values } = this.column(name);
        const isVarying = values.some((value) => !Object.is(value, values[0]));
        this.#varies.set(name, isVarying);
        return isVarying;
    }

    /**
     * Returns sort keys of a column, low word last. Their order as unsigned numbers is the order of the values; missing
     * is largest.
     */
    keys(name: string): Uint32Array[] {
        const cachedKeys = this.#keys.get(name);
        if (cachedKeys) return cachedKeys;
        const { values, names } = this.column(name);
        const sortKeys = names ? [textKeys(values, names)] : numberKeys(values);
        this.#keys.set(name, sortKeys);
        return sortKeys;
    }
}

const ALL = new WeakMap<RunsFacts, Runs>();

/** Returns the table of these facts. All pages share it, so that each column is read once. */
export function runsOf(facts: RunsFacts): Runs {
    const existing = ALL.get(facts);
    if (existing) return existing;
    const runs = new Runs(facts);
    ALL.set(facts, runs);
    return runs;
}

export const MISSING = 0xffffffff;

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** Compares strings in natural order: `cell 2` before `cell 10`. */
export function byText(one: string, other: string): number {
    return COLLATOR.compare(one, other);
}

function textKeys(values: NumberArray, names: readonly string[]): Uint32Array {
    const order = names.map((_, code) => code).sort((a, b) => byText(names[a]!, names[b]!));
    const ranks = new Uint32Array(names.length);
    let rank = -1;
    for (const [place, code] of order.entries()) {
        if (place === 0 || names[code] !== names[order[place - 1]!]) rank++;
        ranks[code] = names[code] === "" ? MISSING : rank;
    }
    const keys = new Uint32Array(values.length);
    for (let row = 0; row < keys.length; row++) keys[row] = ranks[values[row]!] ?? MISSING;
    return keys;
}

/** Returns the bits of little-endian numbers, mapped so that they sort as unsigned integers. */
function numberKeys(values: NumberArray): Uint32Array[] {
    if (!(values instanceof Float32Array)) {
        const bits = new Uint32Array(new Float64Array(values).buffer);
        const [high, low] = [new Uint32Array(values.length), new Uint32Array(values.length)];
        for (let row = 0; row < values.length; row++) {
            const value = values[row]!;
            const top = value === 0 ? 0 : bits[2 * row + 1]!; // 0 and -0 are one
            const rest = bits[2 * row]!;
            high[row] = Number.isNaN(value) ? MISSING : top & 0x80000000 ? ~top : top | 0x80000000;
            low[row] = Number.isNaN(value) ? MISSING : top & 0x80000000 ? ~rest : rest;
        }
        return [high, low];
    }
    const bits = new Uint32Array(values.slice().buffer);
    const keys = new Uint32Array(values.length);
    for (let row = 0; row < values.length; row++) {
        const value = values[row]!;
        const top = value === 0 ? 0 : bits[row]!;
        keys[row] = Number.isNaN(value) ? MISSING : top & 0x80000000 ? ~top : top | 0x80000000;
    }
    return [keys];
}

/** Filter: allowed strings of a field, a range in display units, or a string to find in any field of text. */
export type Filter =
    | { kind: "values"; field: string; values: string[] }
    | { kind: "range"; field: string; low: number | null; high: number | null }
    | { kind: "search"; text: string };

/**
 * Parses entries such as `scheme:cubic`, `goodput_mbps:10..20`, `*:india`. Entries without a valid field are returned
 * as `unknown`.
 */
export function readFilters(
    entries: readonly string[],
    fields: ReadonlyMap<string, Field>,
): { filters: Filter[]; unknown: string[] } {
    const values = new Map<string, string[]>();
    const filters: Filter[] = [];
    const unknown: string[] = [];
    for (const entry of entries) {
        if (entry.startsWith("*:")) {
            if (entry.length > 2) filters.push({ kind: "search", text: entry.slice(2) });
            continue;
        }
        // A field's name may contain a colon: the longest match wins.
        let at = entry.lastIndexOf(":");
        while (at > 0 && !fields.has(entry.slice(0, at))) at = entry.lastIndexOf(":", at - 1);
        const field = at > 0 ? fields.get(entry.slice(0, at)) : undefined;
        if (!field) {
            unknown.push(entry);
            continue;
        }
        const value = entry.slice(at + 1);
        if (field.kind === "text") {
            const entry = values.get(field.name);
            if (entry) entry.push(value);
            else values.set(field.name, [value]);
            continue;
        }
        const [from = "", to = from] = value.split("..", 2);
        const [low, high] = [readNumber(field, from, false), readNumber(field, to, true)];
        if (low === undefined || high === undefined || (low === null && high === null)) unknown.push(entry);
        else filters.push({ kind: "range", field: field.name, low, high });
    }
    for (const [field, each] of values) filters.push({ kind: "values", field, values: each });
    return { filters, unknown };
}

/** Parses a date into seconds since 1970, or a number. Returns null for "". */
function readNumber(field: Field, text: string, end: boolean): number | null | undefined {
    if (text === "") return null;
    if (field.name === "started_at" && /^\d{4}-\d\d-\d\d/.test(text)) {
        const time = Date.parse(text) / 1000;
        return Number.isNaN(time) ? undefined : time + (end && text.length === 10 ? 86399.999 : 0);
    }
    const number = Number(text);
    return Number.isNaN(number) ? undefined : number;
}

/** Returns the fields whose columns `filterRows` needs. */
export function filterFields(filters: readonly Filter[], fields: ReadonlyMap<string, Field>): string[] {
    return filters.flatMap((filter) =>
        filter.kind === "search"
            ? [...fields.values()].filter((field) => field.kind === "text").map((field) => field.name)
            : [filter.field],
    );
}

/** Returns the rows that pass all filters, in the order of the table. A column that is not loaded passes all rows. */
export function filterRows(runs: Runs, filters: readonly Filter[], without = ""): Uint32Array {
    const passes = new Uint8Array(runs.rows).fill(1);
    for (const filter of filters) {
        if (filter.kind === "search") search(runs, filter.text, passes);
        else if (filter.field === without || !runs.has(filter.field)) continue;
        else if (filter.kind === "values") {
            const { values, names } = runs.column(filter.field);
            const allowedValues = new Set(filter.values);
            const good = Uint8Array.from(names ?? [], (name) => (allowedValues.has(name) ? 1 : 0));
            const absent = allowedValues.has("") ? 1 : 0;
            for (let row = 0; row < passes.length; row++) passes[row]! &= good[values[row]!] ?? absent;
        } else {
            const values = runs.numbers(filter.field);
            const factor = runs.fields.get(filter.field)?.factor ?? 1;
            const [low, high] = rangeOf(filter, factor, values instanceof Float32Array);
            for (let row = 0; row < passes.length; row++) {
                const value = values[row]!;
                if (!(value >= low && value <= high)) passes[row] = 0;
            }
        }
    }
    let count = 0;
    for (const pass of passes) count += pass;
    const passingRows = new Uint32Array(count);
    let place = 0;
    for (let row = 0; row < passes.length; row++) if (passes[row]) passingRows[place++] = row;
    return passingRows;
}

/**
 * Returns both ends of a range in stored units. A range taken from a single-precision number must contain that number.
 */
function rangeOf(
    filter: { low: number | null; high: number | null },
    factor: number,
    single: boolean,
): [number, number] {
    const low = filter.low === null ? Number.NEGATIVE_INFINITY : filter.low / factor;
    const high = filter.high === null ? Number.POSITIVE_INFINITY : filter.high / factor;
    const slack = single ? 1e-7 : 1e-13;
    return [low - Math.abs(low) * slack || low, high + Math.abs(high) * slack || high];
}

function search(runs: Runs, text: string, passes: Uint8Array): void {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fields = [...runs.fields.values()].filter((field) => field.kind === "text" && runs.has(field.name));
    for (const word of words) {
        const matches = new Uint8Array(passes.length);
        for (const field of fields) {
            const { values, names } = runs.column(field.name);
            const label =
                field.name === "directory" ? (name: string) => runs.directoryLabel(name) : (name: string) => name;
            const good = Uint8Array.from(names ?? [], (name) => (label(name).toLowerCase().includes(word) ? 1 : 0));
            if (!good.includes(1)) continue;
            for (let row = 0; row < matches.length; row++) matches[row]! |= good[values[row]!] ?? 0;
        }
        for (let row = 0; row < passes.length; row++) passes[row]! &= matches[row]!;
    }
}

export interface SortKey {
    field: string;
    descending: boolean;
}

/** Parses sort keys: `goodput_mbps` (ascending) and `-goodput_mbps` (descending). */
export function readSort(entries: readonly string[], fields: ReadonlyMap<string, Field>): SortKey[] {
    return entries
        .map((entry) => ({ field: entry.replace(/^-/, ""), descending: entry.startsWith("-") }))
        .filter(({ field }) => fields.has(field));
}

/**
 * Returns the rows in order of the keys, the first key first. The sort is stable; rows without a value are last in both
 * directions.
 */
export function sortRows(runs: Runs, rows: Uint32Array, sort: readonly SortKey[]): Uint32Array {
    let order = rows;
    for (const { field, descending } of [...sort].reverse()) {
        if (!runs.has(field)) continue;
        const words = runs.keys(field);
        for (const word of [...words].reverse()) order = radix(order, word, words[0]!, descending);
    }
    return order;
}

/** Sorts rows stably by 32-bit keys, 11 bits at a time. `top` identifies missing values. */
function radix(rows: Uint32Array, keys: Uint32Array, top: Uint32Array, descending: boolean): Uint32Array {
    const count = rows.length;
    const turn = descending ? MISSING : 0;
    let from: Uint32Array = rows;
    let to: Uint32Array = new Uint32Array(count);
    for (let shift = 0; shift < 32; shift += 11) {
        const starts = new Uint32Array(2049);
        for (let place = 0; place < count; place++) {
            const row = from[place]!;
            const key = top[row] === MISSING ? MISSING : keys[row]! ^ turn;
            starts[((key >>> shift) & 2047) + 1]!++;
        }
        if (starts.includes(count)) continue; // all have the same digit
        for (let place = 1; place < 2049; place++) starts[place]! += starts[place - 1]!;
        for (let place = 0; place < count; place++) {
            const row = from[place]!;
            const key = top[row] === MISSING ? MISSING : keys[row]! ^ turn;
            to[starts[(key >>> shift) & 2047]!++] = row;
        }
        [from, to] = [to, from === rows ? new Uint32Array(count) : from];
    }
    return from;
}

/** Runs with equal values of the grouping fields. */
export interface Group {
    /** Values of the grouping fields. */
    values: string[];
    rows: number[];
    /** Number of runs that count in means. */
    good: number;
}

/** Groups rows by fields of text (a number counts as its text), in order of first occurrence. */
export function groupRows(runs: Runs, rows: Iterable<number>, by: readonly string[]): Group[] {
    const columns = by.map((field) => runs.column(field));
    const doneCode = runs.column("status").names?.indexOf("done") ?? -1;
    const status = runs.numbers("status");
    const groups = new Map<string | number, Group>();
    // The codes of all fields combine into one number while the product is exact.
    const sizes = columns.map(({ names }) => (names ? names.length + 1 : Number.POSITIVE_INFINITY));
    const exact = sizes.reduce((product, size) => product * size, 1) < Number.MAX_SAFE_INTEGER;
    for (const row of rows) {
        let key: string | number = exact ? 0 : "";
        for (const [place, { values }] of columns.entries())
            key = exact
                ? (key as number) * sizes[place]! + Math.min(values[row]!, sizes[place]! - 1) // absent is the last
                : `${key} ${values[row]}`;
        let group = groups.get(key);
        if (!group) {
            const values = columns.map(({ values, names }) =>
                names ? (names[values[row]!] ?? "") : Number.isNaN(values[row]!) ? "" : String(values[row]),
            );
            group = { values, rows: [], good: 0 };
            groups.set(key, group);
        }
        group.rows.push(row);
        if (status[row] === doneCode) group.good++;
    }
    return [...groups.values()];
}

/** Returns the values of a metric in the rows that count and have a value. */
export function valuesOf(runs: Runs, rows: Iterable<number>, metric: string): number[] {
    const values = runs.numbers(metric);
    const doneCode = runs.column("status").names?.indexOf("done") ?? -1;
    const status = runs.numbers("status");
    const metricValues: number[] = [];
    for (const row of rows) {
        const value = values[row]!;
        if (status[row] === doneCode && !Number.isNaN(value)) metricValues.push(value);
    }
    return metricValues;
}

export function estimateOf(runs: Runs, rows: Iterable<number>, metric: string): Estimate | null {
    return estimate(valuesOf(runs, rows, metric), runs.facts.critical_values, runs.fields.get(metric)?.fraction);
}

/** Returns the groups in order. Groups without a value are last in both directions. Metrics sort by their means. */
export function sortGroups<G extends Group>(
    groups: readonly G[],
    by: readonly string[],
    means: (group: G, metric: string) => number | null,
    sort: readonly SortKey[],
): G[] {
    const groupKeys = groups.map((group) => ({
        group,
        keys: sort.map(({ field }) => {
            const place = by.indexOf(field);
            return place < 0 ? means(group, field) : group.values[place] || null;
        }),
    }));
    groupKeys.sort((one, other) => {
        for (const [place, { descending }] of sort.entries()) {
            const [a, b] = [one.keys[place] ?? null, other.keys[place] ?? null];
            if (a === null || b === null) {
                if (a !== b) return a === null ? 1 : -1;
                continue;
            }
            const order = typeof a === "number" && typeof b === "number" ? a - b : byText(String(a), String(b));
            if (order) return descending ? -order : order;
        }
        return 0;
    });
    return groupKeys.map(({ group }) => group);
}

/** Returns the distinct strings of a field among the rows with their counts, in natural order. */
export function countedValues(runs: Runs, rows: Uint32Array, field: string): { value: string; count: number }[] {
    const { values, names } = runs.column(field);
    const counts = new Uint32Array(names?.length ?? 0);
    let absent = 0;
    for (const row of rows) {
        const code = values[row]!;
        if (code < counts.length) counts[code]!++;
        else absent++;
    }
    const textCounts = new Map<string, number>(absent ? [["", absent]] : []);
    for (const [code, count] of counts.entries())
        if (count) textCounts.set(names![code]!, (textCounts.get(names![code]!) ?? 0) + count);
    return [...textCounts].map(([value, count]) => ({ value, count })).sort((a, b) => byText(a.value, b.value));
}

/** Returns the least and the largest number of a field in display units, or null if no row has a value. */
export function reachOf(runs: Runs, rows: Iterable<number>, field: string): [number, number] | null {
    const values = runs.numbers(field);
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const row of rows) {
        const value = values[row]!;
        if (value < low) low = value;
        if (value > high) high = value;
    }
    const factor = runs.fields.get(field)?.factor ?? 1;
    return low <= high ? [low * factor, high * factor] : null;
}

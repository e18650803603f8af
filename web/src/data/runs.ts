/** The table of runs: its columns, what filters leave of it, in which order, in which groups. No page, no network but for columns. */

import type { Column, NumberArray } from "./columns";
import { type Field, type RunsFacts, runsColumn } from "./source";
import { type Estimate, estimate } from "./statistics";

/** Fields that name a run. */
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

    /** Fields of throughput, delay and loss by a convention, as far as the runs have them. */
    mainOf(convention: string): Field[] {
        return (this.facts.conventions[convention]?.metrics ?? []).flatMap((name) => this.fields.get(name) ?? []);
    }

    /** Fetches the columns that are not there yet; one that does not exist is left out. */
    async load(names: Iterable<string>, fetchColumn = runsColumn): Promise<void> {
        const wanted = new Set([...IDENTITY, "status", ...names]);
        await Promise.all(
            [...wanted]
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

    /** Names of the columns that are there. */
    get columns(): string[] {
        return [...this.#columns.keys()];
    }

    has(name: string): boolean {
        return this.#columns.has(name);
    }

    column(name: string): Column {
        const found = this.#columns.get(name);
        if (!found) throw new Error(`column ${name} has not been read`);
        return found;
    }

    numbers(name: string): NumberArray {
        return this.column(name).values;
    }

    text(name: string, row: number): string {
        const { values, names } = this.column(name);
        return names?.[values[row]!] ?? "";
    }

    /** Whether numbers of a run count in means: those of runs that did not go well are shown, but not counted. */
    counts(row: number): boolean {
        return this.text("status", row) === "done";
    }

    /** The identity that names the page of a run. */
    id(row: number): string {
        return `${this.text("directory", row)}/${this.text("path", row)}/${this.text("scheme", row)}/${this.numbers("run")[row]}`;
    }

    directoryLabel(id: string): string {
        return this.facts.directories.find((each) => each.id === id)?.label ?? id;
    }

    /** Whether several values of a field are among all runs; true as long as its column has not been read. */
    varies(name: string): boolean {
        const known = this.#varies.get(name);
        if (known !== undefined) return known;
        if (!this.has(name)) return true;
        const { values } = this.column(name);
        const found = values.some((value) => !Object.is(value, values[0]));
        this.#varies.set(name, found);
        return found;
    }

    /** Numbers by which a column sorts, low word last: their order as unsigned numbers is that of the values; missing is largest. */
    keys(name: string): Uint32Array[] {
        const known = this.#keys.get(name);
        if (known) return known;
        const { values, names } = this.column(name);
        const made = names ? [textKeys(values, names)] : numberKeys(values);
        this.#keys.set(name, made);
        return made;
    }
}

const ALL = new WeakMap<RunsFacts, Runs>();

/** The table of these facts: one for all pages, so that columns are read once. */
export function runsOf(facts: RunsFacts): Runs {
    const known = ALL.get(facts);
    if (known) return known;
    const made = new Runs(facts);
    ALL.set(facts, made);
    return made;
}

export const MISSING = 0xffffffff;

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** Sorts texts as people do: `cell 2` before `cell 10`. */
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

/** The bits of numbers (little endian, as columns come), turned so that they sort as unsigned ones. */
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

/** A filter: texts of which one has to be there, a range of a number as people see it, or a text to look for in all text fields. */
export type Filter =
    | { kind: "values"; field: string; values: string[] }
    | { kind: "range"; field: string; low: number | null; high: number | null }
    | { kind: "search"; text: string };

/** Reads entries such as `scheme:cubic`, `goodput_mbps:10..20`, `*:india`. What names no field comes back as `unknown`. */
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
        // names of fields may have a colon: the longest that fits is meant
        let at = entry.lastIndexOf(":");
        while (at > 0 && !fields.has(entry.slice(0, at))) at = entry.lastIndexOf(":", at - 1);
        const field = at > 0 ? fields.get(entry.slice(0, at)) : undefined;
        if (!field) {
            unknown.push(entry);
            continue;
        }
        const value = entry.slice(at + 1);
        if (field.kind === "text") {
            const known = values.get(field.name);
            if (known) known.push(value);
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

/** A time in seconds since 1970 that is written as a date, or else a number; null of nothing. */
function readNumber(field: Field, text: string, end: boolean): number | null | undefined {
    if (text === "") return null;
    if (field.name === "started_at" && /^\d{4}-\d\d-\d\d/.test(text)) {
        const time = Date.parse(text) / 1000;
        return Number.isNaN(time) ? undefined : time + (end && text.length === 10 ? 86399.999 : 0);
    }
    const number = Number(text);
    return Number.isNaN(number) ? undefined : number;
}

/** Fields that have to be read before `filterRows`. */
export function filterFields(filters: readonly Filter[], fields: ReadonlyMap<string, Field>): string[] {
    return filters.flatMap((filter) =>
        filter.kind === "search"
            ? [...fields.values()].filter((field) => field.kind === "text").map((field) => field.name)
            : [filter.field],
    );
}

/** Returns the rows that all filters let pass, in the order of the table. Columns that have not been read let all pass. */
export function filterRows(runs: Runs, filters: readonly Filter[], without = ""): Uint32Array {
    const passes = new Uint8Array(runs.rows).fill(1);
    for (const filter of filters) {
        if (filter.kind === "search") search(runs, filter.text, passes);
        else if (filter.field === without || !runs.has(filter.field)) continue;
        else if (filter.kind === "values") {
            const { values, names } = runs.column(filter.field);
            const wanted = new Set(filter.values);
            const good = Uint8Array.from(names ?? [], (name) => (wanted.has(name) ? 1 : 0));
            const absent = wanted.has("") ? 1 : 0;
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
    for (const each of passes) count += each;
    const found = new Uint32Array(count);
    let place = 0;
    for (let row = 0; row < passes.length; row++) if (passes[row]) found[place++] = row;
    return found;
}

/** Both ends as they are stored; a range that was read off a number in single precision has to hold it. */
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
        const found = new Uint8Array(passes.length);
        for (const field of fields) {
            const { values, names } = runs.column(field.name);
            const label =
                field.name === "directory" ? (name: string) => runs.directoryLabel(name) : (name: string) => name;
            const good = Uint8Array.from(names ?? [], (name) => (label(name).toLowerCase().includes(word) ? 1 : 0));
            if (!good.includes(1)) continue;
            for (let row = 0; row < found.length; row++) found[row]! |= good[values[row]!] ?? 0;
        }
        for (let row = 0; row < passes.length; row++) passes[row]! &= found[row]!;
    }
}

export interface SortKey {
    field: string;
    descending: boolean;
}

/** Reads `goodput_mbps` (least first) and `-goodput_mbps` (most first). */
export function readSort(entries: readonly string[], fields: ReadonlyMap<string, Field>): SortKey[] {
    return entries
        .map((entry) => ({ field: entry.replace(/^-/, ""), descending: entry.startsWith("-") }))
        .filter(({ field }) => fields.has(field));
}

/** Returns the rows in order, by the first key first; rows without a value are last either way, equal ones stay as they were. */
export function sortRows(runs: Runs, rows: Uint32Array, sort: readonly SortKey[]): Uint32Array {
    let order = rows;
    for (const { field, descending } of [...sort].reverse()) {
        if (!runs.has(field)) continue;
        const words = runs.keys(field);
        for (const word of [...words].reverse()) order = radix(order, word, words[0]!, descending);
    }
    return order;
}

/** A stable sort by 32-bit keys, 11 bits at a time. `top` tells which are missing. */
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

/** Runs that have the same values of the fields that they are grouped by. */
export interface Group {
    /** Values of those fields. */
    values: string[];
    rows: number[];
    /** Runs that count in means. */
    good: number;
}

/** Groups rows by fields of text (a number counts as its text), in the order in which they come. */
export function groupRows(runs: Runs, rows: Iterable<number>, by: readonly string[]): Group[] {
    const columns = by.map((field) => runs.column(field));
    const done = runs.column("status").names?.indexOf("done") ?? -1;
    const status = runs.numbers("status");
    const found = new Map<string | number, Group>();
    // codes of texts make one number, as long as that is exact
    const sizes = columns.map(({ names }) => (names ? names.length + 1 : Number.POSITIVE_INFINITY));
    const exact = sizes.reduce((product, size) => product * size, 1) < Number.MAX_SAFE_INTEGER;
    for (const row of rows) {
        let key: string | number = exact ? 0 : "";
        for (const [place, { values }] of columns.entries())
            key = exact
                ? (key as number) * sizes[place]! + Math.min(values[row]!, sizes[place]! - 1) // absent is the last
                : `${key} ${values[row]}`;
        let group = found.get(key);
        if (!group) {
            const values = columns.map(({ values, names }) =>
                names ? (names[values[row]!] ?? "") : Number.isNaN(values[row]!) ? "" : String(values[row]),
            );
            group = { values, rows: [], good: 0 };
            found.set(key, group);
        }
        group.rows.push(row);
        if (status[row] === done) group.good++;
    }
    return [...found.values()];
}

/** The values of a metric in those of the rows that count and have one. */
export function valuesOf(runs: Runs, rows: Iterable<number>, metric: string): number[] {
    const values = runs.numbers(metric);
    const done = runs.column("status").names?.indexOf("done") ?? -1;
    const status = runs.numbers("status");
    const found: number[] = [];
    for (const row of rows) {
        const value = values[row]!;
        if (status[row] === done && !Number.isNaN(value)) found.push(value);
    }
    return found;
}

export function estimateOf(runs: Runs, rows: Iterable<number>, metric: string): Estimate | null {
    return estimate(valuesOf(runs, rows, metric), runs.facts.critical_values, runs.fields.get(metric)?.fraction);
}

/** Returns the groups in order; those without a value are last either way. Metrics sort by their means. */
export function sortGroups<G extends Group>(
    groups: readonly G[],
    by: readonly string[],
    means: (group: G, metric: string) => number | null,
    sort: readonly SortKey[],
): G[] {
    const keyed = groups.map((group) => ({
        group,
        keys: sort.map(({ field }) => {
            const place = by.indexOf(field);
            return place < 0 ? means(group, field) : group.values[place] || null;
        }),
    }));
    keyed.sort((one, other) => {
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
    return keyed.map(({ group }) => group);
}

/** The texts of a field among the rows, with how many rows have each, as people sort them. */
export function countedValues(runs: Runs, rows: Uint32Array, field: string): { value: string; count: number }[] {
    const { values, names } = runs.column(field);
    const counts = new Uint32Array(names?.length ?? 0);
    let absent = 0;
    for (const row of rows) {
        const code = values[row]!;
        if (code < counts.length) counts[code]!++;
        else absent++;
    }
    const found = new Map<string, number>(absent ? [["", absent]] : []);
    for (const [code, count] of counts.entries())
        if (count) found.set(names![code]!, (found.get(names![code]!) ?? 0) + count);
    return [...found].map(([value, count]) => ({ value, count })).sort((a, b) => byText(a.value, b.value));
}

/** The least and the largest number of a field, as people see it; null if no row has one. */
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

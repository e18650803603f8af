/** Exports of a page: files, and the command that prints the shown means. */

import type { Filter, Runs } from "./runs";

export type Cell = string | number | null;

/** Table to export: column names, and a cell per column in each row. */
export interface Sheet {
    columns: string[];
    rows: Iterable<Cell[]>;
}

/** Returns comma-separated values after RFC 4180. Cells that a spreadsheet would compute begin with an apostrophe. */
export function csvOf(sheet: Sheet): string {
    const lines = [sheet.columns.map(csvCell).join(",")];
    for (const row of sheet.rows) lines.push(row.map(csvCell).join(","));
    return `${lines.join("\r\n")}\r\n`;
}

function csvCell(cell: Cell): string {
    if (cell === null) return "";
    if (typeof cell === "number") return Number.isNaN(cell) ? "" : String(cell);
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the rows as JSON, together with the selection that led to them. */
export function jsonOf(sheet: Sheet, selection: Record<string, unknown>): string {
    const rows = [];
    for (const row of sheet.rows)
        rows.push(Object.fromEntries(sheet.columns.map((name, place) => [name, plain(row[place]!)])));
    return `${JSON.stringify({ ...selection, rows }, null, 1)}\n`;
}

function plain(cell: Cell): Cell {
    return typeof cell === "number" && !Number.isFinite(cell) ? null : cell;
}

/** Returns a number in the fewest digits that restore it: at most nine in single precision. */
export function shortest(value: number, single: boolean): number {
    if (!single || !Number.isFinite(value)) return value;
    for (let digits = 6; digits < 9; digits++) {
        const short = Number(value.toPrecision(digits));
        if (Math.fround(short) === value) return short;
    }
    return Number(value.toPrecision(9));
}

/** Offers a file for download. */
export function download(name: string, type: string, content: string): void {
    const address = URL.createObjectURL(new Blob([content], { type }));
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Returns the text quoted as one word for any POSIX shell. */
export function shellWord(text: string): string {
    return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Commands that print means of the shown runs, and notes on parts that no command can express. */
export interface Commands {
    lines: string[];
    lacks: string[];
}

export interface TableState {
    filters: readonly Filter[];
    /** Shown metrics: additional ones, or a replacement of the convention's three metrics. */
    metrics: readonly string[];
    convention: string;
    sort: readonly { field: string; descending: boolean }[];
    groupFields: readonly string[];
    pivot: readonly string[];
}

export function commandsOf(runs: Runs, state: TableState): Commands {
    const lacks: string[] = [];
    const options: string[] = [];
    let directories = runs.facts.directories;
    for (const filter of state.filters) {
        if (filter.kind === "search") lacks.push(`the search for “${filter.text}”`);
        else if (filter.kind === "range") lacks.push(`the range of ${filter.field}`);
        else if (filter.field === "directory") directories = directories.filter(({ id }) => filter.values.includes(id));
        else if (filter.field === "path" || filter.field === "scheme") {
            const names = filter.values;
            if (names.some((name) => name.includes(",") || name === ""))
                lacks.push(`a ${filter.field} with a comma in its name`);
            else options.push(option(filter.field === "path" ? "--path" : "--schemes", names.join(",")));
        } else lacks.push(`the filter of ${filter.field}`);
    }
    const printableMetrics = state.metrics.filter((name) =>
        ["network", "flow", "link"].includes(runs.fields.get(name)?.group ?? ""),
    );
    const metricNames = printableMetrics.map((name) => name.slice(name.lastIndexOf("/") + 1));
    if (metricNames.length) options.push(option("--metrics", [...new Set(metricNames)].join(",")));
    if (state.convention !== "corrected") options.push(option("--convention", state.convention));
    const first = state.sort.find(
        ({ field }) => runs.fields.get(field)?.kind === "number" && runs.fields.get(field)?.group !== "run",
    );
    if (first) {
        const better = runs.fields.get(first.field)?.better;
        if ((better === "more") === first.descending) options.push(option("--sort", first.field));
        else lacks.push(`the order, which has the worst ${first.field} first`);
    }
    // Each of several directories has its own command.
    const rest = state.groupFields.filter((field) => field !== "directory" || runs.facts.directories.length === 1);
    const isPooled = directories.length > 1 && state.groupFields.length > 0 && !state.groupFields.includes("directory");
    const plain = rest.length === 0 || [...rest].sort().join() === "path,scheme";
    if (isPooled) lacks.push("means over several directories");
    if (!plain) lacks.push(`groups other than those of path and scheme`);
    if (state.pivot.length) lacks.push("a pivot");
    return {
        lines: directories.map(({ label }) => ["dumbbell show", directoryWord(label), ...options].join(" ")),
        lacks,
    };
}

function directoryWord(label: string): string {
    return shellWord(label.startsWith("-") ? `./${label}` : label);
}

function option(name: string, value: string): string {
    return value.startsWith("-") ? `${name}=${shellWord(value)}` : `${name} ${shellWord(value)}`;
}

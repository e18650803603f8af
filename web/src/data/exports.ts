/** What is shown, as files and as a command. */

import type { Filter, Runs } from "./runs";

export type Cell = string | number | null;

/** A table to hand out: every column a name, every row a cell for each. */
export interface Sheet {
    columns: string[];
    rows: Iterable<Cell[]>;
}

/** Comma-separated values after RFC 4180. Texts that a spreadsheet would compute begin with an apostrophe. */
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

/** The same rows as JSON, with what they were chosen by. */
export function jsonOf(sheet: Sheet, chosen: Record<string, unknown>): string {
    const rows = [];
    for (const row of sheet.rows)
        rows.push(Object.fromEntries(sheet.columns.map((name, place) => [name, plain(row[place]!)])));
    return `${JSON.stringify({ ...chosen, rows }, null, 1)}\n`;
}

function plain(cell: Cell): Cell {
    return typeof cell === "number" && !Number.isFinite(cell) ? null : cell;
}

/** A number in the fewest digits that mean the same: of one in single precision at most nine. */
export function shortest(value: number, single: boolean): number {
    if (!single || !Number.isFinite(value)) return value;
    for (let digits = 6; digits < 9; digits++) {
        const short = Number(value.toPrecision(digits));
        if (Math.fround(short) === value) return short;
    }
    return Number(value.toPrecision(9));
}

/** Hands a file to the browser's downloads. */
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

/** A word that every POSIX shell reads as this text. */
export function shellWord(text: string): string {
    return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The commands that print means of what is shown, and what of it no command can say. */
export interface Commands {
    lines: string[];
    lacks: string[];
}

export interface Shown {
    filters: readonly Filter[];
    /** Metrics that are shown beside, or instead of, the three of the convention. */
    metrics: readonly string[];
    convention: string;
    sort: readonly { field: string; descending: boolean }[];
    grouped: readonly string[];
    pivot: readonly string[];
}

export function commandsOf(runs: Runs, shown: Shown): Commands {
    const lacks: string[] = [];
    const options: string[] = [];
    let directories = runs.facts.directories;
    for (const filter of shown.filters) {
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
    const printed = shown.metrics.filter((name) =>
        ["network", "flow", "link"].includes(runs.fields.get(name)?.group ?? ""),
    );
    const asked = printed.map((name) => name.slice(name.lastIndexOf("/") + 1));
    if (asked.length) options.push(option("--metrics", [...new Set(asked)].join(",")));
    if (shown.convention !== "corrected") options.push(option("--convention", shown.convention));
    const first = shown.sort.find(
        ({ field }) => runs.fields.get(field)?.kind === "number" && runs.fields.get(field)?.group !== "run",
    );
    if (first) {
        const better = runs.fields.get(first.field)?.better;
        if ((better === "more") === first.descending) options.push(option("--sort", first.field));
        else lacks.push(`the order, which has the worst ${first.field} first`);
    }
    // several directories have a command each
    const rest = shown.grouped.filter((field) => field !== "directory" || runs.facts.directories.length === 1);
    const pooled = directories.length > 1 && shown.grouped.length > 0 && !shown.grouped.includes("directory");
    const plain = rest.length === 0 || [...rest].sort().join() === "path,scheme";
    if (pooled) lacks.push("means over several directories");
    if (!plain) lacks.push(`groups other than those of path and scheme`);
    if (shown.pivot.length) lacks.push("a pivot");
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

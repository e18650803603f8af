/** Every run in a table that filters, sorts, groups and pivots; the address has its state. */

import "./overview.css";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { type Cell, commandsOf, csvOf, download, jsonOf, type Sheet, shortest } from "../data/exports";
import {
    CONVENTIONS,
    estimateOf,
    type Group,
    groupRows,
    type Runs,
    readSort,
    type SortKey,
    sortGroups,
    sortRows,
} from "../data/runs";
import type { Field, RunsFacts } from "../data/source";
import { useQuery } from "../data/state";
import type { Estimate } from "../data/statistics";
import { ageText, boundsLegend, boundsText, capitalized, counted, numberOf } from "../data/words";
import { FieldOptions, FilterBar, fieldLabel, Menu, useChosen, useRuns } from "../ui/filters";
import { onGround } from "../ui/looks";
import { useNarrow } from "../ui/narrow";
import { useInks } from "../ui/theme";
import { Grid, type GridColumn } from "./grid";
import { type PivotCell, PivotTable, pivotCells } from "./pivot";

const NONE: string[] = [];

/** Metrics that are shown at first in a convention. */
export function mainMetrics(runs: Runs, convention: string): string[] {
    const usual = CONVENTIONS[convention] ?? NONE;
    const main = runs.facts.fields
        .filter((field) => field.main && field.kind === "number" && field.group !== "run" && field.group !== "axis")
        .filter((field) => !field.convention || field.convention === convention || usual.includes(field.name))
        .map((field) => field.name);
    const foreign = Object.entries(CONVENTIONS).flatMap(([name, names]) => (name === convention ? NONE : names));
    return [...new Set([...usual, ...main])].filter((name) => runs.fields.has(name) && !foreign.includes(name));
}

/** What names a run: what all runs have in common is left out. */
function mainTexts(runs: Runs): string[] {
    const several = runs.facts.directories.length > 1 ? ["directory"] : [];
    const axes = runs.facts.fields
        .filter((field) => field.group === "axis" && runs.varies(field.name))
        .map((field) => field.name);
    return [
        ...several,
        "path",
        "scheme",
        ...axes.filter((name) => name !== "path" && name !== "scheme"),
        "run",
        "status",
        "started_at",
    ];
}

export function OverviewPage({ facts }: { facts: RunsFacts }) {
    const runs = useRuns(facts);
    const [query, change] = useQuery();
    const convention = query.get("convention") ?? "corrected";
    const named = query.getAll("columns").filter((name) => runs.fields.has(name));
    const columns = named.length
        ? named
        : [...mainTexts(runs), ...mainMetrics(runs, convention)].filter((name) => runs.fields.has(name));
    const metrics = columns.filter((name) => isMetric(runs.fields.get(name)!));
    const groups = query.getAll("group").filter((name) => runs.fields.has(name));
    const pivot = query.getAll("pivot").filter((name) => runs.fields.has(name));
    const pivots = pivot.length === 3;
    const sort = readSort(query.getAll("sort"), runs.fields);
    const chosen = useChosen(runs, [...columns, ...groups, ...pivot, ...sort.map(({ field }) => field), "reason"]);
    const { rows, ready, age } = chosen;
    const sortKey = JSON.stringify(sort);
    const metricsKey = metrics.join("\n");
    const groupKey = groups.join("\n");
    const view = pivots ? "pivot" : groups.length ? "groups" : "runs";

    const sorted = useMemo(() => {
        if (view !== "runs") return rows;
        const start = performance.now();
        const found = sortRows(runs, rows, sort);
        performance.measure("dumbbell sort", { start });
        return found;
    }, [rows, sortKey, view, age]);
    const estimated = useMemo(() => {
        if (view !== "groups" || !groups.every((name) => runs.has(name))) return null;
        return groupsOf(
            runs,
            rows,
            groups,
            metrics.filter((name) => runs.has(name)),
        );
    }, [rows, groupKey, metricsKey, view, age]);
    const grouped = useMemo(() => estimated && inOrder(estimated, groups, sort), [estimated, sortKey]);
    const cells = useMemo(
        () =>
            view === "pivot" && pivot.every((name) => runs.has(name))
                ? pivotCells(runs, rows, pivot[0]!, pivot[1]!, pivot[2]!)
                : null,
        [rows, pivot.join("\n"), view, age],
    );

    // what sorting needs of the columns in sight is made ready when there is nothing else to do
    useEffect(() => {
        const names = columns.filter((name) => runs.has(name));
        let waiting = 0;
        const next = () => {
            const name = names.shift();
            // browsers compile a loop well when it has run once: the first sort is as fast as the others
            if (name) sortRows(runs, rows, [{ field: name, descending: false }]);
            if (names.length) waiting = setTimeout(next, 30) as unknown as number;
        };
        if (ready) waiting = setTimeout(next, 200) as unknown as number;
        return () => clearTimeout(waiting);
    }, [runs, columns.join("\n"), ready]);

    // runs of several directories are not pooled unless that is asked for
    const several = runs.facts.directories.length > 1 ? ["directory"] : [];
    const setView = (to: string) => {
        if (to === "runs") change({ group: null, pivot: null });
        else if (to === "groups") change({ group: [...several, "path", "scheme"], pivot: null });
        else
            change({ group: null, pivot: ["path", "scheme", metrics[0] ?? mainMetrics(runs, convention)[0] ?? "run"] });
    };
    const onSort = useCallback(
        (name: string, adds: boolean) => {
            const now = readSort(new URLSearchParams(location.hash.split("?")[1]).getAll("sort"), runs.fields);
            const known = now.find(({ field }) => field === name);
            const better = runs.fields.get(name)?.better;
            const next: SortKey = {
                field: name,
                descending: known ? !known.descending : better === "more" || name === "started_at",
            };
            const rest = now.filter(({ field }) => field !== name);
            const keys = adds
                ? known
                    ? now.map((key) => (key.field === name ? next : key))
                    : [...rest, next]
                : [next];
            change({ sort: keys.map(({ field, descending }) => (descending ? `-${field}` : field)) });
        },
        [runs],
    );
    const openCells = (fields: readonly string[], values: readonly string[]) => {
        const kept = chosen.entries.filter((entry) => !fields.some((field) => entry.startsWith(`${field}:`)));
        const own = fields.map((field, place) => `${field}:${values[place]}`);
        const search = chosen.search ? [`*:${chosen.search}`] : [];
        change({ group: null, pivot: null, filter: [...kept, ...own, ...search] });
    };

    return (
        <>
            <h1 class="hidden">Runs</h1>
            <FilterBar runs={runs} chosen={chosen} />
            <div class="row tools">
                <fieldset class="switch">
                    <legend class="hidden">What is listed</legend>
                    {["runs", "groups", "pivot"].map((name) => (
                        <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
                            {capitalized(name)}
                        </button>
                    ))}
                </fieldset>
                {view === "groups" && <GroupChoice runs={runs} groups={groups} change={(group) => change({ group })} />}
                {view === "pivot" && (
                    <PivotChoice runs={runs} pivot={pivot} change={(each) => change({ pivot: each })} />
                )}
                {view !== "pivot" && (
                    <ColumnChoice runs={runs} columns={columns} change={(each) => change({ columns: each })} />
                )}
                <label>
                    <span class="hidden">Convention of the metrics</span>
                    <select
                        value={convention}
                        onChange={(event) =>
                            change({
                                convention:
                                    event.currentTarget.value === "corrected" ? null : event.currentTarget.value,
                            })
                        }
                    >
                        <option value="corrected">Corrected</option>
                        <option value="pantheon">Pantheon’s convention</option>
                    </select>
                </label>
                <SortChoice
                    runs={runs}
                    columns={view === "groups" ? [...groups, ...metrics] : columns}
                    sort={sort}
                    change={change}
                    narrowOnly
                />
                <ExportMenu
                    name={`dumbbell-${view}`}
                    sheet={() =>
                        cells && pivots
                            ? pivotSheet(runs, pivot, cells)
                            : grouped
                              ? groupSheet(runs, groups, metrics, grouped)
                              : runSheet(runs, columns, sorted)
                    }
                    chosen={{ filter: query.getAll("filter"), sort: query.getAll("sort"), convention }}
                    commands={() =>
                        commandsOf(runs, {
                            filters: chosen.filters,
                            metrics: pivots
                                ? [pivot[2]!]
                                : metrics.join() === mainMetrics(runs, convention).join()
                                  ? []
                                  : metrics,
                            convention,
                            sort,
                            grouped: groups,
                            pivot: pivots ? pivot : [],
                        })
                    }
                />
                <span class="count quiet" role="status">
                    {!ready
                        ? "Reading…"
                        : rows.length === runs.rows
                          ? counted(runs.rows, "run")
                          : `${rows.length.toLocaleString("en-US").replaceAll(",", "\u202f")} of ${counted(runs.rows, "run")}`}
                    {grouped && `, ${counted(grouped.length, "group")}`}
                </span>
            </div>
            {!ready && rows.length === 0 ? (
                <p class="quiet">Reading the columns…</p>
            ) : cells && pivots ? (
                <PivotTable
                    runs={runs}
                    cells={cells}
                    down={runs.fields.get(pivot[0]!)!}
                    across={runs.fields.get(pivot[1]!)!}
                    metric={runs.fields.get(pivot[2]!)!}
                    open={(row, column) => openCells(pivot.slice(0, 2), [row, column])}
                />
            ) : grouped ? (
                <GroupsTable
                    runs={runs}
                    by={groups}
                    metrics={metrics}
                    groups={grouped}
                    sort={sort}
                    onSort={onSort}
                    open={(group) => openCells(groups, group.values)}
                />
            ) : (
                <RunsTable
                    runs={runs}
                    columns={columns.filter((name) => runs.has(name))}
                    rows={sorted}
                    sort={sort}
                    onSort={onSort}
                    version={JSON.stringify([chosen.entries, chosen.search, sortKey])}
                />
            )}
            <p class="quiet foot">
                {view === "runs" &&
                    "Enter or a click opens a run; a click on a head sorts, with Shift by one more column. "}
                {view !== "runs" && "Means are of runs that went well. "}
                {convention === "pantheon"
                    ? "Pantheon’s convention: the whole run, packets with the path’s overhead; packets under way at the end are lost."
                    : "Corrected: payload, delays and losses after the warm-up; packets under way at the end are not lost."}
            </p>
        </>
    );
}

function isMetric(field: Field): boolean {
    return field.kind === "number" && field.group !== "run" && field.group !== "axis";
}

function gridColumn(runs: Runs, name: string, wide = 0): GridColumn {
    const field = runs.fields.get(name)!;
    const letters = runs.has(name)
        ? Math.min(
              34,
              Math.max(
                  0,
                  ...(runs.column(name).names ?? [])
                      .slice(0, 5000)
                      .map((each) => (name === "directory" ? runs.directoryLabel(each) : each).length),
              ),
          )
        : 0;
    const title = name === "started_at" ? "Age" : capitalized(field.title);
    const other = field.convention && field.convention !== "corrected" ? ` (${field.convention})` : "";
    const number = field.kind === "number" && name !== "started_at";
    const text =
        name === "status" && runs.has("reason") && runs.column("reason").names?.some(Boolean)
            ? 26
            : name === "started_at"
              ? 14
              : letters + (name === "scheme" ? 3 : 0);
    return {
        name,
        title: `${title}${other}`,
        unit: name === "started_at" ? "" : (field.unit ?? ""),
        about: [fieldLabel(field), field.formula].filter(Boolean).join(": "),
        number,
        width: Math.round(
            Math.max(8.3 * Math.min(title.length + other.length, 20) + 40, number ? 84 : 7.6 * text + 24, wide),
        ),
    };
}

function Scheme({ runs, name, dark }: { runs: Runs; name: string; dark: boolean }) {
    const look = runs.facts.schemes[name];
    return (
        <>
            <span
                class="dot"
                aria-hidden="true"
                style={{ background: look ? onGround(look.color, dark) : "currentColor" }}
            />
            {name}
        </>
    );
}

function RunsTable(props: {
    runs: Runs;
    columns: readonly string[];
    rows: Uint32Array;
    sort: readonly SortKey[];
    onSort: (name: string, adds: boolean) => void;
    version: string;
}) {
    const { runs, columns, rows } = props;
    const { dark } = useInks();
    const now = Date.now() / 1000;
    const shown = useMemo(() => columns.map((name) => gridColumn(runs, name)), [columns.join("\n"), runs]);
    const numbers = useMemo(() => columns.map((name) => numberOf(runs.fields.get(name)!)), [columns.join("\n"), runs]);
    const cell = (place: number, column: number): ComponentChildren => {
        const row = rows[place]!;
        const name = columns[column]!;
        if (name === "status") {
            const status = runs.text("status", row);
            const reason = runs.has("reason") ? runs.text("reason", row) : "";
            return (
                <span title={reason || undefined}>{reason && status !== "done" ? `${status}: ${reason}` : status}</span>
            );
        }
        if (runs.fields.get(name)!.kind === "text") {
            const text = runs.text(name, row);
            if (name === "scheme")
                return (
                    <a href={runAddress(runs, row)} tabIndex={-1} title={text}>
                        <Scheme runs={runs} name={text} dark={dark} />
                    </a>
                );
            const label = name === "directory" ? runs.directoryLabel(text) : text;
            return <span title={label}>{label}</span>;
        }
        const value = runs.numbers(name)[row]!;
        if (name === "started_at")
            return (
                <span title={Number.isNaN(value) ? undefined : new Date(value * 1000).toISOString()}>
                    {ageText(value, now)}
                </span>
            );
        return numbers[column]!(value);
    };
    const status = columns.indexOf("status");
    return (
        <Grid
            label="Runs"
            columns={shown}
            count={rows.length}
            version={props.version}
            cell={cell}
            look={(place, column) =>
                column === status && !["done", "degraded"].includes(runs.text("status", rows[place]!)) ? "bad" : ""
            }
            open={(place) => {
                location.hash = runAddress(runs, rows[place]!);
            }}
            sort={props.sort}
            onSort={props.onSort}
            heads={headsOf(columns)}
            empty="No run passes these filters."
        />
    );
}

function runAddress(runs: Runs, row: number): string {
    return `#/run/${encodeURIComponent(runs.id(row))}`;
}

/** The columns up to the scheme stand in the first line of a card. */
function headsOf(columns: readonly string[]): number {
    return Math.max(1, columns.indexOf("scheme") + 1);
}

interface Counted extends Group {
    estimates: Map<string, Estimate | null>;
}

function groupsOf(runs: Runs, rows: Uint32Array, by: readonly string[], metrics: readonly string[]): Counted[] {
    const start = performance.now();
    const found = groupRows(runs, rows, by).map((group) => ({
        ...group,
        estimates: new Map(metrics.map((name) => [name, estimateOf(runs, group.rows, name)])),
    }));
    performance.measure("dumbbell group", { start });
    return found;
}

function inOrder(groups: readonly Counted[], by: readonly string[], sort: readonly SortKey[]): Counted[] {
    const mean = (group: Counted, metric: string) =>
        group.estimates.get(metric)?.mean ?? (metric === "run" ? group.rows.length : null);
    return sortGroups(groups, by, mean, sort);
}

function GroupsTable(props: {
    runs: Runs;
    by: readonly string[];
    metrics: readonly string[];
    groups: readonly Counted[];
    sort: readonly SortKey[];
    onSort: (name: string, adds: boolean) => void;
    open: (group: Counted) => void;
}) {
    const { runs, by, groups } = props;
    const { dark } = useInks();
    const narrow = useNarrow();
    const metrics = props.metrics.filter((name) => runs.has(name));
    const runColumn: GridColumn = { name: "run", title: "Runs", number: true, width: 118 };
    const columns = [
        ...by.map((name) => gridColumn(runs, name)),
        runColumn,
        ...metrics.map((name) => gridColumn(runs, name, 216)),
    ];
    const numbers = metrics.map((name) => numberOf(runs.fields.get(name)!));
    const cell = (place: number, column: number): ComponentChildren => {
        const group = groups[place]!;
        if (column < by.length) {
            const value = group.values[column]!;
            if (by[column] === "scheme") return <Scheme runs={runs} name={value} dark={dark} />;
            const label = by[column] === "directory" ? runs.directoryLabel(value) : value || "none";
            return <span title={label}>{label}</span>;
        }
        if (column === by.length)
            return group.good === group.rows.length ? group.good : `${group.good} of ${group.rows.length}`;
        const found = group.estimates.get(metrics[column - by.length - 1]!);
        const number = numbers[column - by.length - 1]!;
        if (!found) return "-";
        return (
            <>
                {number(found.mean)} <span class="quiet">{boundsText(found, number)}</span>
            </>
        );
    };
    const all = groups.slice(0, 2000).flatMap((group) => [...group.estimates.values()]);
    return (
        <>
            <Grid
                label="Groups of runs"
                columns={columns}
                count={groups.length}
                version={JSON.stringify([by, props.sort])}
                cell={cell}
                open={(place) => props.open(groups[place]!)}
                sort={props.sort}
                onSort={props.onSort}
                heads={narrow ? by.length : headsOf(by)}
                empty="No run passes these filters."
            />
            <p class="quiet foot">{boundsLegend(all)} Enter or a click shows the runs of a group.</p>
        </>
    );
}

function GroupChoice({
    runs,
    groups,
    change,
}: {
    runs: Runs;
    groups: readonly string[];
    change: (groups: string[]) => void;
}) {
    const fields = runs.facts.fields.filter(
        (field) => field.kind === "text" || field.group === "axis" || ["run", "seed"].includes(field.name),
    );
    return (
        <Menu title={`By ${groups.map((name) => runs.fields.get(name)?.title ?? name).join(", ")}`}>
            {() => (
                <fieldset class="values">
                    <legend>Runs with the same</legend>
                    {fields.map((field) => (
                        <label key={field.name} class="check">
                            <input
                                type="checkbox"
                                checked={groups.includes(field.name)}
                                disabled={groups.length === 1 && groups[0] === field.name}
                                onChange={(event) =>
                                    change(
                                        event.currentTarget.checked
                                            ? [...groups, field.name]
                                            : groups.filter((each) => each !== field.name),
                                    )
                                }
                            />
                            <span class="check-text">{capitalized(field.title)}</span>
                        </label>
                    ))}
                </fieldset>
            )}
        </Menu>
    );
}

function PivotChoice({
    runs,
    pivot,
    change,
}: {
    runs: Runs;
    pivot: readonly string[];
    change: (pivot: string[]) => void;
}) {
    const texts = runs.facts.fields.filter(
        (field) => (field.kind === "text" && field.name !== "reason") || field.group === "axis",
    );
    const metrics = runs.facts.fields.filter(isMetric);
    const choice = (place: number, title: string, fields: readonly Field[]) => (
        <label>
            {title}{" "}
            <select
                value={pivot[place]}
                onChange={(event) =>
                    change(pivot.map((each, index) => (index === place ? event.currentTarget.value : each)))
                }
            >
                <FieldOptions fields={fields} />
            </select>
        </label>
    );
    return (
        <>
            {choice(0, "Down", texts)}
            {choice(1, "Across", texts)}
            {choice(2, "Metric", metrics)}
        </>
    );
}

function ColumnChoice({
    runs,
    columns,
    change,
}: {
    runs: Runs;
    columns: readonly string[];
    change: (columns: string[] | null) => void;
}) {
    const [part, setPart] = useState("");
    return (
        <Menu title="Columns" wide>
            {() => {
                const found = runs.facts.fields.filter((field) =>
                    `${field.name} ${fieldLabel(field)} ${field.group}`.toLowerCase().includes(part.toLowerCase()),
                );
                return (
                    <>
                        <div class="row">
                            <input
                                type="search"
                                aria-label="Search in columns"
                                placeholder={`Search ${runs.facts.fields.length} columns`}
                                value={part}
                                onInput={(event) => setPart(event.currentTarget.value)}
                            />
                            <button type="button" onClick={() => change(null)}>
                                Those at first
                            </button>
                        </div>
                        <fieldset class="values">
                            <legend class="hidden">Columns that are shown</legend>
                            {found.map((field) => (
                                <label key={field.name} class="check" title={field.formula}>
                                    <input
                                        type="checkbox"
                                        checked={columns.includes(field.name)}
                                        onChange={(event) =>
                                            change(
                                                event.currentTarget.checked
                                                    ? [...columns, field.name]
                                                    : columns.filter((each) => each !== field.name),
                                            )
                                        }
                                    />
                                    <span class="check-text">
                                        {fieldLabel(field)} <span class="quiet">{field.name}</span>
                                    </span>
                                </label>
                            ))}
                        </fieldset>
                    </>
                );
            }}
        </Menu>
    );
}

/** Heads are not in sight where rows are cards: the order is chosen here. */
function SortChoice(props: {
    runs: Runs;
    columns: readonly string[];
    sort: readonly SortKey[];
    change: (changes: Record<string, string[] | null>) => void;
    narrowOnly: boolean;
}) {
    const narrow = useNarrow();
    if (props.narrowOnly && !narrow) return null;
    const [first] = props.sort;
    return (
        <label>
            Order{" "}
            <select
                value={first ? `${first.descending ? "-" : ""}${first.field}` : ""}
                onChange={(event) =>
                    props.change({ sort: event.currentTarget.value ? [event.currentTarget.value] : null })
                }
            >
                <option value="">As it came</option>
                {props.columns.flatMap((name) => {
                    const title = capitalized(props.runs.fields.get(name)?.title ?? name);
                    return [
                        <option key={name} value={name}>
                            {title} ↑
                        </option>,
                        <option key={`-${name}`} value={`-${name}`}>
                            {title} ↓
                        </option>,
                    ];
                })}
            </select>
        </label>
    );
}

function runSheet(runs: Runs, columns: readonly string[], rows: Uint32Array): Sheet {
    const there = columns.filter((name) => runs.has(name));
    const status = there.includes("status");
    const names = status && !there.includes("reason") ? [...there, "reason"] : there;
    function* lines(): Generator<Cell[]> {
        for (const row of rows)
            yield names.map((name) => {
                if (runs.fields.get(name)!.kind === "text")
                    return name === "directory" ? runs.directoryLabel(runs.text(name, row)) : runs.text(name, row);
                const values = runs.numbers(name);
                return shortest(values[row]!, values instanceof Float32Array);
            });
    }
    return { columns: names, rows: lines() };
}

/** The columns of `dumbbell show --csv`. */
function groupSheet(runs: Runs, by: readonly string[], metrics: readonly string[], groups: readonly Counted[]): Sheet {
    const there = metrics.filter((name) => runs.has(name));
    function* lines(): Generator<Cell[]> {
        for (const group of groups) {
            const names = group.values.map((value, place) =>
                by[place] === "directory" ? runs.directoryLabel(value) : value,
            );
            yield [
                ...names,
                group.rows.length,
                group.good,
                ...there.flatMap((name) => estimateCells(group.estimates.get(name) ?? null)),
            ];
        }
    }
    return {
        columns: [
            ...by,
            "runs",
            "good",
            ...there.flatMap((name) => [name, `${name}_low`, `${name}_high`, `${name}_bounds`]),
        ],
        rows: lines(),
    };
}

function estimateCells(found: Estimate | null): Cell[] {
    return found ? [found.mean, found.low, found.high, found.bounds] : [null, null, null, null];
}

function pivotSheet(runs: Runs, pivot: readonly string[], cells: readonly PivotCell[]): Sheet {
    const [down = "", across = "", metric = ""] = pivot;
    const label = (field: string, value: string) => (field === "directory" ? runs.directoryLabel(value) : value);
    return {
        columns: [down, across, "runs", metric, `${metric}_low`, `${metric}_high`, `${metric}_bounds`],
        rows: cells.map((cell) => [
            label(down, cell.row),
            label(across, cell.column),
            cell.runs,
            ...estimateCells(cell.found),
        ]),
    };
}

function ExportMenu(props: {
    name: string;
    sheet: () => Sheet;
    chosen: Record<string, unknown>;
    commands: () => { lines: string[]; lacks: string[] };
}) {
    const [copied, setCopied] = useState("");
    const copy = (text: string) =>
        navigator.clipboard?.writeText(text).then(
            () => setCopied("Copied."),
            () => setCopied("This browser does not let pages copy: select the text."),
        ) ?? setCopied("This browser does not let pages copy: select the text.");
    return (
        <Menu title="Export" wide>
            {() => {
                const { lines, lacks } = props.commands();
                return (
                    <>
                        <div class="row">
                            <button
                                type="button"
                                onClick={() =>
                                    download(`${props.name}.csv`, "text/csv;charset=utf-8", csvOf(props.sheet()))
                                }
                            >
                                CSV
                            </button>
                            <button
                                type="button"
                                onClick={() =>
                                    download(
                                        `${props.name}.json`,
                                        "application/json",
                                        jsonOf(props.sheet(), props.chosen),
                                    )
                                }
                            >
                                JSON
                            </button>
                            <span class="quiet">what is shown, in the units of the metrics</span>
                        </div>
                        {lines.length > 0 ? (
                            <>
                                <p>In a terminal, means over the runs of each path and scheme:</p>
                                <pre class="command">{lines.join("\n")}</pre>
                                <div class="row">
                                    <button type="button" onClick={() => copy(lines.join("\n"))}>
                                        Copy
                                    </button>
                                    <span role="status">{copied}</span>
                                </div>
                            </>
                        ) : (
                            <p>No directory passes these filters.</p>
                        )}
                        {lacks.length > 0 && <p class="quiet">No option of the command says: {lacks.join("; ")}.</p>}
                    </>
                );
            }}
        </Menu>
    );
}

/**
 * First page: the answer, then the runs in a table that filters, sorts, groups and pivots. The address holds the state.
 */

import "./overview.css";
import { useCallback, useEffect, useMemo } from "preact/hooks";
import { FirstAnswers, firstColumns } from "../answers/first";
import { commandsOf } from "../data/exports";
import { type Runs, readSort, type SortKey, sortRows } from "../data/runs";
import type { RunsFacts } from "../data/source";
import { useQuery } from "../data/state";
import { countText } from "../data/words";
import { CONVENTION, ConventionChoice, FilterBar, useChosen, useRuns } from "../ui/filters";
import { ColumnChoice, GroupChoice, PivotChoice, SortChoice } from "./choices";
import { Machines } from "./machines";
import { PivotTable, pivotCells } from "./pivot";
import { ExportMenu, groupSheet, pivotSheet, runSheet } from "./sheets";
import { GroupsTable, groupsOf, inOrder, isMetric, RunsTable } from "./tables";

const VIEWS = { groups: "Means", runs: "Runs", pivot: "Pivot" };

const NONE: string[] = [];

/** Returns the default metrics of a convention. */
export function mainMetrics(runs: Runs, convention: string): string[] {
    const { conventions } = runs.facts;
    const usual = conventions[convention]?.metrics ?? NONE;
    const main = runs.facts.fields
        .filter((field) => field.main && field.kind === "number" && field.group !== "run" && field.group !== "axis")
        .filter((field) => !field.convention || field.convention === convention || usual.includes(field.name))
        .map((field) => field.name);
    const foreign = Object.entries(conventions).flatMap(([name, { metrics }]) =>
        name === convention ? NONE : metrics,
    );
    return [...new Set([...usual, ...main])].filter((name) => runs.fields.has(name) && !foreign.includes(name));
}

/** Returns the fields that identify a run, without those that are equal for all runs. */
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
    const convention = query.get("convention") ?? CONVENTION;
    const namedColumns = query.getAll("columns").filter((name) => runs.fields.has(name));
    const columns = namedColumns.length
        ? namedColumns
        : [...mainTexts(runs), ...mainMetrics(runs, convention)].filter((name) => runs.fields.has(name));
    const metrics = columns.filter((name) => isMetric(runs.fields.get(name)!));
    const pivot = query.getAll("pivot").filter((name) => runs.fields.has(name));
    const pivots = pivot.length === 3;
    const view = pivots ? "pivot" : query.get("list") === "runs" ? "runs" : "groups";
    // Runs of several directories are pooled only on request.
    const several = facts.directories.length > 1 ? ["directory"] : [];
    const grouping = query.getAll("group").filter((name) => runs.fields.has(name));
    const groups = view !== "groups" ? NONE : grouping.length ? grouping : [...several, "path", "scheme"];
    const sort = readSort(query.getAll("sort"), runs.fields);
    const selection = useChosen(runs, [
        ...columns,
        ...groups,
        ...pivot,
        ...sort.map(({ field }) => field),
        "reason",
        ...firstColumns(runs, convention),
    ]);
    const { rows, ready, age } = selection;
    const sortKey = JSON.stringify(sort);
    const metricsKey = metrics.join("\n");
    const groupKey = groups.join("\n");

    const sortedRows = useMemo(() => {
        if (view !== "runs") return rows;
        const start = performance.now();
        const rowsInOrder = sortRows(runs, rows, sort);
        performance.measure("dumbbell sort", { start });
        return rowsInOrder;
    }, [rows, sortKey, view, age]);
    const groupsWithMeans = useMemo(() => {
        if (view !== "groups" || !groups.every((name) => runs.has(name))) return null;
        return groupsOf(
            runs,
            rows,
            groups,
            metrics.filter((name) => runs.has(name)),
        );
    }, [rows, groupKey, metricsKey, view, age]);
    const sortedGroups = useMemo(
        () => groupsWithMeans && inOrder(runs, groupsWithMeans, groups, sort),
        [groupsWithMeans, sortKey],
    );
    const cells = useMemo(
        () =>
            view === "pivot" && pivot.every((name) => runs.has(name))
                ? pivotCells(runs, rows, pivot[0]!, pivot[1]!, pivot[2]!)
                : null,
        [rows, pivot.join("\n"), view, age],
    );

    // Sort keys of visible columns are prepared while the browser is idle.
    useEffect(() => {
        const names = columns.filter((name) => runs.has(name));
        let waiting = 0;
        const next = () => {
            const name = names.shift();
            // Browsers compile a loop well once it has run. This makes the reader's first sort fast.
            if (name) sortRows(runs, rows, [{ field: name, descending: false }]);
            if (names.length) waiting = setTimeout(next, 30) as unknown as number;
        };
        if (ready) waiting = setTimeout(next, 200) as unknown as number;
        return () => clearTimeout(waiting);
    }, [runs, columns.join("\n"), ready]);

    const setView = (to: string) => {
        if (to === "runs") change({ list: "runs", group: null, pivot: null });
        else if (to === "groups") change({ list: null, group: null, pivot: null });
        else
            change({
                list: null,
                group: null,
                pivot: ["path", "scheme", metrics[0] ?? mainMetrics(runs, convention)[0] ?? "run"],
            });
    };
    const onSort = useCallback(
        (name: string, adds: boolean) => {
            const now = readSort(new URLSearchParams(location.hash.split("?")[1]).getAll("sort"), runs.fields);
            const current = now.find(({ field }) => field === name);
            const better = runs.fields.get(name)?.better;
            const next: SortKey = {
                field: name,
                descending: current ? !current.descending : better === "more" || name === "started_at",
            };
            const rest = now.filter(({ field }) => field !== name);
            const keys = adds
                ? current
                    ? now.map((key) => (key.field === name ? next : key))
                    : [...rest, next]
                : [next];
            change({ sort: keys.map(({ field, descending }) => (descending ? `-${field}` : field)) });
        },
        [runs],
    );
    const openCells = (fields: readonly string[], values: readonly string[]) => {
        const otherEntries = selection.entries.filter(
            (entry) => !fields.some((field) => entry.startsWith(`${field}:`)),
        );
        const groupEntries = fields.map((field, place) => `${field}:${values[place]}`);
        const search = selection.search ? [`*:${selection.search}`] : [];
        change({ list: "runs", group: null, pivot: null, filter: [...otherEntries, ...groupEntries, ...search] });
    };

    return (
        <>
            <h1 class="hidden">Results</h1>
            <FilterBar runs={runs} chosen={selection} />
            <FirstAnswers runs={runs} chosen={selection} convention={convention} />
            <h2>Runs</h2>
            <div class="row tools">
                <fieldset class="switch">
                    <legend class="hidden">What is listed</legend>
                    {Object.entries(VIEWS).map(([name, title]) => (
                        <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
                            {title}
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
                <ConventionChoice facts={facts} value={convention} change={(name) => change({ convention: name })} />
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
                            : sortedGroups
                              ? groupSheet(runs, groups, metrics, sortedGroups)
                              : runSheet(runs, columns, sortedRows)
                    }
                    selection={{ filter: query.getAll("filter"), sort: query.getAll("sort"), convention }}
                    commands={() =>
                        commandsOf(runs, {
                            filters: selection.filters,
                            metrics: pivots
                                ? [pivot[2]!]
                                : metrics.join() === mainMetrics(runs, convention).join()
                                  ? []
                                  : metrics,
                            convention,
                            sort,
                            groupFields: groups,
                            pivot: pivots ? pivot : [],
                        })
                    }
                />
                <span class="count quiet" role="status">
                    {!ready
                        ? "Reading…"
                        : rows.length === runs.rows
                          ? countText(runs.rows, "run")
                          : `${rows.length.toLocaleString("en-US").replaceAll(",", "\u202f")} of ${countText(runs.rows, "run")}`}
                    {sortedGroups && `, ${countText(sortedGroups.length, "group")}`}
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
            ) : sortedGroups ? (
                <GroupsTable
                    runs={runs}
                    by={groups}
                    metrics={metrics}
                    groups={sortedGroups}
                    sort={sort}
                    onSort={onSort}
                />
            ) : (
                <RunsTable
                    runs={runs}
                    columns={columns.filter((name) => runs.has(name))}
                    rows={sortedRows}
                    sort={sort}
                    onSort={onSort}
                    version={JSON.stringify([selection.entries, selection.search, sortKey])}
                />
            )}
            <p class="quiet foot">
                {view === "runs" &&
                    "Enter or a click opens a run; a click on a head sorts, with Shift by one more column. "}
                {view !== "runs" && "Means are of runs that went well. "}
                {facts.conventions[convention]?.rules}
            </p>
            <Machines facts={facts} />
        </>
    );
}

/** Tables of runs: means of groups that unfold into their runs, or a row per run. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { schemeOrder } from "../answers/facets";
import { estimateOf, type Group, groupRows, type Runs, type SortKey, sortGroups, sortRows } from "../data/runs";
import type { Field } from "../data/source";
import type { Estimate } from "../data/statistics";
import { ageText, boundsLegend, boundsText, capitalize, numberOf } from "../data/words";
import { CONVENTION, fieldLabel } from "../ui/filters";
import { onGround } from "../ui/looks";
import { useNarrow } from "../ui/narrow";
import { useInks } from "../ui/theme";
import { Grid, type GridColumn } from "./grid";

/** Number of letters that fit into one line of a column of text. */
const LETTERS = 44;
/** Maximum widths of text columns, as fractions of the window: `all` columns together, and `one` column. */
const PART = { all: 0.48, one: 0.36 };
const STACKED_PART = { all: 0.3, one: 0.2 };
/** Width of the window below which the interval of a mean has its own line, px. */
const STACKED_PX = 1000;
/** Widths of the columns of means, px. */
const MEAN = 216;
const STACKED_MEAN = 118;
/** Average width of a letter, px (fonts differ). */
const LETTER = 8.2;
const DOT = 17;
const FOLD = 16;

/** Returns the column of the grid. `rowOf` returns the run of a row, for columns of text that break lines. */
function gridColumn(
    runs: Runs,
    name: string,
    wide = 0,
    rowOf?: (place: number) => number | null,
    widest = PART.one * innerWidth,
): GridColumn {
    const field = runs.fields.get(name)!;
    const label = (text: string) => (name === "directory" ? runs.directoryLabel(text) : text);
    const labels = (runs.has(name) ? (runs.column(name).names ?? []) : []).map(label);
    const letters = Math.min(
        LETTERS,
        labels.slice(0, 5000).reduce((most, text) => Math.max(most, text.length), 0),
    );
    const title = name === "started_at" ? "Age" : capitalize(field.title);
    const other = field.convention && field.convention !== CONVENTION ? ` (${field.convention})` : "";
    const number = field.kind === "number" && name !== "started_at";
    const [dot, isStatus] = [name === "scheme" ? DOT : 0, name === "status"];
    const text = isStatus
        ? runs.has("reason") && runs.column("reason").names?.some(Boolean)
            ? 26
            : letters
        : name === "started_at"
          ? 14
          : letters;
    const texts = Math.min(LETTER * text + 26 + dot, widest);
    return {
        name,
        title: `${title}${other}`,
        unit: name === "started_at" ? "" : (field.unit ?? ""),
        about: [fieldLabel(field), field.formula].filter(Boolean).join(": "),
        number,
        width: Math.round(Math.max(8.3 * Math.min(title.length + other.length, 20) + 40, number ? 84 : texts, wide)),
        ...(rowOf && field.kind === "text" && !isStatus
            ? {
                  texts: {
                      all: labels,
                      textOf: (place: number) => {
                          const row = rowOf(place);
                          return row === null ? "" : label(runs.text(name, row));
                      },
                      indent: dot,
                  },
              }
            : {}),
    };
}

function Scheme({
    runs,
    name,
    dark,
    children,
}: {
    runs: Runs;
    name: string;
    dark: boolean;
    children: ComponentChildren;
}) {
    const look = runs.facts.schemes[name];
    return (
        <span class="marked">
            <span
                class="dot"
                aria-hidden="true"
                style={{ background: look ? onGround(look.color, dark) : "currentColor" }}
            />
            <span>{children}</span>
        </span>
    );
}

export function RunsTable(props: {
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
    const visibleColumns = useMemo(
        () => columns.map((name) => gridColumn(runs, name, 0, (place) => rows[place]!)),
        [columns.join("\n"), runs, rows],
    );
    const numbers = useMemo(() => columns.map((name) => numberOf(runs.fields.get(name)!)), [columns.join("\n"), runs]);
    const cell = (place: number, column: number, lines: (text: string) => ComponentChildren): ComponentChildren => {
        const row = rows[place]!;
        const name = columns[column]!;
        if (name === "status") {
            const reason = reasonOf(runs, row);
            return <span title={reason || undefined}>{statusText(runs, row)}</span>;
        }
        if (runs.fields.get(name)!.kind === "text") {
            const text = runs.text(name, row);
            if (name === "scheme")
                return (
                    <a href={runAddress(runs, row)} tabIndex={-1}>
                        <Scheme runs={runs} name={text} dark={dark}>
                            {lines(text)}
                        </Scheme>
                    </a>
                );
            return lines(name === "directory" ? runs.directoryLabel(text) : text);
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
            columns={visibleColumns}
            count={rows.length}
            version={props.version}
            cell={cell}
            look={(place, column) => (column === status && isBad(runs, rows[place]!) ? "bad" : "")}
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

function reasonOf(runs: Runs, row: number): string {
    return runs.has("reason") ? runs.text("reason", row) : "";
}

function statusText(runs: Runs, row: number): string {
    const [status, reason] = [runs.text("status", row), reasonOf(runs, row)];
    return reason && status !== "done" ? `${status}: ${reason}` : status;
}

function isBad(runs: Runs, row: number): boolean {
    return !["done", "degraded"].includes(runs.text("status", row));
}

/** Returns the number of columns in the head of a card, which ends with the scheme. */
function headsOf(columns: readonly string[]): number {
    return Math.max(1, columns.indexOf("scheme") + 1);
}

export interface GroupWithMeans extends Group {
    estimates: Map<string, Estimate | null>;
}

export function groupsOf(
    runs: Runs,
    rows: Uint32Array,
    by: readonly string[],
    metrics: readonly string[],
): GroupWithMeans[] {
    const start = performance.now();
    const groupList = groupRows(runs, rows, by).map((group) => ({
        ...group,
        estimates: new Map(metrics.map((name) => [name, estimateOf(runs, group.rows, name)])),
    }));
    performance.measure("dumbbell group", { start });
    return groupList;
}

/**
 * Returns groups by the sort keys. Without keys, schemes are in the experiment's order within the fields that precede
 * them.
 */
export function inOrder(
    runs: Runs,
    groups: readonly GroupWithMeans[],
    by: readonly string[],
    sort: readonly SortKey[],
): GroupWithMeans[] {
    const mean = (group: GroupWithMeans, metric: string) =>
        group.estimates.get(metric)?.mean ?? (metric === "run" ? group.rows.length : null);
    if (sort.length) return sortGroups(groups, by, mean, sort);
    const scheme = by.indexOf("scheme");
    if (scheme < 0) return [...groups];
    const order = schemeOrder(runs);
    const places = new Map<string, number>();
    const groupKeys = groups.map((group) => {
        const before = JSON.stringify(group.values.slice(0, scheme));
        if (!places.has(before)) places.set(before, places.size);
        return { group, place: places.get(before)!, key: order(group.values[scheme]!) };
    });
    groupKeys.sort((one, other) => one.place - other.place || (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
    return groupKeys.map(({ group }) => group);
}

/** Row of the table: a group, or a run of an unfolded group. */
interface Line {
    group: GroupWithMeans;
    row: number | null;
}

export function GroupsTable(props: {
    runs: Runs;
    by: readonly string[];
    metrics: readonly string[];
    groups: readonly GroupWithMeans[];
    sort: readonly SortKey[];
    onSort: (name: string, adds: boolean) => void;
}) {
    const { runs, by, groups, sort } = props;
    const { dark } = useInks();
    const narrow = useNarrow();
    const isStacked = useNarrow(STACKED_PX) && !narrow;
    const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
    const rows = useMemo(
        () =>
            groups.flatMap((group): Line[] => [
                { group, row: null },
                ...(unfolded.has(keyOf(group)) ? runsOf(runs, group, sort) : []),
            ]),
        [groups, unfolded],
    );
    const metrics = props.metrics.filter((name) => runs.has(name));
    const isMean = (place: number) => rows[place]!.row === null;
    const first = (place: number) => (isMean(place) ? rows[place]!.group.rows[0]! : null);
    const part = innerWidth > STACKED_PX ? PART : STACKED_PART;
    const widest = Math.min(part.one, part.all / by.length) * innerWidth;
    const columns = [
        ...by.map((name, index) => {
            const column = gridColumn(runs, name, 0, first, widest);
            if (index > 0 || !column.texts) return column;
            const { width, texts } = column;
            return { ...column, width: width + FOLD, texts: { ...texts, indent: texts.indent + FOLD } };
        }),
        { name: "run", title: "Runs", number: true, width: isStacked ? 62 : 96 },
        ...metrics.map((name) => {
            const column = gridColumn(runs, name, MEAN);
            return isStacked ? { ...column, width: STACKED_MEAN } : column;
        }),
    ];
    const numbers = metrics.map((name) => numberOf(runs.fields.get(name)!));
    const ofRun = (row: number, column: number): ComponentChildren => {
        if (column === 0)
            return (
                <a class="unfolded" href={runAddress(runs, row)} tabIndex={-1} title={reasonOf(runs, row) || undefined}>
                    run {runs.numbers("run")[row]}
                    {isBad(runs, row) && <span class="bad">, {statusText(runs, row)}</span>}
                </a>
            );
        const metric = metrics[column - by.length - 1];
        return metric === undefined ? "" : numbers[column - by.length - 1]!(runs.numbers(metric)[row]!);
    };
    const cell = (place: number, column: number, lines: (text: string) => ComponentChildren): ComponentChildren => {
        const { group, row } = rows[place]!;
        if (row !== null) return ofRun(row, column);
        if (column < by.length) {
            const value = group.values[column]!;
            const label = by[column] === "directory" ? runs.directoryLabel(value) : value;
            const text = label ? lines(label) : "none";
            const hasName =
                by[column] === "scheme" ? (
                    <Scheme runs={runs} name={value} dark={dark}>
                        {text}
                    </Scheme>
                ) : (
                    text
                );
            if (column > 0) return hasName;
            return (
                <span class="marked">
                    <span class="fold" aria-hidden="true">
                        {unfolded.has(keyOf(group)) ? "▾" : "▸"}
                    </span>
                    <span>{hasName}</span>
                </span>
            );
        }
        if (column === by.length)
            return group.good === group.rows.length ? group.good : `${group.good} of ${group.rows.length}`;
        const estimate = group.estimates.get(metrics[column - by.length - 1]!);
        const number = numbers[column - by.length - 1]!;
        if (!estimate) return "-";
        const bounds = boundsText(estimate, number);
        return (
            <>
                {number(estimate.mean)}{" "}
                {isStacked ? <small class="quiet">{bounds}</small> : <span class="quiet">{bounds}</span>}
            </>
        );
    };
    const estimates = groups.slice(0, 2000).flatMap((group) => [...group.estimates.values()]);
    return (
        <>
            <Grid
                label="Means of runs"
                columns={columns}
                count={rows.length}
                version={JSON.stringify([by, sort])}
                cell={cell}
                look={(place, column) =>
                    isMean(place) && column === by.length && rows[place]!.group.good < rows[place]!.group.rows.length
                        ? "bad"
                        : ""
                }
                open={(place) => {
                    const { group, row } = rows[place]!;
                    if (row !== null) location.hash = runAddress(runs, row);
                    else setUnfolded(toggle(unfolded, keyOf(group)));
                }}
                unfolded={(place) => (isMean(place) ? unfolded.has(keyOf(rows[place]!.group)) : null)}
                {...(isStacked ? { high: (place) => (isMean(place) ? 2 : 1) } : {})}
                sort={sort}
                onSort={props.onSort}
                heads={narrow ? by.length : headsOf(by)}
                empty="No run passes these filters."
            />
            <p class="quiet foot">
                {boundsLegend(estimates)} Enter or a click unfolds the runs of a row, and opens a run.
            </p>
        </>
    );
}

function keyOf(group: Group): string {
    return JSON.stringify(group.values);
}

function runsOf(runs: Runs, group: GroupWithMeans, sort: readonly SortKey[]): Line[] {
    const rows = sortRows(runs, Uint32Array.from(group.rows), [...sort, { field: "run", descending: false }]);
    return [...rows].map((row) => ({ group, row }));
}

function toggle(openKeys: ReadonlySet<string>, key: string): Set<string> {
    const next = new Set(openKeys);
    if (!next.delete(key)) next.add(key);
    return next;
}

export function isMetric(field: Field): boolean {
    return field.kind === "number" && field.group !== "run" && field.group !== "axis";
}

/** Export of the shown table as files, and as a command that prints it. */

import { useState } from "preact/hooks";
import { type Cell, csvOf, download, jsonOf, type Sheet, shortest } from "../data/exports";
import type { Runs } from "../data/runs";
import type { Estimate } from "../data/statistics";
import { Menu } from "../ui/filters";
import type { PivotCell } from "./pivot";
import type { GroupWithMeans } from "./tables";

export function runSheet(runs: Runs, columns: readonly string[], rows: Uint32Array): Sheet {
    const columnNames = columns.filter((name) => runs.has(name));
    const status = columnNames.includes("status");
    const names = status && !columnNames.includes("reason") ? [...columnNames, "reason"] : columnNames;
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

/** Returns the table of groups with the columns of `dumbbell show --csv`. */
export function groupSheet(
    runs: Runs,
    by: readonly string[],
    metrics: readonly string[],
    groups: readonly GroupWithMeans[],
): Sheet {
    const metricNames = metrics.filter((name) => runs.has(name));
    function* lines(): Generator<Cell[]> {
        for (const group of groups) {
            const names = group.values.map((value, place) =>
                by[place] === "directory" ? runs.directoryLabel(value) : value,
            );
            yield [
                ...names,
                group.rows.length,
                group.good,
                ...metricNames.flatMap((name) => estimateCells(group.estimates.get(name) ?? null)),
            ];
        }
    }
    return {
        columns: [
            ...by,
            "runs",
            "good",
            ...metricNames.flatMap((name) => [name, `${name}_low`, `${name}_high`, `${name}_bounds`]),
        ],
        rows: lines(),
    };
}

function estimateCells(estimate: Estimate | null): Cell[] {
    return estimate ? [estimate.mean, estimate.low, estimate.high, estimate.bounds] : [null, null, null, null];
}

export function pivotSheet(runs: Runs, pivot: readonly string[], cells: readonly PivotCell[]): Sheet {
    const [down = "", across = "", metric = ""] = pivot;
    const label = (field: string, value: string) => (field === "directory" ? runs.directoryLabel(value) : value);
    return {
        columns: [down, across, "runs", metric, `${metric}_low`, `${metric}_high`, `${metric}_bounds`],
        rows: cells.map((cell) => [
            label(down, cell.row),
            label(across, cell.column),
            cell.runs,
            ...estimateCells(cell.estimate),
        ]),
    };
}

export function ExportMenu(props: {
    name: string;
    sheet: () => Sheet;
    selection: Record<string, unknown>;
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
                                        jsonOf(props.sheet(), props.selection),
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

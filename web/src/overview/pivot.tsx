/** Pivot table: one field down, another across, and the mean of a metric in each cell. */

import { useMemo } from "preact/hooks";
import { byText, estimateOf, groupRows, type Runs } from "../data/runs";
import type { Field } from "../data/source";
import type { Estimate } from "../data/statistics";
import { boundsLegend, boundsText, capitalize, numberOf, titleOf } from "../data/words";
import { Scrolling } from "../ui/plot";
import { shade } from "../ui/shade";
import { useInks } from "../ui/theme";

export interface PivotCell {
    row: string;
    column: string;
    runs: number;
    estimate: Estimate | null;
}

const MOST_ROWS = 300;
const MOST_COLUMNS = 60;

export function pivotCells(runs: Runs, rows: Uint32Array, down: string, across: string, metric: string): PivotCell[] {
    return groupRows(runs, rows, [down, across]).map((group) => ({
        row: group.values[0]!,
        column: group.values[1]!,
        runs: group.rows.length,
        estimate: estimateOf(runs, group.rows, metric),
    }));
}

export function PivotTable(props: {
    runs: Runs;
    cells: readonly PivotCell[];
    down: Field;
    across: Field;
    metric: Field;
    open: (row: string, column: string) => void;
}) {
    const { cells, down, across, metric } = props;
    const inks = useInks();
    const { rows, columns, at, low, high } = useMemo(() => {
        const means = cells.flatMap(({ estimate }) => (estimate ? [estimate.mean] : []));
        return {
            rows: [...new Set(cells.map(({ row }) => row))].sort(byText),
            columns: [...new Set(cells.map(({ column }) => column))].sort(byText),
            at: new Map(cells.map((cell) => [JSON.stringify([cell.row, cell.column]), cell])),
            low: Math.min(...means),
            high: Math.max(...means),
        };
    }, [cells]);
    const number = numberOf(metric);
    const label = (field: Field, value: string) =>
        field.name === "directory" ? props.runs.directoryLabel(value) : value || "none";
    if (rows.length > MOST_ROWS || columns.length > MOST_COLUMNS)
        return (
            <p>
                {rows.length} rows and {columns.length} columns are too many to read: at most {MOST_ROWS} and{" "}
                {MOST_COLUMNS} are drawn. Filter the runs, or choose other fields.
            </p>
        );
    return (
        <>
            <p class="quiet">
                Mean {metric.title}
                {metric.unit ? ` in ${metric.unit}` : ""}, and of how many runs.{" "}
                {metric.better === "more" || metric.better === "less"
                    ? "A stronger colour is better."
                    : "A stronger colour is more."}{" "}
                {boundsLegend(cells.map(({ estimate }) => estimate))}
            </p>
            <Scrolling label="Pivot">
                <table class="pivot">
                    <caption class="hidden">
                        Mean {titleOf(metric)} by {down.title} and {across.title}
                    </caption>
                    <thead>
                        <tr>
                            <th scope="col">
                                {capitalize(down.title)} <span class="quiet">by {across.title}</span>
                            </th>
                            {columns.map((column) => (
                                <th key={column} scope="col" class="number">
                                    {label(across, column)}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((row) => (
                            <tr key={row}>
                                <th scope="row">{label(down, row)}</th>
                                {columns.map((column) => {
                                    const cell = at.get(JSON.stringify([row, column]));
                                    if (!cell) return <td key={column} class="number quiet" />;
                                    const { estimate } = cell;
                                    const part = estimate && high > low ? (estimate.mean - low) / (high - low) : 0.5;
                                    return (
                                        <td
                                            key={column}
                                            class="number"
                                            style={
                                                estimate
                                                    ? {
                                                          background: shade(
                                                              inks,
                                                              metric.better === "less" ? 1 - part : part,
                                                          ),
                                                      }
                                                    : undefined
                                            }
                                        >
                                            <button type="button" class="plain" onClick={() => props.open(row, column)}>
                                                {estimate ? number(estimate.mean) : "-"}
                                                <small>
                                                    {estimate && boundsText(estimate, number)}{" "}
                                                    {cell.runs === estimate?.count ? "" : `${estimate?.count ?? 0} of `}
                                                    {cell.runs}
                                                    <span class="hidden"> runs: show them</span>
                                                </small>
                                            </button>
                                        </td>
                                    );
                                })}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </Scrolling>
        </>
    );
}

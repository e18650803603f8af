/** Metric along an axis of a grid, as lines. Over two axes: a heat map per scheme. */

import { useMemo } from "preact/hooks";
import { byText, type Group, groupRows, type Runs } from "../data/runs";
import type { Field, Findings } from "../data/source";
import { boundsLegend, boundsText, capitalize, inSentence, listing, numberOf, titleOf } from "../data/words";
import { markerPath } from "../ui/looks";
import { type Area, Frame, type Look, leftOf, useWidth } from "../ui/plot";
import { fieldScale, plainScale, type Scale, tickText } from "../ui/scale";
import { shade } from "../ui/shade";
import { useInks } from "../ui/theme";
import { type Estimate, estimateOf, leftOutOf, soundOrAll, tableAddress } from "./facets";
import { Matrix } from "./matrix";

/** Returns the axes of the grid that have several values among the runs. */
export function axesOf(runs: Runs, rows: Uint32Array): Field[] {
    return runs.facts.fields.filter((field) => {
        if (field.group !== "axis" || !runs.has(field.name)) return false;
        const { values } = runs.column(field.name);
        return rows.some((row) => !Object.is(values[row], values[rows[0]!]));
    });
}

interface Cell {
    scheme: string;
    x: string;
    y: string;
    estimate: Estimate;
    /** True if comparisons leave the scheme out at this value for its conduct. */
    isLeftOut: boolean;
}

interface Panel {
    title: string;
    entries: string[];
    cells: Cell[];
}

export function Sweeps(props: {
    runs: Runs;
    rows: Uint32Array;
    axes: readonly Field[];
    x: Field;
    y: Field | null;
    metric: Field;
    looks: (scheme: string) => Look;
    entries: readonly string[];
    most: number;
    findings: Findings;
    isAnswered: boolean;
}) {
    const { runs, rows, x, y, metric, most, findings } = props;
    const panels = useMemo(
        () => panelsOf(runs, rows, props.axes, x, y, metric, findings),
        [runs, rows, x, y, metric, findings],
    );
    return (
        <>
            <div class="facets">
                {panels
                    .slice(0, most)
                    .map((panel) =>
                        y ? (
                            <HeatMaps key={panel.title} panel={panel} {...props} y={y} />
                        ) : (
                            <Lines key={panel.title} panel={panel} {...props} />
                        ),
                    )}
            </div>
            {panels.length > most && (
                <p>
                    {most} of {panels.length} are drawn: filter for others.
                </p>
            )}
            <p class="quiet foot">
                {boundsLegend(panels.flatMap(({ cells }) => cells.map(({ estimate }) => estimate)))}
            </p>
        </>
    );
}

/**
 * Returns one panel per combination of the values of all axes that are not drawn, since means are never over different
 * cells.
 */
function panelsOf(
    runs: Runs,
    rows: Uint32Array,
    axes: readonly Field[],
    x: Field,
    y: Field | null,
    metric: Field,
    findings: Findings,
): Panel[] {
    const rest = axes.filter((axis) => axis !== x && axis !== y);
    const several = runs.facts.directories.length > 1 ? ["directory"] : [];
    const fields = [...several, ...rest.map(({ name }) => name)];
    const panels = new Map<string, Panel>();
    for (const group of groupRows(runs, rows, [...fields, "scheme", x.name, ...(y ? [y.name] : [])])) {
        const mean = estimateOf(runs, group.rows, metric.name);
        const place = fields.length;
        if (!mean || group.values[place + 1] === "" || (y && group.values[place + 2] === "")) continue;
        const key = JSON.stringify(group.values.slice(0, place));
        let panel = panels.get(key);
        if (!panel) {
            panel = {
                title: panelTitle(runs, fields, group),
                entries: fields.map((name, at) => `${name}:${group.values[at]}`),
                cells: [],
            };
            panels.set(key, panel);
        }
        const [scheme, row] = [group.values[place]!, group.rows[0]!];
        const leftOut = leftOutOf(findings, runs.text("directory", row), runs.text("path", row));
        panel.cells.push({
            scheme,
            isLeftOut: leftOut.includes(scheme),
            x: group.values[place + 1]!,
            y: group.values[place + 2] ?? "",
            estimate: mean,
        });
    }
    return [...panels.values()];
}

function panelTitle(runs: Runs, fields: readonly string[], group: Group): string {
    const values = fields.map((name, at) => {
        const value = group.values[at]!;
        return name === "directory" ? runs.directoryLabel(value) : `${runs.fields.get(name)!.title} ${value || "none"}`;
    });
    return values.join(", ");
}

function distinct(cells: readonly Cell[], field: "x" | "y" | "scheme"): string[] {
    const distinctValues = [...new Set(cells.map((cell) => cell[field]))];
    return field === "scheme" ? distinctValues : distinctValues.sort(byText);
}

/** Says which scheme has the best mean at each value, without a test of significance. Compares sound conduct only. */
export function bestSentence(cells: readonly Cell[], x: Field, metric: Field): string {
    if (metric.better !== "more" && metric.better !== "less") return "";
    if (new Set(cells.map(({ scheme }) => scheme)).size < 2) return "";
    const [places, without] = [new Map<string, string[]>(), new Map<string, string[]>()];
    for (const value of distinct(cells, "x")) {
        const cellsAtValue = cells.filter((cell) => cell.x === value);
        const soundCells = soundOrAll(cellsAtValue, ({ isLeftOut }) => isLeftOut);
        if (soundCells.length < 2 && cellsAtValue.length > 1) continue;
        for (const { scheme } of cellsAtValue.filter((cell) => !soundCells.includes(cell)))
            without.set(scheme, [...(without.get(scheme) ?? []), value]);
        const least = soundCells.reduce((best, each) =>
            (metric.better === "less") === each.estimate.mean < best.estimate.mean ? each : best,
        );
        places.set(least.scheme, [...(places.get(least.scheme) ?? []), value]);
    }
    const word = metric.better === "more" ? "Most" : "Least";
    if (!places.size) return "";
    const describe = (schemes: Map<string, string[]>) =>
        listing(
            [...schemes].map(([scheme, values]) => `${scheme} at ${x.title} ${listing(values)}`),
            6,
        );
    const left = without.size ? `, without ${describe(without)}` : "";
    return `${word} ${inSentence(metric.title)} by the means${left}: ${describe(places)}.`;
}

function Lines(props: {
    runs: Runs;
    panel: Panel;
    x: Field;
    metric: Field;
    looks: (scheme: string) => Look;
    entries: readonly string[];
    isAnswered: boolean;
}) {
    const { panel, x, metric, looks } = props;
    const { cells } = panel;
    const [box, width] = useWidth<HTMLDivElement>();
    const height = Math.round(Math.min(360, Math.max(240, width * 0.6)));
    const values = distinct(cells, "x");
    const ends = cells.flatMap(({ estimate }) =>
        [estimate.mean, estimate.low ?? estimate.mean, estimate.high ?? estimate.mean].map(
            (each) => each * (metric.factor ?? 1),
        ),
    );
    const up = fieldScale({ ...metric, better: "neutral" }, ends, height - 40, 12);
    const area: Area = { left: leftOf(up), right: width - 14, top: 12, bottom: height - 40 };
    const across = xScale(x, values, area);
    const at = (value: number) => up.at(value * (metric.factor ?? 1));
    const schemes = distinct(cells, "scheme");
    const number = numberOf(metric);
    return (
        <section class="chart">
            <h3>{panel.title || `${capitalize(inSentence(metric.title))} along ${x.title}`}</h3>
            {!props.isAnswered && <p class="answer">{bestSentence(cells, x, metric)}</p>}
            <div class="plot" ref={box}>
                <svg
                    width={width}
                    height={height}
                    role="img"
                    aria-label={`${capitalize(inSentence(metric.title))} of each scheme along ${x.title}; the table below has the numbers`}
                >
                    <Frame area={area} x={across.scale} y={up} />
                    {schemes.map((scheme, index) => {
                        const look = looks(scheme);
                        const linePoints = values.flatMap(
                            (value) => cells.find((cell) => cell.scheme === scheme && cell.x === value) ?? [],
                        );
                        const shift =
                            across.scale.ticks.length * schemes.length < 60
                                ? (index - (schemes.length - 1) / 2) * 2
                                : 0;
                        const px = (cell: Cell) => across.at(cell.x) + shift;
                        return (
                            <g key={scheme}>
                                <path
                                    d={linePoints
                                        .map(
                                            (cell, place) =>
                                                `${place ? "L" : "M"}${px(cell).toFixed(1)} ${at(cell.estimate.mean).toFixed(1)}`,
                                        )
                                        .join("")}
                                    fill="none"
                                    stroke={look.color}
                                    stroke-width="1.8"
                                    stroke-dasharray={look.dashes}
                                />
                                {linePoints.map((cell) => (
                                    <g key={cell.x}>
                                        {cell.estimate.low !== null && cell.estimate.high !== null && (
                                            <line
                                                x1={px(cell)}
                                                x2={px(cell)}
                                                y1={at(cell.estimate.low)}
                                                y2={at(cell.estimate.high)}
                                                stroke={look.color}
                                                stroke-width="1.2"
                                            />
                                        )}
                                        <path
                                            d={markerPath(look.marker, px(cell), at(cell.estimate.mean), 9)}
                                            fill={look.fill}
                                            stroke={look.color}
                                        />
                                    </g>
                                ))}
                            </g>
                        );
                    })}
                </svg>
            </div>
            <details>
                <summary>The same as a table</summary>
                <Matrix
                    label={`Mean ${titleOf(metric)} along ${x.title}`}
                    corner={x.title}
                    rows={schemes}
                    columns={values}
                    cell={(scheme, value) => {
                        const cell = cells.find((each) => each.scheme === scheme && each.x === value);
                        return (
                            (cell && {
                                text: number(cell.estimate.mean),
                                small: boundsText(cell.estimate, number),
                                href: tableAddress(props.entries, [
                                    ...panel.entries,
                                    `${x.name}:${value}`,
                                    `scheme:${scheme}`,
                                ]),
                            }) ||
                            null
                        );
                    }}
                />
            </details>
        </section>
    );
}

/** Returns the x axis. Numbers are placed by value (logarithmic if they span widely), strings at equal distances. */
function xScale(x: Field, values: readonly string[], area: Area): { scale: Scale; at: (value: string) => number } {
    if (x.kind === "number") {
        const numbers = values.map(Number);
        const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
        const wide = low > 0 && high >= 8 * low;
        const turn = wide ? Math.log : (value: number) => value;
        const [a, b] = [turn(low), turn(high)];
        const at = (value: number) =>
            area.left + 14 + ((turn(value) - a) / (b - a || 1)) * (area.right - area.left - 28);
        const label = `${capitalize(x.title)}${x.unit ? ` (${x.unit})` : ""}${wide ? ", logarithmic" : ""}`;
        return {
            scale: { at, value: () => Number.NaN, ticks: apart(numbers, at), text: tickText, label },
            at: (value) => at(Number(value)),
        };
    }
    const fits = values.join("").length * 7 + values.length * 12 < area.right - area.left;
    const names = fits ? "" : `: ${values.map((value, place) => `${place + 1} ${value}`).join(", ")}`;
    const scale = plainScale(-0.5, values.length - 0.5, area.left, area.right, `${capitalize(x.title)}${names}`);
    return {
        scale: {
            ...scale,
            at: (place) => scale.at(place - 1),
            ticks: values.map((_, place) => place + 1),
            text: (place) => (fits ? values[place - 1]! : String(place)),
        },
        at: (value) => scale.at(values.indexOf(value)),
    };
}

function apart(values: readonly number[], at: (value: number) => number): number[] {
    const labelPlaces: number[] = [];
    for (const value of [...values].sort((a, b) => a - b))
        if (!labelPlaces.length || at(value) - at(labelPlaces.at(-1)!) > 7 * tickText(value).length + 8)
            labelPlaces.push(value);
    return labelPlaces;
}

function HeatMaps(props: { runs: Runs; panel: Panel; x: Field; y: Field; metric: Field; entries: readonly string[] }) {
    const { panel, x, y, metric } = props;
    const inks = useInks();
    const { cells } = panel;
    const means = cells.map(({ estimate }) => estimate.mean);
    const [low, high] = [Math.min(...means), Math.max(...means)];
    const number = numberOf(metric);
    const [columns, rows] = [distinct(cells, "x"), distinct(cells, "y").reverse()];
    return (
        <>
            {distinct(cells, "scheme").map((scheme) => {
                const schemeCells = new Map(
                    cells
                        .filter((cell) => cell.scheme === scheme)
                        .map((cell) => [JSON.stringify([cell.y, cell.x]), cell]),
                );
                return (
                    <section class="chart" key={scheme}>
                        <h3>
                            {scheme}
                            {panel.title && `, ${panel.title}`}
                        </h3>
                        <p class="quiet">
                            Mean {inSentence(metric.title)}
                            {metric.unit && ` (${metric.unit})`}; a stronger colour is{" "}
                            {metric.better === "more" || metric.better === "less" ? "better" : "more"}, the same in all
                            schemes.
                        </p>
                        <Matrix
                            label={`Mean ${titleOf(metric)} of ${scheme} by ${y.title} and ${x.title}`}
                            corner={`${y.title} by ${x.title}`}
                            rows={rows}
                            columns={columns}
                            cell={(row, column) => {
                                const cell = schemeCells.get(JSON.stringify([row, column]));
                                if (!cell) return null;
                                const part = high > low ? (cell.estimate.mean - low) / (high - low) : 0.5;
                                return {
                                    text: number(cell.estimate.mean),
                                    small: boundsText(cell.estimate, number),
                                    ground: shade(inks, metric.better === "less" ? 1 - part : part),
                                    href: tableAddress(props.entries, [
                                        ...panel.entries,
                                        `${x.name}:${column}`,
                                        `${y.name}:${row}`,
                                        `scheme:${scheme}`,
                                    ]),
                                };
                            }}
                        />
                    </section>
                );
            })}
        </>
    );
}

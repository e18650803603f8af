/** Distribution of a metric over the runs of each scheme: fraction of runs at or below a value. */

import { useMemo, useState } from "preact/hooks";
import type { Runs } from "../data/runs";
import type { Field } from "../data/source";
import { capitalize, inSentence, numberOf } from "../data/words";
import { markerPath } from "../ui/looks";
import { type Area, Frame, type Look, Scrolling, Tip, useWidth } from "../ui/plot";
import { fieldScale, plainScale } from "../ui/scale";
import type { Facet } from "./facets";
import { bestSentence } from "./findings";
import { RunTip } from "./plane";

interface Curve {
    scheme: string;
    /** Sorted values in the field's display unit. */
    values: Float64Array;
    rows: number[];
}

const MOST_STEPS = 800;

export function Ecdf(props: {
    runs: Runs;
    facet: Facet;
    metric: Field;
    looks: (scheme: string) => Look;
    tipFields: readonly Field[];
    isAnswered: boolean;
}) {
    const { runs, facet, metric, looks } = props;
    const [box, width] = useWidth<HTMLDivElement>();
    const [hover, setHover] = useState<{ x: number; y: number; curve: Curve; place: number } | null>(null);
    const height = Math.round(Math.min(380, Math.max(240, width * 0.58)));
    const area: Area = { left: 52, right: width - 12, top: 12, bottom: height - 40 };
    const curves = useMemo(() => curvesOf(runs, facet, metric), [runs, facet, metric]);
    const sentence = useMemo(() => bestSentence(runs, facet, [metric]), [runs, facet, metric]);
    const number = numberOf({ ...metric, factor: 1 });
    const plain = { ...metric, better: "neutral" };
    const x = useMemo(
        () =>
            fieldScale(
                plain,
                curves.flatMap(({ values }) => [values[0]!, values.at(-1)!]),
                area.left,
                area.right,
            ),
        [curves, width],
    );
    const y = plainScale(0, 1, area.bottom, area.top, "Part of the runs at or below");
    const nearest = (event: PointerEvent) => {
        const bounds = (event.currentTarget as Element).getBoundingClientRect();
        const [px, py] = [event.clientX - bounds.left, event.clientY - bounds.top];
        let least = 20 ** 2;
        let near: { x: number; y: number; curve: Curve; place: number } | null = null;
        for (const curve of curves)
            for (const [place, value] of curve.values.entries()) {
                const [cx, cy] = [x.at(value), y.at((place + 1) / curve.values.length)];
                const away = (cx - px) ** 2 + (cy - py) ** 2;
                if (away < least) {
                    least = away;
                    near = { x: cx, y: cy, curve, place };
                }
            }
        return near;
    };
    const quantiles = [0.1, 0.5, 0.9];
    return (
        <section class="chart">
            <h3>{facet.title}</h3>
            {!props.isAnswered && <p class="answer">{sentence}</p>}
            {curves.length === 0 ? (
                <p class="quiet">No run that went well has this number.</p>
            ) : (
                <>
                    <div class="plot" ref={box}>
                        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table of runs opens them by keys */}
                        <svg
                            width={width}
                            height={height}
                            role="img"
                            aria-label={`Part of the runs of each scheme at or below each ${inSentence(metric.title)}, on ${facet.title}; the table below has numbers`}
                            onPointerMove={(event) => setHover(nearest(event))}
                            onPointerLeave={() => setHover(null)}
                            onClick={(event) => {
                                const nearestRun = nearest(event as unknown as PointerEvent) as {
                                    curve: Curve;
                                    place: number;
                                } | null;
                                if (nearestRun)
                                    location.hash = `#/run/${encodeURIComponent(runs.id(nearestRun.curve.rows[nearestRun.place]!))}`;
                            }}
                        >
                            <Frame area={area} x={x} y={y} />
                            {curves.map((curve) => {
                                const look = looks(curve.scheme);
                                const count = curve.values.length;
                                const middle = Math.floor((count - 1) / 2);
                                return (
                                    <g key={curve.scheme}>
                                        <path
                                            d={steps(curve.values, x.at, y.at, area)}
                                            fill="none"
                                            stroke={look.color}
                                            stroke-width="1.8"
                                            stroke-dasharray={look.dashes}
                                        />
                                        <path
                                            d={markerPath(
                                                look.marker,
                                                x.at(curve.values[middle]!),
                                                y.at((middle + 1) / count),
                                                10,
                                            )}
                                            fill={look.fill}
                                            stroke={look.color}
                                        />
                                    </g>
                                );
                            })}
                            {hover && <circle cx={hover.x} cy={hover.y} r="5" class="whisker" fill="none" />}
                        </svg>
                        {hover && (
                            <Tip x={hover.x} y={hover.y} width={width}>
                                <RunTip
                                    runs={runs}
                                    run={{ row: hover.curve.rows[hover.place]!, scheme: hover.curve.scheme }}
                                    tipFields={props.tipFields}
                                />
                            </Tip>
                        )}
                    </div>
                    <details>
                        <summary>The same as a table</summary>
                        <Scrolling label="Distributions as a table">
                            <table>
                                <thead>
                                    <tr>
                                        <th scope="col">Scheme</th>
                                        <th scope="col" class="number">
                                            Runs
                                        </th>
                                        <th scope="col" class="number">
                                            Least
                                        </th>
                                        {quantiles.map((part) => (
                                            <th key={part} scope="col" class="number">
                                                {100 * part} % of runs at or below
                                            </th>
                                        ))}
                                        <th scope="col" class="number">
                                            Most
                                        </th>
                                    </tr>
                                </thead>
                                <tbody>
                                    {curves.map(({ scheme, values }) => (
                                        <tr key={scheme}>
                                            <th scope="row">{scheme}</th>
                                            <td class="number">{values.length}</td>
                                            <td class="number">{number(values[0]!)}</td>
                                            {quantiles.map((part) => (
                                                <td key={part} class="number">
                                                    {number(values[Math.ceil(part * values.length) - 1]!)}
                                                </td>
                                            ))}
                                            <td class="number">{number(values.at(-1)!)}</td>
                                        </tr>
                                    ))}
                                </tbody>
                                <caption>
                                    {capitalize(inSentence(metric.title))}
                                    {metric.unit && ` in ${metric.unit}`}
                                </caption>
                            </table>
                        </Scrolling>
                    </details>
                </>
            )}
        </section>
    );
}

function curvesOf(runs: Runs, facet: Facet, metric: Field): Curve[] {
    if (!runs.has(metric.name)) return [];
    const numbers = runs.numbers(metric.name);
    return facet.schemes.flatMap(({ scheme, rows }) => {
        const rowsWithValue = rows
            .filter((row) => !Number.isNaN(numbers[row]!))
            .sort((a, b) => numbers[a]! - numbers[b]!);
        const values = Float64Array.from(rowsWithValue, (row) => numbers[row]! * (metric.factor ?? 1));
        return rowsWithValue.length ? [{ scheme, values, rows: rowsWithValue }] : [];
    });
}

function steps(values: Float64Array, x: (value: number) => number, y: (value: number) => number, area: Area): string {
    const count = values.length;
    const stepSize = Math.max(1, Math.floor(count / MOST_STEPS));
    let path = `M${x(values[0]!).toFixed(1)} ${area.bottom}`;
    for (let place = 0; place < count; place++)
        if (place % stepSize === stepSize - 1 || place === count - 1)
            path += `H${x(values[place]!).toFixed(1)}V${y((place + 1) / count).toFixed(1)}`;
    return `${path}H${area.right}`;
}

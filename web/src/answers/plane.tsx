/**
 * Scatter plot of two metrics: a faint point per run, the mean of each scheme, an ellipse for the spread, and the
 * Pareto front.
 */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Runs } from "../data/runs";
import type { Field } from "../data/source";
import { boundsText, capitalize, countText, inSentence, numberOf } from "../data/words";
import { drawMarker, markerPath } from "../ui/looks";
import { type Area, Frame, type Look, leftOf, placeNames, Scrolling, Tip, useWidth } from "../ui/plot";
import { fieldScale, type Scale } from "../ui/scale";
import { useInks } from "../ui/theme";
import { type Estimate, estimateOf, type Facet, filterOf, tableAddress } from "./facets";
import { bestSentence, frontOf, frontSentence, loneSentence } from "./findings";

interface Mean {
    scheme: string;
    x: Estimate;
    y: Estimate;
    /** Variance of x, covariance, and variance of y of the runs, in display units. */
    spread: [number, number, number] | null;
    front: boolean;
}

interface Run {
    row: number;
    scheme: string;
    x: number;
    y: number;
}

const NEAR = 18;

export function Plane(props: {
    runs: Runs;
    facet: Facet;
    x: Field;
    y: Field;
    looks: (scheme: string) => Look;
    entries: readonly string[];
    tipFields: readonly Field[];
    isAnswered: boolean;
}) {
    const { runs, facet, x, y, looks } = props;
    const inks = useInks();
    const [box, width] = useWidth<HTMLDivElement>();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [hover, setHover] = useState<{ at: [number, number]; run?: Run; mean?: Mean } | null>(null);
    const [brush, setBrush] = useState<[number, number, number, number] | null>(null);
    const start = useRef<[number, number] | null>(null);
    const height = Math.round(Math.min(430, Math.max(260, width * 0.68)));
    const { points, means } = useMemo(() => dataOf(runs, facet, x, y), [runs, facet, x, y]);
    const { across, up, area } = useMemo(() => {
        const ends = (name: "x" | "y", field: Field) =>
            means.flatMap((mean) =>
                mean[name].low === null
                    ? []
                    : [mean[name].low!, mean[name].high!].map((each) => toDisplay(each, field)),
            );
        const xs = points.map((point) => point.x);
        const ys = points.map((point) => point.y);
        const room = { right: width - 10, top: 22, bottom: height - 40 };
        const up = fieldScale(y, within(ys, ends("y", y)), room.bottom, room.top);
        const left = leftOf(up);
        return { across: fieldScale(x, within(xs, ends("x", x)), left, room.right), up, area: { left, ...room } };
    }, [points, means, width, height]);
    const sentence = useMemo(
        () => [frontSentence(runs, facet, x, y), bestSentence(runs, facet, [y, x])].filter(Boolean).join(" "),
        [runs, facet, x, y],
    );
    const places = placeNames(
        means.map((mean) => ({
            x: across.at(toDisplay(mean.x.mean, x)),
            y: up.at(toDisplay(mean.y.mean, y)),
            name: mean.scheme,
        })),
        area,
    );

    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!context || !canvas.current) return;
        const ratio = devicePixelRatio || 1;
        canvas.current.width = width * ratio;
        canvas.current.height = height * ratio;
        context.scale(ratio, ratio);
        context.clearRect(0, 0, width, height);
        const hasManyPoints = points.length > 2000;
        context.globalAlpha = Math.max(0.05, Math.min(0.45, 20 / Math.sqrt(points.length)));
        for (const point of points) {
            const look = looks(point.scheme);
            const [px, py] = [across.at(point.x), up.at(point.y)];
            context.fillStyle = look.color;
            context.strokeStyle = look.color;
            if (hasManyPoints) context.fillRect(px - 1, py - 1, 2, 2);
            else drawMarker(context, look.marker, px, py, 6);
        }
    }, [points, width, height, inks, across, up]);

    const place = (event: PointerEvent): [number, number] => {
        const bounds = (event.currentTarget as Element).getBoundingClientRect();
        return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    const nearest = (at: [number, number]) => {
        let least = NEAR ** 2;
        let closest: { at: [number, number]; run?: Run; mean?: Mean } | null = null;
        const look = (px: number, py: number, target: { run: Run } | { mean: Mean }, weight: number) => {
            const away = ((px - at[0]) ** 2 + (py - at[1]) ** 2) * weight;
            if (away < least) {
                least = away;
                closest = { at: [px, py], ...target };
            }
        };
        for (const run of points) look(across.at(run.x), up.at(run.y), { run }, 1);
        for (const mean of means)
            look(across.at(toDisplay(mean.x.mean, x)), up.at(toDisplay(mean.y.mean, y)), { mean }, 0.5);
        return closest;
    };
    const onMove = (event: PointerEvent) => {
        const at = place(event);
        if (start.current && Math.hypot(at[0] - start.current[0], at[1] - start.current[1]) > 5) {
            const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));
            setHover(null);
            setBrush([
                clamp(Math.min(start.current[0], at[0]), area.left, area.right),
                clamp(Math.min(start.current[1], at[1]), area.top, area.bottom),
                clamp(Math.max(start.current[0], at[0]), area.left, area.right),
                clamp(Math.max(start.current[1], at[1]), area.top, area.bottom),
            ]);
        } else if (!start.current) setHover(nearest(at));
    };
    const onUp = (event: PointerEvent) => {
        const at = place(event);
        const began = start.current;
        start.current = null;
        if (!began || Math.hypot(at[0] - began[0], at[1] - began[1]) > 5) return;
        setBrush(null);
        const hit = nearest(at) as { run?: Run } | null;
        if (hit?.run) location.hash = `#/run/${encodeURIComponent(runs.id(hit.run.row))}`;
    };
    const brushRows = brush
        ? points.filter((point) => {
              const [px, py] = [across.at(point.x), up.at(point.y)];
              return px >= brush[0] && px <= brush[2] && py >= brush[1] && py <= brush[3];
          })
        : [];
    const front = means.filter((mean) => mean.front);
    const [numberX, numberY] = [numberOf(x), numberOf(y)];
    return (
        <section class="chart">
            <h3>{facet.title}</h3>
            {!props.isAnswered && (
                <p class="answer">
                    {sentence ||
                        (facet.beside
                            ? "Flows of another scheme compete in these runs: who is better by itself is not asked."
                            : loneSentence(runs, facet, x, y))}
                </p>
            )}
            <div class="plot" ref={box}>
                {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a drawing does not take the focus */}
                <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} aria-hidden="true" />
                {/* biome-ignore lint/a11y/useSemanticElements: there is no other element for a group within a drawing */}
                <svg
                    width={width}
                    height={height}
                    role="group"
                    aria-label={`${capitalize(inSentence(y.title))} over ${inSentence(x.title)} on ${facet.title}, means by scheme; the table below has the same numbers`}
                    onPointerDown={(event) => {
                        if ((event.target as Element).closest("a")) return;
                        start.current = place(event);
                        event.currentTarget.setPointerCapture(event.pointerId);
                    }}
                    onPointerMove={onMove}
                    onPointerUp={onUp}
                    onPointerLeave={() => setHover(null)}
                >
                    <Frame area={area} x={across} y={up} />
                    {points.length > 0 && (
                        <text class="better" x={area.right} y={area.top - 8} text-anchor="end">
                            {x.better === "less" || x.better === "more" ? "better ↗" : ""}
                        </text>
                    )}
                    {front.length > 1 && <path class="front" d={staircase(front, across, up, x, y)} />}
                    {means.map((mean) => {
                        const look = looks(mean.scheme);
                        return (
                            mean.spread && (
                                <path
                                    key={mean.scheme}
                                    d={ellipse(mean, across, up, x, y, area)}
                                    fill={look.color}
                                    fill-opacity="0.1"
                                    stroke={look.color}
                                    stroke-opacity="0.8"
                                    stroke-dasharray={look.dashes}
                                />
                            )
                        );
                    })}
                    {means.map((mean, index) => {
                        const look = looks(mean.scheme);
                        const [px, py] = [across.at(toDisplay(mean.x.mean, x)), up.at(toDisplay(mean.y.mean, y))];
                        const spot = places[index];
                        return (
                            <a
                                key={mean.scheme}
                                href={tableAddress(props.entries, filterOf(runs, facet, mean.scheme))}
                                aria-label={`${mean.scheme}: ${words(mean, x, y)}${mean.front ? ", in front" : ""}: show its runs`}
                            >
                                {mean.front && (
                                    <path
                                        d={markerPath("o", px, py, 19)}
                                        fill="none"
                                        stroke={inks.ink}
                                        stroke-width="1.2"
                                    />
                                )}
                                <path
                                    d={markerPath(look.marker, px, py, 12)}
                                    fill={look.fill}
                                    stroke={look.fill === look.color ? inks.ground : look.color}
                                    stroke-width="1.5"
                                />
                                {spot && (
                                    <text class="name" x={spot.x} y={spot.y} text-anchor={spot.anchor}>
                                        {mean.scheme}
                                    </text>
                                )}
                            </a>
                        );
                    })}
                    {brush && (
                        <rect
                            class="brush"
                            x={brush[0]}
                            y={brush[1]}
                            width={brush[2] - brush[0]}
                            height={brush[3] - brush[1]}
                        />
                    )}
                </svg>
                {hover && (
                    <Tip x={hover.at[0]} y={hover.at[1]} width={width}>
                        {hover.run ? (
                            <RunTip runs={runs} run={hover.run} tipFields={props.tipFields} />
                        ) : (
                            hover.mean && <MeanTip mean={hover.mean} x={x} y={y} />
                        )}
                    </Tip>
                )}
            </div>
            <p class="selection" role="status">
                {brush && (
                    <>
                        {countText(brushRows.length, "run")} chosen.{" "}
                        {brushRows.length > 0 && (
                            <a
                                href={tableAddress(props.entries, [
                                    ...filterOf(runs, facet),
                                    rangeEntry(
                                        x,
                                        brushRows.map((each) => each.x),
                                    ),
                                    rangeEntry(
                                        y,
                                        brushRows.map((each) => each.y),
                                    ),
                                ])}
                            >
                                Show these runs
                            </a>
                        )}{" "}
                        <button type="button" class="plain" onClick={() => setBrush(null)}>
                            Choose none
                        </button>
                    </>
                )}
            </p>
            <details>
                <summary>The same as a table</summary>
                <Scrolling label="Means as a table">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">Scheme</th>
                                <th scope="col" class="number">
                                    Runs
                                </th>
                                <th scope="col" class="number">
                                    {y.title} {y.unit}
                                </th>
                                <th scope="col" class="number">
                                    {x.title} {x.unit}
                                </th>
                                <th scope="col">In front</th>
                            </tr>
                        </thead>
                        <tbody>
                            {means.map((mean) => (
                                <tr key={mean.scheme}>
                                    <th scope="row">{mean.scheme}</th>
                                    <td class="number">{Math.max(mean.x.count, mean.y.count)}</td>
                                    <td class="number">
                                        {numberY(mean.y.mean)} {boundsText(mean.y, numberY)}
                                    </td>
                                    <td class="number">
                                        {numberX(mean.x.mean)} {boundsText(mean.x, numberX)}
                                    </td>
                                    <td>{mean.front ? "yes" : ""}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </Scrolling>
            </details>
        </section>
    );
}

function toDisplay(value: number, field: Field): number {
    return value * (field.factor ?? 1);
}

/** Returns the range of the values, and the interval ends limited to one range beyond either side. */
function within(values: readonly number[], ends: readonly number[]): number[] {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
    }
    if (low > high) return [];
    const room = high - low;
    const least = low >= 0 ? Math.max(0, low - room) : low - room;
    return [low, high, ...ends.map((end) => Math.max(least, Math.min(high + room, end)))];
}

function dataOf(runs: Runs, facet: Facet, x: Field, y: Field): { points: Run[]; means: Mean[] } {
    if (!runs.has(x.name) || !runs.has(y.name)) return { points: [], means: [] };
    const [xs, ys] = [runs.numbers(x.name), runs.numbers(y.name)];
    const front = frontOf(runs, facet, x, y);
    const points: Run[] = [];
    const means: Mean[] = [];
    for (const { scheme, rows } of facet.schemes) {
        const schemePoints: Run[] = [];
        for (const row of rows)
            if (!Number.isNaN(xs[row]!) && !Number.isNaN(ys[row]!))
                schemePoints.push({ row, scheme, x: toDisplay(xs[row]!, x), y: toDisplay(ys[row]!, y) });
        for (const run of schemePoints) points.push(run);
        const [a, b] = [estimateOf(runs, rows, x.name), estimateOf(runs, rows, y.name)];
        if (a && b && schemePoints.length)
            means.push({ scheme, x: a, y: b, spread: covariance(schemePoints), front: front.has(scheme) });
    }
    return { points, means };
}

function covariance(points: readonly Run[]): [number, number, number] | null {
    const count = points.length;
    if (count < 2) return null;
    const [mx, my] = [
        points.reduce((sum, each) => sum + each.x, 0) / count,
        points.reduce((sum, each) => sum + each.y, 0) / count,
    ];
    let [xx, xy, yy] = [0, 0, 0];
    for (const { x, y } of points) {
        xx += (x - mx) ** 2;
        xy += (x - mx) * (y - my);
        yy += (y - my) ** 2;
    }
    return [xx / (count - 1), xy / (count - 1), yy / (count - 1)];
}

/** Returns the outline of one standard deviation along both principal axes of the runs. */
function ellipse(mean: Mean, across: Scale, up: Scale, x: Field, y: Field, area: Area): string {
    const [xx, xy, yy] = mean.spread!;
    const [middle, half] = [(xx + yy) / 2, Math.hypot((xx - yy) / 2, xy)];
    const [long, short] = [Math.sqrt(Math.max(middle + half, 0)), Math.sqrt(Math.max(middle - half, 0))];
    const turn = 0.5 * Math.atan2(2 * xy, xx - yy);
    const points = Array.from({ length: 72 }, (_, step) => {
        const angle = (2 * Math.PI * step) / 72;
        const [u, v] = [long * Math.cos(angle), short * Math.sin(angle)];
        const px = across.at(toDisplay(mean.x.mean, x) + u * Math.cos(turn) - v * Math.sin(turn));
        const py = up.at(toDisplay(mean.y.mean, y) + u * Math.sin(turn) + v * Math.cos(turn));
        const clamp = (value: number, low: number, high: number) =>
            Math.max(low, Math.min(high, Number.isFinite(value) ? value : high));
        return `${clamp(px, area.left, area.right).toFixed(1)} ${clamp(py, area.top, area.bottom).toFixed(1)}`;
    });
    return `M${points.join("L")}Z`;
}

function staircase(front: readonly Mean[], across: Scale, up: Scale, x: Field, y: Field): string {
    const spots = front
        .map((mean) => [across.at(toDisplay(mean.x.mean, x)), up.at(toDisplay(mean.y.mean, y))] as const)
        .sort((a, b) => b[0] - a[0]);
    // From the best scheme in x on, a step holds until the next one.
    return spots.map(([px, py], place) => (place ? `H${px}V${py}` : `M${px} ${py}`)).join("");
}

function words(mean: Mean, x: Field, y: Field): string {
    const [numberX, numberY] = [numberOf(x), numberOf(y)];
    return `${inSentence(y.title)} ${numberY(mean.y.mean)} ${y.unit ?? ""} ${boundsText(mean.y, numberY)}, ${inSentence(x.title)} ${numberX(mean.x.mean)} ${x.unit ?? ""} ${boundsText(mean.x, numberX)}`;
}

function MeanTip({ mean, x, y }: { mean: Mean; x: Field; y: Field }) {
    const [numberX, numberY] = [numberOf(x), numberOf(y)];
    return (
        <>
            <b>{mean.scheme}</b>, mean of {countText(Math.max(mean.x.count, mean.y.count), "run")}
            <br />
            {y.title}: {numberY(mean.y.mean)} {y.unit} {boundsText(mean.y, numberY)}
            <br />
            {x.title}: {numberX(mean.x.mean)} {x.unit} {boundsText(mean.x, numberX)}
        </>
    );
}

export function RunTip({
    runs,
    run,
    tipFields,
}: {
    runs: Runs;
    run: { row: number; scheme: string };
    tipFields: readonly Field[];
}) {
    return (
        <>
            <b>{run.scheme}</b>, run {runs.numbers("run")[run.row]}
            {tipFields
                .filter((field) => runs.has(field.name))
                .map((field) => (
                    <div key={field.name}>
                        {field.title}: {numberOf(field)(runs.numbers(field.name)[run.row]!)} {field.unit}
                    </div>
                ))}
            <div class="quiet">a click opens it</div>
        </>
    );
}

function rangeEntry(field: Field, values: readonly number[]): string {
    return `${field.name}:${Math.min(...values)}..${Math.max(...values)}`;
}

/** Panel of a stack: lines over time with their values at the cursor, or bands with the names of states. */

import { useMemo } from "preact/hooks";
import { drawMarker } from "../ui/looks";
import type { Inks } from "../ui/theme";
import { Canvas } from "./canvas";
import {
    clip,
    drawGrid,
    drawSeries,
    EVENT_LOOKS,
    eventColor,
    extent,
    FONT,
    hatch,
    type Scale,
    type Stroke,
} from "./draw";
import { type Events, firstAt, type Series, type Value, valueAt } from "./series";
import { axisRange, timeIn, valueText } from "./ticks";
import { plotOf, type View, xOf } from "./view";

/** Line of a panel: a series, its stroke and its title. */
export interface Line {
    series: Series;
    stroke: Stroke;
    title: string;
    /** True for a line of the overlaid run. */
    isOther: boolean;
}

export function rangeText(value: Value | null): string {
    if (!value || Number.isNaN(value.low)) return "-";
    return value.low === value.high ? valueText(value.low) : `${valueText(value.low)} to ${valueText(value.high)}`;
}

export function Swatch({ stroke }: { stroke: Stroke }) {
    const marks: Record<string, string> = {
        o: "●",
        s: "■",
        "^": "▲",
        D: "◆",
        v: "▼",
        x: "✕",
        "*": "★",
        "+": "+",
        d: "◆",
        "<": "◀",
        ">": "▶",
        p: "⬟",
        h: "⬢",
        H: "⬢",
        P: "✚",
        X: "✖",
    };
    return (
        <svg width="30" height="12" viewBox="0 0 30 12" aria-hidden="true" class="swatch">
            <line
                x1="0"
                y1="6"
                x2="30"
                y2="6"
                stroke={stroke.color}
                stroke-width="2"
                stroke-dasharray={stroke.dashes.join(" ")}
            />
            <text x="15" y="10" text-anchor="middle" font-size="11" fill={stroke.color}>
                {marks[stroke.marker] ?? ""}
            </text>
        </svg>
    );
}

interface PanelProps {
    title: string;
    unit: string;
    lines: Line[];
    /** Events and states that are drawn behind the lines. */
    behind: Behind;
    view: View;
    width: number;
    height: number;
    inks: Inks;
    cursor: number | null;
    /** Data that the drawing depends on. */
    dependencies: readonly unknown[];
    onClose?: (() => void) | undefined;
}

/** Events that cross all panels as vertical lines. */
export interface Behind {
    events: Events | null;
    kinds: readonly string[];
    flows: ReadonlySet<number>;
}

/** Draws events as vertical lines, at most one per pixel. */
function drawEventLines(
    context: CanvasRenderingContext2D,
    { events, kinds, flows }: Behind,
    view: View,
    width: number,
    top: number,
    bottom: number,
    inks: Inks,
): void {
    if (!events || kinds.length === 0) return;
    const plot = plotOf(width);
    context.lineWidth = 1;
    context.globalAlpha = 0.55;
    for (const kind of kinds) {
        context.strokeStyle = eventColor(kind, inks.dark);
        context.setLineDash(EVENT_LOOKS[kind]?.dashes ?? []);
        context.beginPath();
        let last = Number.NEGATIVE_INFINITY;
        for (
            let row = firstAt(events.time, view.from);
            row < events.time.length && events.time[row]! <= view.to;
            row++
        ) {
            if (events.kind(row) !== kind || !flows.has(events.flow[row]!)) continue;
            const x = Math.round(xOf(events.time[row]!, view, plot)) + 0.5;
            if (x === last) continue;
            last = x;
            context.moveTo(x, top);
            context.lineTo(x, bottom);
        }
        context.stroke();
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
}

/**
 * Maximum height of a limit (capacity) that still fits the axis, relative to the other lines. In short bins a limit has
 * huge peaks.
 */
const LIMIT_ROOM = 2.5;

function isLimit({ series }: Line): boolean {
    return series.name === "capacity" || series.name === "bdp";
}

function scaleOf(lines: Line[], view: View, height: number): Scale {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const line of [...lines.filter((each) => !isLimit(each)), ...lines.filter(isLimit)]) {
        const [least, most] = extent(line.series, view);
        const beyond = isLimit(line) && high > 0 && most > high * LIMIT_ROOM;
        if (least < low) low = least;
        if (most > high && !beyond) high = most;
    }
    const [from, to] = axisRange(low, high);
    return { low: from, high: to, top: 6, bottom: height - 6 };
}

export function Panel({
    title,
    unit,
    lines,
    behind,
    view,
    width,
    height,
    inks,
    cursor,
    dependencies,
    onClose,
}: PanelProps) {
    const values = lines.map((line) => (cursor === null ? null : valueAt(line.series, cursor)));
    const ranges = useMemo(
        () =>
            lines.map(({ series }) => {
                const [low, high] = extent(series, view);
                return low <= high ? { row: 0, time: 0, low, high } : null;
            }),
        [...dependencies, lines.length, view.from, view.to],
    );
    const says = lines.map((line, index) => `${line.title} ${rangeText(ranges[index]!)}`).join("; ");
    const span = view.to - view.from;
    return (
        <figure class="panel" aria-label={title}>
            <figcaption>
                <span class="title">
                    {title}
                    {unit && <span class="quiet"> in {unit}</span>}
                </span>
                <ul class="values">
                    {lines.map((line, index) => (
                        <li key={`${line.series.key} ${line.isOther}`}>
                            <Swatch stroke={line.stroke} />
                            {line.title}{" "}
                            <b
                                data-series={line.series.key}
                                data-other={line.isOther ? "yes" : undefined}
                                class={cursor === null ? "quiet" : ""}
                            >
                                {rangeText(cursor === null ? ranges[index]! : values[index]!)}
                            </b>
                        </li>
                    ))}
                </ul>
                {onClose && (
                    <button
                        type="button"
                        class="small"
                        aria-label={`hide ${title}`}
                        title="hide this panel"
                        onClick={onClose}
                    >
                        ×
                    </button>
                )}
            </figcaption>
            <Canvas
                width={width}
                height={height}
                label={`${title}${unit ? ` in ${unit}` : ""} from ${timeIn(view.from, span)} to ${timeIn(view.to, span)}: ${says || "no values"}`}
                dependencies={[...dependencies, view.from, view.to, inks]}
                draw={(context) => {
                    const plot = plotOf(width);
                    const scale = scaleOf(lines, view, height);
                    drawGrid(context, plot, scale, view, inks);
                    clip(context, plot, 0, height, () => {
                        drawEventLines(context, behind, view, width, scale.top, scale.bottom, inks);
                        for (const line of lines) drawSeries(context, line.series, view, plot, scale, line.stroke);
                    });
                }}
            />
        </figure>
    );
}

export interface Lane {
    title: string;
    /** Title for narrow windows. */
    short: string;
    isOther: boolean;
    series: Series;
}

const LANE = 20;

/** Bands of states: names if there is room, colour and hatch always. */
export function States({
    lanes,
    view,
    width,
    inks,
    cursor,
    colors,
    dependencies,
}: {
    lanes: Lane[];
    view: View;
    width: number;
    inks: Inks;
    cursor: number | null;
    colors: (state: number) => string;
    dependencies: readonly unknown[];
}) {
    const text = (series: Series, value: number) => series.states?.get(value) ?? String(value);
    const at = (series: Series, time: number) => {
        const value = valueAt(series, time);
        if (!value) return "-";
        return value.low === value.high
            ? text(series, value.low)
            : `${text(series, value.low)} to ${text(series, value.high)}`;
    };
    const visibleLanes = lanes.map(({ title, series }) => {
        const names = new Set<string>();
        for (
            let row = Math.max(0, firstAt(series.time, view.from) - 1);
            row < series.time.length && series.time[row]! <= view.to;
            row++
        )
            if (series.low[row] === series.high[row]) names.add(text(series, series.low[row]!));
        return `${title}: ${[...names].slice(0, 12).join(", ") || "nothing"}`;
    });
    return (
        <figure class="panel" aria-label="Modes">
            <figcaption>
                <span class="title">Modes of the controller</span>
                <ul class="values">
                    {lanes.map(({ title, series, isOther }) => (
                        <li key={`${series.key} ${isOther}`}>
                            {title} {cursor !== null && <b data-series={series.key}>{at(series, cursor)}</b>}
                        </li>
                    ))}
                </ul>
            </figcaption>
            <Canvas
                width={width}
                height={lanes.length * (LANE + 4) + 2}
                label={`Modes of the controller in this window. ${visibleLanes.join(". ")}`}
                dependencies={[...dependencies, view.from, view.to, inks]}
                draw={(context) => {
                    const plot = plotOf(width);
                    context.font = FONT;
                    context.textBaseline = "middle";
                    for (const [index, { series, short }] of lanes.entries()) {
                        const top = index * (LANE + 4) + 1;
                        context.textAlign = "right";
                        context.fillStyle = inks.quiet;
                        context.fillText(fitting(context, short, plot.left - 6), plot.left - 5, top + LANE / 2);
                        clip(context, plot, top, top + LANE, () =>
                            drawStates(context, series, view, width, top, inks, colors),
                        );
                        context.strokeStyle = inks.line;
                        context.strokeRect(plot.left + 0.5, top + 0.5, plot.right - plot.left - 1, LANE - 1);
                    }
                }}
            />
        </figure>
    );
}

/** Returns the longest start of a text that fits. */
function fitting(context: CanvasRenderingContext2D, text: string, room: number): string {
    let start = text.slice(0, 100);
    while (start.length > 1 && context.measureText(start).width > room) start = start.slice(0, -1);
    return start;
}

function drawStates(
    context: CanvasRenderingContext2D,
    series: Series,
    view: View,
    width: number,
    top: number,
    inks: Inks,
    colors: (state: number) => string,
): void {
    const plot = plotOf(width);
    const first = Math.max(0, firstAt(series.time, view.from) - 1);
    for (let row = first; row < series.time.length && series.time[row]! <= view.to; ) {
        const firstRow = row;
        const value = series.low[row]!;
        const isMixed = value !== series.high[row];
        // Consecutive samples of equal value form one band.
        while (
            row < series.time.length &&
            (isMixed ? series.low[row] !== series.high[row] : series.low[row] === value && series.high[row] === value)
        )
            row++;
        const from = Math.max(plot.left, xOf(series.time[firstRow]!, view, plot));
        const to = Math.min(plot.right, xOf(series.time[row] ?? view.to, view, plot));
        if (to <= plot.left) continue;
        const name = isMixed ? "several" : (series.states?.get(value) ?? String(value));
        if (!isMixed && (name === "no" || name === "false")) continue;
        const wide = Math.max(to - from, 1);
        hatch(context, isMixed ? 4 : value, from, top, wide, LANE, isMixed ? inks.quiet : colors(value));
        context.fillStyle = isMixed ? inks.quiet : colors(value);
        context.fillRect(from, top, 1, LANE);
        if (wide < 16) continue;
        context.textAlign = "left";
        const room = wide - 8;
        const label = fitting(context, name, room);
        if (label.length < Math.min(name.length, 3)) continue;
        context.fillStyle = inks.ground;
        context.globalAlpha = 0.75;
        context.fillRect(from + 2, top + 3, context.measureText(label).width + 4, LANE - 6);
        context.globalAlpha = 1;
        context.fillStyle = inks.ink;
        context.fillText(label, from + 4, top + LANE / 2 + 0.5);
    }
}

const ROW = 16;

/** Ticks at drops, marks and declared losses, with a row per kind that occurs. */
export function EventTicks({
    behind,
    kinds,
    counts,
    view,
    width,
    inks,
    cursor,
    lines,
    onLines,
    dependencies,
}: {
    behind: Behind;
    kinds: string[];
    counts: ReadonlyMap<string, number>;
    view: View;
    width: number;
    inks: Inks;
    cursor: number | null;
    lines: readonly string[];
    onLines: (lines: string[]) => void;
    dependencies: readonly unknown[];
}) {
    const { events, flows } = behind;
    const isThinned = events?.thinned ?? false;
    const count = (kind: string) => `${isThinned ? "at least " : ""}${counts.get(kind) ?? 0}`;
    const title = (kind: string) => EVENT_LOOKS[kind]?.title ?? kind;
    const near = cursor === null || !events ? null : nearest(events, cursor, flows, kinds, (view.to - view.from) / 100);
    return (
        <figure class="panel" aria-label="Events">
            <figcaption>
                <span class="title">Events in this window</span>
                <ul class="values">
                    {kinds.map((kind) => (
                        <li key={kind}>
                            <button
                                type="button"
                                class="small"
                                aria-pressed={lines.includes(kind)}
                                title={`${EVENT_LOOKS[kind]?.says ?? kind}; press to draw them as lines through all panels`}
                                onClick={() =>
                                    onLines(
                                        lines.includes(kind) ? lines.filter((each) => each !== kind) : [...lines, kind],
                                    )
                                }
                            >
                                <Swatch
                                    stroke={{
                                        color: eventColor(kind, inks.dark),
                                        dashes: EVENT_LOOKS[kind]?.dashes ?? [],
                                        marker: EVENT_LOOKS[kind]?.marker ?? "",
                                        width: 1,
                                    }}
                                />
                                {title(kind)} <b data-events={kind}>{count(kind)}</b>
                            </button>
                        </li>
                    ))}
                </ul>
                {near !== null && events && (
                    <span class="near">
                        {title(events.kind(near))}
                        {events.text(near) && `: ${events.text(near)}`}, flow {events.flow[near]}
                        {Number.isFinite(events.seq[near]!) && `, packet ${events.seq[near]}`} at{" "}
                        {timeIn(events.time[near]!, view.to - view.from)}
                    </span>
                )}
            </figcaption>
            <Canvas
                width={width}
                height={kinds.length * ROW + 4}
                label={`Events in this window: ${kinds.map((kind) => `${title(kind)} ${count(kind)}`).join(", ") || "none"}`}
                dependencies={[...dependencies, view.from, view.to, inks]}
                draw={(context) => {
                    if (!events) return;
                    const plot = plotOf(width);
                    clip(context, plot, 0, kinds.length * ROW + 4, () => {
                        for (const [index, kind] of kinds.entries()) {
                            const y = index * ROW + ROW / 2 + 2;
                            context.strokeStyle = inks.line;
                            context.beginPath();
                            context.moveTo(plot.left, Math.round(y) + 0.5);
                            context.lineTo(plot.right, Math.round(y) + 0.5);
                            context.stroke();
                            context.strokeStyle = eventColor(kind, inks.dark);
                            context.fillStyle = context.strokeStyle;
                            let last = Number.NEGATIVE_INFINITY;
                            for (
                                let row = firstAt(events.time, view.from);
                                row < events.time.length && events.time[row]! <= view.to;
                                row++
                            ) {
                                if (events.kind(row) !== kind || !flows.has(events.flow[row]!)) continue;
                                const x = xOf(events.time[row]!, view, plot);
                                if (x - last < 0.5) continue;
                                context.lineWidth = 1;
                                if (x - last > 9) drawMarker(context, EVENT_LOOKS[kind]?.marker ?? "o", x, y, 8);
                                else {
                                    context.beginPath();
                                    context.moveTo(x, y - 5);
                                    context.lineTo(x, y + 5);
                                    context.stroke();
                                }
                                last = x;
                            }
                        }
                    });
                }}
            />
        </figure>
    );
}

/** Returns the row of the event nearest to a time, of these kinds and flows, at most `maxDistance` ns away. */
function nearest(
    events: Events,
    time: number,
    flows: ReadonlySet<number>,
    kinds: readonly string[],
    maxDistance: number,
): number | null {
    let nearestRow: number | null = null;
    let distance = maxDistance;
    for (
        let row = firstAt(events.time, time - maxDistance);
        row < events.time.length && events.time[row]! <= time + maxDistance;
        row++
    ) {
        if (!flows.has(events.flow[row]!) || !kinds.includes(events.kind(row))) continue;
        const away = Math.abs(events.time[row]! - time);
        if (away > distance) continue;
        distance = away;
        nearestRow = row;
    }
    return nearestRow;
}

/** Drawing of series, axes and events on a canvas. */

import { drawMarker } from "../ui/looks";
import type { Inks } from "../ui/theme";
import { firstAt, type Series } from "./series";
import { timeTicks, valueTicks } from "./ticks";
import { type Plot, plotOf, type View, xOf } from "./view";

export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif';

/** Look of a line that differs from other lines even without colour. */
export interface Stroke {
    color: string;
    dashes: number[];
    marker: string;
    width: number;
}

export interface Scale {
    low: number;
    high: number;
    top: number;
    bottom: number;
}

export function yOf(value: number, scale: Scale): number {
    return scale.bottom - ((value - scale.low) / (scale.high - scale.low)) * (scale.bottom - scale.top);
}

/** Returns the number of ticks that fit if a label takes `each` pixels. */
function ticksIn(plot: Plot, each: number): number {
    return Math.max(2, Math.floor((plot.right - plot.left) / each));
}

/** Draws the time axis below or above a stack of diagrams. */
export function drawTimeAxis(
    context: CanvasRenderingContext2D,
    width: number,
    height: number,
    view: View,
    inks: Inks,
): void {
    const plot = plotOf(width);
    const { times, labels, base } = timeTicks(view, ticksIn(plot, 96));
    context.font = FONT;
    context.textBaseline = "middle";
    const y = height / 2;
    let free = plot.left - 40;
    if (base) {
        context.fillStyle = inks.ink;
        context.textAlign = "left";
        context.fillText(base, 2, y);
        free = 2 + context.measureText(base).width + 8;
    }
    context.fillStyle = inks.quiet;
    context.strokeStyle = inks.quiet;
    context.textAlign = "center";
    for (const [index, time] of times.entries()) {
        const x = Math.round(xOf(time, view, plot)) + 0.5;
        context.beginPath();
        context.moveTo(x, height - 4);
        context.lineTo(x, height);
        context.stroke();
        const half = context.measureText(labels[index]!).width / 2;
        const at = Math.max(half, Math.min(x, width - half));
        if (at - half < free) continue;
        context.fillText(labels[index]!, at, y - 1);
        free = at + half + 8;
    }
}

/** Draws the frame of a panel: lines at round times and values, with the values at the side. */
export function drawGrid(
    context: CanvasRenderingContext2D,
    plot: Plot,
    scale: Scale,
    view: View,
    inks: Inks,
    values: { values: number[]; labels: string[] } = valueTicks(
        scale.low,
        scale.high,
        Math.max(2, (scale.bottom - scale.top) / 32),
    ),
): void {
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.lineWidth = 1;
    context.strokeStyle = inks.line;
    context.fillStyle = inks.quiet;
    context.beginPath();
    for (const time of timeTicks(view, ticksIn(plot, 96)).times) {
        const x = Math.round(xOf(time, view, plot)) + 0.5;
        if (x < plot.left || x > plot.right) continue;
        context.moveTo(x, scale.top);
        context.lineTo(x, scale.bottom);
    }
    for (const [index, value] of values.values.entries()) {
        const y = Math.round(yOf(value, scale)) + 0.5;
        context.moveTo(plot.left, y);
        context.lineTo(plot.right, y);
        context.fillText(values.labels[index]!, plot.left - 5, y);
    }
    context.stroke();
}

/** Calls `draw` with everything outside of the plot clipped. */
export function clip(
    context: CanvasRenderingContext2D,
    plot: Plot,
    top: number,
    bottom: number,
    draw: () => void,
): void {
    context.save();
    context.beginPath();
    context.rect(plot.left, top, plot.right - plot.left, bottom - top);
    context.clip();
    draw();
    context.restore();
}

/** Returns the range of rows that a view touches, plus one row at either end. */
export function rowsIn(series: Series, view: View): [number, number] {
    const first = Math.max(0, firstAt(series.time, view.from) - 1);
    const last = Math.min(series.time.length, firstAt(series.time, view.to) + 1);
    return [first, last];
}

/** Returns the lowest and highest value in a view, including the value that holds at its start. */
export function extent(series: Series, view: View): [number, number] {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    const [start, last] = rowsIn(series, view);
    const inside = firstAt(series.time, view.from);
    const first = series.kind === "points" && inside < last - 1 ? inside : start;
    const end = series.kind === "points" && last - 1 > first && series.time[last - 1]! > view.to ? last - 1 : last;
    for (let row = first; row < end; row++) {
        if (series.low[row]! < low) low = series.low[row]!;
        if (series.high[row]! > high) high = series.high[row]!;
    }
    return [low, high];
}

/** Returns the shortest gap across which points are not joined: far above the usual distance. */
function longestGap(series: Series, first: number, last: number): number {
    const gaps: number[] = [];
    const stride = Math.max(1, Math.floor((last - first) / 200));
    for (let row = first + 1; row < last; row += stride) gaps.push(series.time[row]! - series.time[row - 1]!);
    gaps.sort((one, other) => one - other);
    return (gaps[gaps.length >> 1] ?? 0) * 25;
}

/** Draws a series: a band from minima to maxima, steps, bars, or joined points. */
export function drawSeries(
    context: CanvasRenderingContext2D,
    series: Series,
    view: View,
    plot: Plot,
    scale: Scale,
    stroke: Stroke,
): void {
    const [first, last] = rowsIn(series, view);
    if (first >= last) return;
    const x = (row: number) => xOf(series.time[row]!, view, plot);
    const y = (value: number) => yOf(value, scale);
    const longest = series.kind === "points" ? longestGap(series, first, last) : Number.POSITIVE_INFINITY;
    context.strokeStyle = stroke.color;
    context.fillStyle = stroke.color;
    context.lineWidth = stroke.width;
    context.lineJoin = "round";
    const parts: [number, number][] = [];
    let begin = first;
    for (let row = first + 1; row <= last; row++) {
        const gap = row < last ? series.time[row]! - series.time[row - 1]! : Number.POSITIVE_INFINITY;
        if (row < last && !(gap > longest && gap / (view.to - view.from) > 0.01)) continue;
        parts.push([begin, row]);
        begin = row;
    }
    // A thinned row covers all time until the next row. If that is wide enough to see, a box shows it.
    const wide = series.thinned && (plot.right - plot.left) / (last - first) > 4;
    if (series.thinned) {
        context.globalAlpha = 0.3;
        for (const [from, to] of parts) {
            context.beginPath();
            const holds = series.kind !== "points" || wide;
            const end = (row: number) => (holds && row + 1 < to ? x(row + 1) : x(row));
            for (let row = from; row < to; row++) {
                context.lineTo(x(row), y(series.high[row]!));
                if (holds) context.lineTo(end(row), y(series.high[row]!));
            }
            for (let row = to - 1; row >= from; row--) {
                if (holds) context.lineTo(end(row), y(series.low[row]!));
                context.lineTo(x(row), y(series.low[row]!));
            }
            context.fill();
        }
        context.globalAlpha = 1;
    }
    context.setLineDash(stroke.dashes);
    for (const [from, to] of parts) {
        if (wide && series.kind === "points") {
            for (const edge of [series.low, series.high]) {
                context.beginPath();
                for (let row = from; row < to; row++) {
                    context.lineTo(x(row), y(edge[row]!));
                    if (row + 1 < to) context.lineTo(x(row + 1), y(edge[row]!));
                }
                context.stroke();
            }
            continue;
        }
        if (series.kind === "points") {
            // The line includes the range of each row, since a single peak must be visible at any zoom.
            context.beginPath();
            let up = true;
            for (let row = from; row < to; row++) {
                const low = y(series.low[row]!);
                const high = y(series.high[row]!);
                context.lineTo(x(row), up ? low : high);
                if (low !== high) context.lineTo(x(row), up ? high : low);
                up = !up;
            }
            context.stroke();
            continue;
        }
        context.beginPath();
        for (let row = from; row < to; row++) {
            const width = series.kind === "bars" && !series.thinned ? series.bin_ns : 0;
            const end = width ? series.time[row]! + width : (series.time[row + 1] ?? view.to);
            const high = y(series.high[row]!);
            context.lineTo(x(row), high);
            if (series.low[row] !== series.high[row]) {
                context.lineTo(x(row), y(series.low[row]!));
                context.lineTo(x(row), high);
            }
            context.lineTo(xOf(end, view, plot), high);
        }
        context.stroke();
    }
    context.setLineDash([]);
    const room = (plot.right - plot.left) / Math.max(1, last - first);
    if (series.kind === "points" && !series.thinned && room > 7) {
        for (let row = first; row < last; row++) {
            context.beginPath();
            context.arc(x(row), y(series.low[row]!), 2.2, 0, 2 * Math.PI);
            context.fill();
        }
    }
    for (const [from, to] of parts) {
        if (to - from > 1 || series.kind !== "points" || room > 7) continue;
        context.fillRect(x(from) - 1, y(series.high[from]!) - 1, 2, y(series.low[from]!) - y(series.high[from]!) + 2);
    }
    // Sparse markers identify the line for readers who do not see colours.
    if (stroke.marker === "") return;
    let free = plot.left + 20 + ((stroke.marker.charCodeAt(0) * 37) % 90);
    for (let row = first; row < last; row++) {
        if (x(row) < free) continue;
        context.lineWidth = 1;
        drawMarker(context, stroke.marker, x(row), y((series.low[row]! + series.high[row]!) / 2), 7);
        free = x(row) + 150;
    }
}

const HATCHES = ["/", "", "\\", "-", "x", "|"];

/** Fills a rectangle with one of six hatches. Neighbours then differ even without colour. */
export function hatch(
    context: CanvasRenderingContext2D,
    number: number,
    x: number,
    y: number,
    width: number,
    height: number,
    color: string,
): void {
    context.globalAlpha = 0.22;
    context.fillStyle = color;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 0.5;
    const form = HATCHES[number % HATCHES.length]!;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.beginPath();
    const step = 8;
    const start = Math.floor((x - height) / step) * step;
    for (let at = start; at < x + width && form !== "" && form !== "-"; at += step) {
        if (form === "/" || form === "x") {
            context.moveTo(at, y + height);
            context.lineTo(at + height, y);
        }
        if (form === "\\" || form === "x") {
            context.moveTo(at, y);
            context.lineTo(at + height, y + height);
        }
        if (form === "|") {
            context.moveTo(at, y);
            context.lineTo(at, y + height);
        }
    }
    if (form === "-") {
        for (let at = y + 3; at < y + height; at += 5) {
            context.moveTo(x, at);
            context.lineTo(x + width, at);
        }
    }
    context.stroke();
    context.restore();
    context.globalAlpha = 1;
}

/** Look and meaning of each kind of event, shared by all diagrams. */
export const EVENT_LOOKS: Record<
    string,
    { title: string; color: string; dark: string; marker: string; dashes: number[]; says: string }
> = {
    drop: {
        title: "dropped",
        color: "#b3261e",
        dark: "#ff8a80",
        marker: "x",
        dashes: [],
        says: "a packet was dropped on the path",
    },
    mark: {
        title: "CE marks",
        color: "#8a6100",
        dark: "#f2c14e",
        marker: "*",
        dashes: [2, 2],
        says: "a queue marked a packet: congestion experienced",
    },
    lost: {
        title: "declared lost",
        color: "#7b3fa0",
        dark: "#d3a4f0",
        marker: "v",
        dashes: [6, 3],
        says: "the sender decided that a packet was lost",
    },
    ack_drop: {
        title: "ACKs dropped",
        color: "#4d5866",
        dark: "#b7c0cc",
        marker: "+",
        dashes: [1, 3],
        says: "an acknowledgement was dropped on its way back",
    },
    mode: {
        title: "mode changes",
        color: "#00695c",
        dark: "#66cdbb",
        marker: "d",
        dashes: [8, 3, 2, 3],
        says: "the controller entered another mode",
    },
};

export function eventColor(kind: string, dark: boolean): string {
    const look = EVENT_LOOKS[kind];
    return (dark ? look?.dark : look?.color) ?? (dark ? "#b7c0cc" : "#4d5866");
}

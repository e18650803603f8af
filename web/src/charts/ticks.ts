/** Ticks of axes and their labels. Times keep every nanosecond. */

import type { View } from "./view";

const SECOND = 1e9;

/** Returns a time in seconds with `digits` decimals (nine: every nanosecond), computed in integers. */
export function exactTime(ns: number, digits = 9): string {
    const unit = 10 ** (9 - digits);
    const roundedTime = Math.round(Math.abs(ns) / unit) * unit;
    const wholeSeconds = Math.floor(roundedTime / SECOND);
    const rest = String(Math.round(roundedTime - wholeSeconds * SECOND)).padStart(9, "0");
    const sign = ns < 0 && roundedTime > 0 ? "−" : "";
    return digits === 0 ? `${sign}${wholeSeconds} s` : `${sign}${wholeSeconds}.${rest.slice(0, digits)} s`;
}

/** Returns a time with the digits that a window of length `span` needs: to about a thousandth of the window. */
export function timeIn(ns: number, span: number): string {
    const digits = Math.ceil(Math.log10(SECOND / Math.max(span / 1000, 1)));
    return exactTime(ns, Math.max(0, Math.min(9, digits)));
}

/** Returns a length of time with four digits and a unit that suits it. */
export function spanText(ns: number): string {
    const size = Math.abs(ns);
    const [unit, name] =
        size >= SECOND ? [SECOND, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "µs"] : [1, "ns"];
    const value = ns / unit;
    const digits = unit === 1 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.max(Math.abs(value), 1))));
    return `${trimZeros(value.toFixed(digits)).replace("-", "−")} ${name}`;
}

function trimZeros(text: string): string {
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Returns a round step (1, 2 or 5 times a power of ten) that divides `span` into about `count` steps. */
export function roundStep(span: number, count: number): number {
    const rough = span / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const part = rough / power;
    return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * power;
}

export interface TimeTicks {
    times: number[];
    labels: string[];
    /** Prefix that every label continues in a short window, such as "12.345678 s +"; else "". */
    base: string;
}

/** Returns ticks over a window. If the window is shorter than 1 ms, labels count from a round time at its left. */
export function timeTicks(view: View, count: number): TimeTicks {
    const span = view.to - view.from;
    const step = Math.max(1, roundStep(span, count));
    const times: number[] = [];
    const first = Math.ceil(view.from / step);
    for (let number = first; number * step <= view.to; number++) times.push(Math.round(number * step));
    if (span >= 1e6) {
        const digits = Math.max(0, Math.min(9, Math.round(9 - Math.floor(Math.log10(step) + 1e-9))));
        return { times, labels: times.map((each) => exactTime(each, digits)), base: "" };
    }
    const round = 10 ** Math.min(6, Math.ceil(Math.log10(span)) + 1);
    const start = Math.floor(view.from / round) * round;
    const [unit, name] = span >= 2e3 ? [1e3, "µs"] : [1, "ns"];
    return {
        times,
        labels: times.map((each) => `+${trimZeros(((each - start) / unit).toFixed(unit === 1 ? 0 : 3))} ${name}`),
        base: `${exactTime(start, 9 - Math.round(Math.log10(round)))} +`,
    };
}

/** Returns the range of an axis: from zero unless that wastes half of the range, with a small margin. */
export function axisRange(low: number, high: number): [number, number] {
    if (!(low <= high)) return [0, 1];
    if (low === high) {
        const room = Math.abs(low) * 0.05 || 1;
        return low === 0 ? [0, 1] : [low - room, high + room];
    }
    const room = (high - low) * 0.06;
    if (low >= 0 && low < high * 0.5) return [0, high + room];
    return [low - room, high + room];
}

const LARGE: [number, string][] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
];

/** Returns round values and their labels. Large values are in thousands, millions or milliards. */
export function valueTicks(low: number, high: number, count: number): { values: number[]; labels: string[] } {
    const step = roundStep(high - low, count);
    const largest = Math.max(Math.abs(low), Math.abs(high));
    const [unit, name] = (largest >= 1e5 && LARGE.find(([size]) => largest >= size)) || [1, ""];
    const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step / unit) + 1e-9)));
    const values: number[] = [];
    for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number++)
        values.push(number * step);
    return { values, labels: values.map((each) => (each === 0 ? "0" : `${(each / unit).toFixed(digits)}${name}`)) };
}

/** Returns a value with about five significant digits. */
export function valueText(value: number): string {
    if (Number.isNaN(value)) return "-";
    if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
    const size = Math.abs(value);
    if (size >= 1e5 && size < 1e15) return String(Math.round(value));
    if (size !== 0 && (size < 1e-3 || size >= 1e15)) return value.toPrecision(4);
    return trimZeros(value.toFixed(Math.max(0, Math.min(6, 4 - Math.floor(Math.log10(size || 1))))));
}

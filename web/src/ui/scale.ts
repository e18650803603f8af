/** Axes of charts: positions and ticks, by the rules of the project's figures. */

import type { Field } from "../data/source";
import { capitalize, inSentence } from "../data/words";

export interface Scale {
    /** Returns the place of a value, pixels. */
    at: (value: number) => number;
    /** Returns the value at a place. */
    value: (place: number) => number;
    ticks: number[];
    /** Returns a tick as text, with enough digits to differ from the next tick. */
    text: (tick: number) => string;
    label: string;
}

const LINEAR = 2;
const AIR = 0.05;
const FAR = 0.6;
const LONG = 100;
const TINY = 1e-9;

/**
 * Returns true if delays need a logarithmic axis. By Pantheon's rule the enclosing powers of two differ by more than a
 * factor of four.
 */
export function spansWidely(low: number, high: number): boolean {
    const upper = (most: number) => (most < 2 ? 2 : 2 ** Math.ceil(Math.log2(most)));
    const lower = low < 0 ? -upper(-low) : low < 2 ? 0 : 2 ** Math.floor(Math.log2(low));
    const top = upper(high);
    return (lower <= -2 && top >= 2) || (lower === 0 && top >= 8) || (lower >= 2 && top > 4 * lower);
}

/** Returns the axis of a field for values in display units, from the place `start` to `end`. */
export function fieldScale(field: Field, values: Iterable<number>, start: number, end: number): Scale {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
    }
    if (low > high) [low, high] = [0, 1];
    const isDelay = field.unit === "ms";
    const logarithmic = isDelay ? spansWidely(low, high) : field.unit !== "Mbit/s" && low > TINY && high > LONG * low;
    const below = isDelay ? LINEAR : 0;
    const fromZero = !isDelay && !logarithmic && low >= 0 && (low < FAR * high || low === high);
    const air = AIR * (high - low) || Math.max(0.05 * Math.abs(high), 0.5);
    let [first, last] = fromZero ? [0, high * (1 + AIR) || 1] : [low - air, high + air];
    if (logarithmic && low < below) [first, last] = [low - Math.min(AIR * (high - low), 1), high * 1.05];
    else if (logarithmic) {
        const factor = Math.max((high / low) ** AIR, 1.01);
        [first, last] = [low / factor, high * factor];
    }
    const isReversed = field.better === "less";
    const unusual = [
        ...(isReversed ? ["decreasing"] : []),
        ...(logarithmic ? ["logarithmic"] : !isDelay && !fromZero ? ["not from 0"] : []),
    ];
    const unit = field.unit ? ` (${field.unit})` : "";
    const label = [`${capitalize(inSentence(field.title))}${unit}`, ...unusual].join(", ");
    const turn = logarithmic ? (below && first < below ? symmetric : logarithm) : identity;
    const [from, to] = isReversed ? [last, first] : [first, last];
    const [a, b] = [turn.there(from), turn.there(to)];
    const length = Math.abs(end - start);
    const ticks = logarithmic ? logTicks(first, last, below, length) : linearTicks(first, last, length / 70);
    return {
        at: (value) => start + ((turn.there(value) - a) / (b - a)) * (end - start),
        value: (place) => turn.back(a + ((place - start) / (end - start)) * (b - a)),
        ticks,
        text: logarithmic ? tickText : stepText(ticks),
        label,
    };
}

/** Returns an axis without a field, for example of fractions. */
export function plainScale(low: number, high: number, start: number, end: number, label: string): Scale {
    const width = high - low || 1;
    const ticks = linearTicks(low, high, Math.abs(end - start) / 60);
    return {
        at: (value) => start + ((value - low) / width) * (end - start),
        value: (place) => low + ((place - start) / (end - start)) * width,
        ticks,
        text: stepText(ticks),
        label,
    };
}

const identity = { there: (value: number) => value, back: (value: number) => value };
const logarithm = { there: Math.log, back: Math.exp };
/** Scale that is linear up to 2 and continues in powers of two. */
const symmetric = {
    there: (value: number) =>
        Math.abs(value) <= LINEAR ? value / 4 : Math.sign(value) * (0.5 + Math.log2(Math.abs(value) / LINEAR)),
    back: (value: number) =>
        Math.abs(value) <= 0.5 ? value * 4 : Math.sign(value) * LINEAR * 2 ** (Math.abs(value) - 0.5),
};

export function linearTicks(low: number, high: number, about: number): number[] {
    const rough = (high - low) / Math.max(2, Math.min(8, about));
    if (!(rough > 0)) return [low];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 2.5, 5].find((each) => each * power >= rough) ?? 10);
    const ticks = [];
    for (let count = Math.ceil(low / step - 1e-9); count * step <= high + step * 1e-9; count++)
        ticks.push(Number((count * step).toPrecision(12)));
    return ticks;
}

const STEPS = [
    [1],
    [1, 2, 5],
    [1, 1.5, 2, 3, 5, 7],
    Array.from({ length: 18 }, (_, step) => 1 + step / 2),
    Array.from({ length: 45 }, (_, step) => 1 + step / 5),
];

function logTicks(low: number, high: number, below: number, length: number): number[] {
    const maxTicks = length > 320 ? 9 : 6;
    const thinOut = (values: number[]) =>
        values.filter((_, place) => place % Math.ceil(values.length / maxTicks) === 0);
    if (low < below) {
        const powers = Array.from({ length: 40 }, (_, power) => 2 ** (power + 1));
        return thinOut(
            [...powers.map((each) => -each).reverse(), 0, ...powers].filter((each) => each >= low && each <= high),
        );
    }
    for (const steps of STEPS) {
        const ticks = [];
        for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade++)
            for (const step of steps) {
                const value = Number((step * 10 ** decade).toPrecision(6));
                if (value >= low && value <= high) ticks.push(value);
            }
        if (ticks.length >= 4) return thinOut(ticks);
    }
    return linearTicks(low, high, 5);
}

/** Returns the format of evenly spaced ticks: all have the digits that the step needs. */
function stepText(ticks: readonly number[]): (tick: number) => string {
    const step = ticks.length > 1 ? Math.abs(ticks[1]! - ticks[0]!) : 0;
    if (!(step > 0) || Math.abs(ticks.at(-1)!) >= 1e7) return tickText;
    const digits = Math.max(
        0,
        Math.min(
            9,
            ...[0, 1, 2, 3, 4, 5, 6, 7, 8].filter(
                (each) => Math.abs(step * 10 ** each - Math.round(step * 10 ** each)) < 1e-6,
            ),
        ),
    );
    return (tick) => tick.toFixed(digits);
}

export function tickText(value: number): string {
    return String(Number(value.toPrecision(5)));
}

/** Formatting of numbers for people. */

const SI: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
];

/** Returns a time in a unit that suits `scale_ns`, the length of the shown part. */
export function timeText(ns: number, scale_ns = Math.abs(ns)): string {
    const [size, unit] = SI.find(([each]) => scale_ns >= each) ?? [1, "ns"];
    const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(scale_ns / 1000, 1)))));
    return `${(ns / size).toFixed(digits)} ${unit}`;
}

/** Returns a number with `digits` decimals, or more if it would read as zero; "-" without a value. */
export function numberText(value: number | null | undefined, digits = 3): string {
    if (value === null || value === undefined || Number.isNaN(value)) return "-";
    if (value !== 0 && Math.abs(value) < 10 ** -digits) return value.toPrecision(2);
    return value.toFixed(digits);
}

/** Returns a message with three digits of each number of more than twenty digits: 1e-320 for 320 zeros. */
export function withShortNumbers(message: string): string {
    return message.replaceAll(/\d[\d.]{20,}/g, (digits) => {
        const value = Number(digits);
        return Number.isNaN(value) ? digits : String(Number(value.toPrecision(3)));
    });
}

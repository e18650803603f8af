/** Colours of cells on which text is readable. */

import type { Inks } from "./theme";

function mix(one: string, other: string, part: number): string {
    const channel = (color: string, at: number) => Number.parseInt(color.slice(at, at + 2), 16);
    const channels = [1, 3, 5].map((at) => Math.round(channel(one, at) * (1 - part) + channel(other, at) * part));
    return `rgb(${channels.join(" ")})`;
}

/** Returns a shade from the ground (0) to a strong colour (1). */
export function shade(inks: Inks, part: number): string {
    return mix(inks.ground, inks.dark ? "#4f7fd9" : "#4d86ea", 0.05 + 0.55 * Math.max(0, Math.min(1, part)));
}

/**
 * Returns a shade from orange (-1, nothing) over the ground (0, fair) to blue (1, everything), readable without red and
 * green.
 */
export function balance(inks: Inks, part: number): string {
    const strong = 0.6 * Math.min(1, Math.abs(part));
    return mix(inks.ground, part < 0 ? (inks.dark ? "#c46a1a" : "#e69138") : inks.dark ? "#4f7fd9" : "#4d86ea", strong);
}

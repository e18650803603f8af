/** Strokes of lines in diagrams: colour, dashes, marker. */

import { freeLook, onGround } from "../ui/looks";
import type { Stroke } from "./draw";

/** Look of all lines of a flow. */
export interface FlowLook {
    color: string;
    dashes: number[];
    marker: string;
}

const MARKERS = ["o", "s", "^", "D", "v", "x"];
/** Dashes that distinguish lines of one flow in a panel, where colours distinguish flows. */
const VARIANTS = [[], [2, 2], [8, 2, 2, 2], [1, 3]];

/**
 * Returns the stroke of a line whose flow has its own look. `variant` distinguishes its lines if several flows are
 * drawn.
 */
export function ownStroke(look: FlowLook, variant: number, name: string, dark: boolean): Stroke {
    if (variant === 0) return { ...look, width: 1.5 };
    if (name === "capacity" || name === "bdp") return strokeOf(0, 0, false, dark, name);
    return { color: look.color, dashes: VARIANTS[variant % VARIANTS.length]!, marker: look.marker, width: 1 };
}

/** Returns the stroke of a line. `tone` is the number of its colour; `variant` distinguishes lines of one colour. */
export function strokeOf(tone: number, variant: number, isOther: boolean, dark: boolean, name: string): Stroke {
    if (name === "capacity" || name === "bdp")
        return { color: dark ? "#7d8694" : "#8d96a3", dashes: isOther ? [5, 4] : [], marker: "", width: 1 };
    const look = freeLook(tone);
    return {
        color: onGround(look.color, dark),
        dashes: isOther ? [5, 4] : variant > 0 ? VARIANTS[variant % VARIANTS.length]! : look.dashes,
        marker: isOther ? "" : MARKERS[(tone + 2 * variant) % MARKERS.length]!,
        width: isOther ? 1.2 : 1.4,
    };
}

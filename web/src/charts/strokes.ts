/** How the lines of diagrams are drawn: colour, dashes, marker. */

import { freeLook, onGround } from "../ui/looks";
import type { Stroke } from "./draw";

/** How the lines of a flow are drawn. */
export interface FlowLook {
    color: string;
    dashes: number[];
    marker: string;
}

const MARKERS = ["o", "s", "^", "D", "v", "x"];
/** Lines of one flow in one panel differ by their dashes where colours tell flows apart. */
const VARIANTS = [[], [2, 2], [8, 2, 2, 2], [1, 3]];

/** Returns how a line is drawn whose flow has a look of its own. `variant` tells its lines apart where several flows are drawn. */
export function ownStroke(look: FlowLook, variant: number, name: string, dark: boolean): Stroke {
    if (variant === 0) return { ...look, width: 1.5 };
    if (name === "capacity" || name === "bdp") return strokeOf(0, 0, false, dark, name);
    return { color: look.color, dashes: VARIANTS[variant % VARIANTS.length]!, marker: look.marker, width: 1 };
}

/** Returns how a line is drawn. `tone` is the number of its colour, `variant` tells lines of one colour apart. */
export function strokeOf(tone: number, variant: number, other: boolean, dark: boolean, name: string): Stroke {
    if (name === "capacity" || name === "bdp")
        return { color: dark ? "#7d8694" : "#8d96a3", dashes: other ? [5, 4] : [], marker: "", width: 1 };
    const look = freeLook(tone);
    return {
        color: onGround(look.color, dark),
        dashes: other ? [5, 4] : variant > 0 ? VARIANTS[variant % VARIANTS.length]! : look.dashes,
        marker: other ? "" : MARKERS[(tone + 2 * variant) % MARKERS.length]!,
        width: other ? 1.2 : 1.4,
    };
}

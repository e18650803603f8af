/** Looks of a scenario's flows: no two flows share colour, dashes and marker. */

import { onGround } from "../ui/looks";
import type { Inks } from "../ui/theme";
import type { Catalogue } from "./catalogue";
import { findScheme } from "./catalogue";
import type { Scenario } from "./scenario";

/** Okabe and Ito's colours, for flows whose scheme colour is already in use. */
const FREE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666"];
/** Dashes, pixels; the first flow has a solid line. */
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [2, 4], [7, 2, 2, 2, 2, 2]];
const MARKERS = ["o", "s", "^", "D", "v", "p", "*", "h"];

export interface Line {
    /** Number of the flow, from 1. */
    flow: number;
    name: string;
    title: string;
    color: string;
    dashes: number[];
    marker: string;
}

/** Returns the lines of a scenario's flows, cross traffic last. */
export function linesOf(scenario: Scenario, catalogue: Catalogue, inks: Inks): Line[] {
    const usedColors = new Set<string>();
    const markers = new Set<string>();
    const names = scenario.flows.map((flow) => flow.scheme);
    if (scenario.cross_mbps > 0) names.push("udp-cbr");
    return names.map((name, index) => {
        const scheme = findScheme(catalogue, name);
        const schemeColor = scheme?.color ?? "";
        const color = [schemeColor, ...FREE].find((each) => !usedColors.has(each)) ?? schemeColor;
        usedColors.add(color);
        const marker = [scheme?.marker ?? "o", ...MARKERS].find((each) => !markers.has(each)) ?? "o";
        markers.add(marker);
        const isCross = index >= scenario.flows.length;
        const alike = names.filter((each) => each === name).length > 1;
        const title = isCross ? "cross traffic" : (scheme?.title ?? name);
        return {
            flow: index + 1,
            name,
            title: alike && !isCross ? `${title} (flow ${index + 1})` : title,
            color: color === "" ? inks.ink : onGround(color, inks.dark),
            dashes: DASHES[index % DASHES.length]!,
            marker,
        };
    });
}

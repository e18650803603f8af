/** Which series are in which panel. */

import type { Columns } from "../data/columns";
import type { SeriesHeader, WindowMeta } from "../data/source";
import type { Described } from "./engine";

export interface PanelKind {
    id: string;
    title: string;
    unit: string;
    /** What a reader learns from it, for those who do not see it. */
    says: string;
    /** Names of fields; the first that a flow has is drawn. */
    fields: string[];
    /** Of flows, or of the link. */
    of: "flow" | "link";
    /** These flows alone: the values of others have other names. */
    owners?: string[];
    /** Names of the values 0, 1, ... */
    names?: string[];
}

export const PANELS: PanelKind[] = [
    {
        id: "throughput",
        title: "Throughput",
        unit: "Mbit/s",
        says: "bytes that arrived, by time",
        fields: ["throughput"],
        of: "flow",
    },
    {
        id: "delay",
        title: "One-way delay",
        unit: "ms",
        says: "from the sender to the receiver, smallest and largest",
        fields: ["one_way_delay"],
        of: "flow",
    },
    {
        id: "queue",
        title: "Queue before the link",
        unit: "packets",
        says: "packets that wait",
        fields: ["queue"],
        of: "link",
    },
    {
        id: "cwnd",
        title: "Congestion window",
        unit: "packets",
        says: "packets that a sender may have on the way; of schemes without a window what is in flight",
        fields: ["cwnd", "in_flight"],
        of: "flow",
    },
    {
        id: "pacing",
        title: "Pacing rate",
        unit: "Mbit/s",
        says: "how fast a sender sends; of schemes that do not pace, what they sent",
        fields: ["pacing_rate", "rate", "target_rate", "send_rate"],
        of: "flow",
    },
];

/** What controllers call their phases. */
const MODES = ["mode", "state", "phase"];

/** A panel for each flow whose controller has phases with names; flows with the same ones share it. */
export function modePanels(window: Columns<WindowMeta>): PanelKind[] {
    const panels = new Map<string, PanelKind>();
    for (const { owner, name, names } of window.meta.series) {
        if (!owner.startsWith("flow ") || !MODES.includes(name) || !names || names.length < 2) continue;
        const alike = JSON.stringify([name, names]);
        const known = panels.get(alike);
        if (known) {
            known.owners?.push(owner);
            continue;
        }
        panels.set(alike, {
            id: `${name} ${owner}`,
            title: "Mode",
            unit: "",
            says: "what the controller is doing",
            fields: [name],
            of: "flow",
            owners: [owner],
            names: names.map((each) => each.replaceAll("_", " ")),
        });
    }
    return [...panels.values()];
}

/** Names of all series that panels show. */
export function shownFields(other: string): string[] {
    return [...new Set([...PANELS.flatMap((panel) => panel.fields), ...MODES, ...(other ? [other] : [])])];
}

/** Fields of flows that panels do not show: the reader can have one more. */
export function otherFields(series: Described[]): string[] {
    const shown = shownFields("");
    const names = series.filter(({ owner }) => owner.startsWith("flow ")).map(({ name }) => name);
    return [...new Set(names)].filter((name) => !shown.includes(name)).sort();
}

export function panelOf(field: string, window: Columns<WindowMeta>): PanelKind {
    const found = window.meta.series.find((one) => one.name === field);
    const { title = field, unit = "" } = found ?? {};
    return { id: `other ${field}`, title, unit, says: "a field of the sender", fields: [field], of: "flow" };
}

/** The series of a panel: at most one of each flow, or that of the bottleneck. */
export function seriesOf(panel: PanelKind, window: Columns<WindowMeta>): SeriesHeader[] {
    const { series } = window.meta;
    if (panel.of === "link") {
        const found = series.find((one) => one.owner.startsWith("link data/") && panel.fields.includes(one.name));
        return found ? [found] : [];
    }
    const owners =
        panel.owners ?? [...new Set(series.map((one) => one.owner))].filter((one) => one.startsWith("flow "));
    return owners.flatMap((owner) => {
        for (const field of panel.fields) {
            const found = series.find((one) => one.owner === owner && one.name === field && one.rows > 0);
            if (found) return [found];
        }
        return [];
    });
}

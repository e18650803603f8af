/** Which series are in which panel. */

import type { Columns } from "../data/columns";
import type { SeriesHeader, WindowMeta } from "../data/source";

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
    factor?: number;
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
    {
        id: "mode",
        title: "Mode",
        unit: "",
        says: "what the controller is doing, where it has phases",
        fields: ["mode", "state", "phase"],
        of: "flow",
    },
];

/** Fields of flows that panels do not show yet: the reader can have one more. */
export function otherFields(window: Columns<WindowMeta>): string[] {
    const shown = new Set(PANELS.filter((panel) => panel.of === "flow").flatMap((panel) => panel.fields));
    const names = window.meta.series.filter((one) => one.owner.startsWith("flow ")).map((one) => one.name);
    return [...new Set(names)].filter((name) => !shown.has(name)).sort();
}

export function panelOf(field: string, window: Columns<WindowMeta>): PanelKind {
    const found = window.meta.series.find((one) => one.name === field);
    const title = (found?.title ?? field).replaceAll("_", " ");
    return { id: "other", title, unit: found?.unit ?? "", says: "chosen field", fields: [field], of: "flow" };
}

/** `0 startup, 1 drain`: names of the values of a field. */
export function namesOf(unit: string): Map<number, string> {
    const found = [...unit.matchAll(/(\d+) ([^,]+)/g)];
    return new Map(found.map(([, number, name]) => [Number(number), name!.replaceAll("_", " ").trim()]));
}

/** The series of a panel: at most one of each flow, or that of the bottleneck. */
export function seriesOf(panel: PanelKind, window: Columns<WindowMeta>): SeriesHeader[] {
    const { series } = window.meta;
    if (panel.of === "link") {
        const found = series.find((one) => one.owner.startsWith("link data/") && panel.fields.includes(one.name));
        return found ? [found] : [];
    }
    const owners = [...new Set(series.map((one) => one.owner))].filter((owner) => owner.startsWith("flow "));
    return owners.flatMap((owner) => {
        for (const field of panel.fields) {
            const found = series.find((one) => one.owner === owner && one.name === field && one.rows > 0);
            if (found) return [found];
        }
        return [];
    });
}

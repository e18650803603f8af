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
    /** One flow alone: the values of others have other names. */
    owner?: string;
    /** Names of values. */
    names?: Map<number, string>;
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
    for (const header of window.meta.series) {
        const names = namesOf(header.unit);
        if (!header.owner.startsWith("flow ") || !MODES.includes(header.name) || names.size < 2) continue;
        const known = panels.get(header.unit);
        if (known) {
            known.owner += `,${header.owner}`;
            continue;
        }
        panels.set(header.unit, {
            id: `mode ${header.owner}`,
            title: "Mode",
            unit: "",
            says: "what the controller is doing",
            fields: [header.name],
            of: "flow",
            owner: header.owner,
            names,
        });
    }
    return [...panels.values()];
}

/** Fields of flows that panels do not show yet: the reader can have one more. */
export function otherFields(window: Columns<WindowMeta>): string[] {
    const shown = new Set(PANELS.filter((panel) => panel.of === "flow").flatMap((panel) => panel.fields));
    for (const mode of MODES) shown.add(mode);
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
    const owners = panel.owner
        ? panel.owner.split(",")
        : [...new Set(series.map((one) => one.owner))].filter((owner) => owner.startsWith("flow "));
    return owners.flatMap((owner) => {
        for (const field of panel.fields) {
            const found = series.find((one) => one.owner === owner && one.name === field && one.rows > 0);
            if (found) return [found];
        }
        return [];
    });
}

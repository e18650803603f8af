/** Parts of charts in SVG: frame, markers, what stands beside the pointer. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SchemeLook } from "../data/source";
import { markerPath, onGround } from "./looks";
import type { Scale } from "./scale";

/** The width of an element, for what is drawn in it. */
export function useWidth<E extends HTMLElement>(first = 480): [{ current: E | null }, number] {
    const element = useRef<E>(null);
    const [width, setWidth] = useState(first);
    useLayoutEffect(() => {
        const found = element.current;
        if (!found) return;
        const measure = () => setWidth(Math.max(200, Math.floor(found.clientWidth)));
        const observer = new ResizeObserver(measure);
        observer.observe(found);
        measure();
        return () => observer.disconnect();
    }, []);
    return [element, width];
}

export interface Area {
    left: number;
    right: number;
    top: number;
    bottom: number;
}

/** The room that the texts of the y axis take. */
export function leftOf(y: Scale): number {
    return 26 + 6.9 * Math.max(...y.ticks.map((tick) => y.text(tick).length));
}

/** Lines and texts of both axes. */
export function Frame({ area, x, y }: { area: Area; x: Scale; y: Scale }) {
    const middle = (area.left + area.right) / 2;
    const high = (area.top + area.bottom) / 2;
    return (
        // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus
        <g class="frame" aria-hidden="true">
            {x.ticks.map((tick) => (
                <g key={`x${tick}`}>
                    <line class="rule" x1={x.at(tick)} x2={x.at(tick)} y1={area.top} y2={area.bottom} />
                    <text x={x.at(tick)} y={area.bottom + 15} text-anchor="middle">
                        {x.text(tick)}
                    </text>
                </g>
            ))}
            {y.ticks.map((tick) => (
                <g key={`y${tick}`}>
                    <line class="rule" x1={area.left} x2={area.right} y1={y.at(tick)} y2={y.at(tick)} />
                    <text x={area.left - 6} y={y.at(tick) + 4} text-anchor="end">
                        {y.text(tick)}
                    </text>
                </g>
            ))}
            <line class="axis" x1={area.left} x2={area.right} y1={area.bottom} y2={area.bottom} />
            <line class="axis" x1={area.left} x2={area.left} y1={area.top} y2={area.bottom} />
            <text class="label" x={middle} y={area.bottom + 32} text-anchor="middle">
                {x.label}
            </text>
            <text class="label" x={12} y={high} text-anchor="middle" transform={`rotate(-90 12 ${high})`}>
                {y.label}
            </text>
        </g>
    );
}

export interface Look {
    color: string;
    marker: string;
    /** What fills the marker: its colour, or that of the ground. */
    fill: string;
    dashes: string;
}

/** How a scheme is drawn on the ground of the page. */
export function lookOf(schemes: Record<string, SchemeLook>, scheme: string, dark: boolean): Look {
    const found = schemes[scheme];
    const color = found?.color.startsWith("#") ? found.color : "#5a616c";
    const seen = onGround(color, dark);
    return {
        color: seen,
        marker: found?.marker ?? "o",
        fill: found?.hollow ? "var(--ground)" : seen,
        dashes: found?.dashes.map((each) => each * 1.8).join(" ") ?? "",
    };
}

/** Markers and names. */
export function Legend({ schemes, looks }: { schemes: readonly string[]; looks: (scheme: string) => Look }) {
    return (
        <ul class="legend" aria-label="Schemes">
            {schemes.map((scheme) => {
                const look = looks(scheme);
                return (
                    <li key={scheme}>
                        <svg width="34" height="14" aria-hidden="true">
                            <line
                                x1="1"
                                x2="33"
                                y1="7"
                                y2="7"
                                stroke={look.color}
                                stroke-width="1.8"
                                stroke-dasharray={look.dashes}
                            />
                            <path
                                d={markerPath(look.marker, 17, 7, 10)}
                                fill={look.fill}
                                stroke={look.color}
                                stroke-width="1.5"
                            />
                        </svg>
                        <span class="name">{scheme}</span>
                    </li>
                );
            })}
        </ul>
    );
}

/** A part that scrolls sideways, by keys too. */
export function Scrolling({ label, children }: { label: string; children: ComponentChildren }) {
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to take the keys
        <section class="scroll" tabIndex={0} aria-label={label}>
            {children}
        </section>
    );
}

/** What stands beside the pointer. It is for the eye alone: all of it is in tables too. */
export function Tip({ x, y, width, children }: { x: number; y: number; width: number; children: ComponentChildren }) {
    const right = x > width / 2;
    return (
        <div
            class="tip"
            aria-hidden="true"
            style={
                right ? { right: `${width - x + 12}px`, top: `${y + 8}px` } : { left: `${x + 12}px`, top: `${y + 8}px` }
            }
        >
            {children}
        </div>
    );
}

/** Places for names beside points: to the right, the left, above, below, where nothing else is; null where there is no room. */
export function placeNames(
    points: readonly { x: number; y: number; name: string }[],
    area: Area,
): ({ x: number; y: number; anchor: "start" | "end" | "middle" } | null)[] {
    const taken = points.map(({ x, y }) => ({ left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }));
    return points.map(({ x, y, name }) => {
        const width = name.length * 6.6;
        const spots = [
            { left: x + 9, top: y - 7, anchor: "start" as const, x: x + 9, y: y + 4 },
            { left: x - 9 - width, top: y - 7, anchor: "end" as const, x: x - 9, y: y + 4 },
            { left: x - width / 2, top: y - 23, anchor: "middle" as const, x, y: y - 11 },
            { left: x - width / 2, top: y + 9, anchor: "middle" as const, x, y: y + 20 },
            { left: x + 7, top: y - 20, anchor: "start" as const, x: x + 7, y: y - 9 },
            { left: x - 7 - width, top: y - 20, anchor: "end" as const, x: x - 7, y: y - 9 },
        ];
        for (const { left, top, ...spot } of spots) {
            const box = { left, right: left + width, top, bottom: top + 14 };
            if (box.left < area.left || box.right > area.right || box.top < area.top - 8 || box.bottom > area.bottom)
                continue;
            if (
                taken.some(
                    (other) =>
                        box.left < other.right &&
                        box.right > other.left &&
                        box.top < other.bottom &&
                        box.bottom > other.top,
                )
            )
                continue;
            taken.push(box);
            return spot;
        }
        return null;
    });
}

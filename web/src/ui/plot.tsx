/** Parts of charts in SVG: frame, markers, tooltip. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SchemeLook } from "../data/source";
import { markerPath, onGround } from "./looks";
import type { Scale } from "./scale";

/** Returns a reference to an element, and the element's current width, px. */
export function useWidth<E extends HTMLElement>(first = 480): [{ current: E | null }, number] {
    const element = useRef<E>(null);
    const [width, setWidth] = useState(first);
    useLayoutEffect(() => {
        const current = element.current;
        if (!current) return;
        const measure = () => setWidth(Math.max(200, Math.floor(current.clientWidth)));
        const observer = new ResizeObserver(measure);
        observer.observe(current);
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

/** Returns the width of the tick labels at the y axis, px. */
export function leftOf(y: Scale): number {
    return 26 + 6.9 * Math.max(...y.ticks.map((tick) => y.text(tick).length));
}

/** Lines and labels of both axes. */
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
    /** Fill of the marker: its colour, or the ground's for a hollow marker. */
    fill: string;
    dashes: string;
}

/** Returns the look of a scheme on the ground of the page. */
export function lookOf(schemes: Record<string, SchemeLook>, scheme: string, dark: boolean): Look {
    const schemeLook = schemes[scheme];
    const color = schemeLook?.color.startsWith("#") ? schemeLook.color : "#5a616c";
    const visibleColor = onGround(color, dark);
    return {
        color: visibleColor,
        marker: schemeLook?.marker ?? "o",
        fill: schemeLook?.hollow ? "var(--ground)" : visibleColor,
        dashes: schemeLook?.dashes.map((each) => each * 1.8).join(" ") ?? "",
    };
}

/** Legend with markers and names. */
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

/** Section that scrolls sideways, also by keys. */
export function Scrolling({ label, children }: { label: string; children: ComponentChildren }) {
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to take the keys
        <section class="scroll" tabIndex={0} aria-label={label}>
            {children}
        </section>
    );
}

/** Tooltip beside the pointer. Screen readers skip it: the tables contain all of its text. */
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

/**
 * Returns positions for names beside points (right, left, above or below, without overlap), or null if there is no
 * room.
 */
export function placeNames(
    points: readonly { x: number; y: number; name: string }[],
    area: Area,
): ({ x: number; y: number; anchor: "start" | "end" | "middle" } | null)[] {
    const boxes = points.map(({ x, y }) => ({ left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }));
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
                boxes.some(
                    (other) =>
                        box.left < other.right &&
                        box.right > other.left &&
                        box.top < other.bottom &&
                        box.bottom > other.top,
                )
            )
                continue;
            boxes.push(box);
            return spot;
        }
        return null;
    });
}

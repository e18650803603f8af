/** Parts of charts in SVG: frame, markers, what stands beside the pointer. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SchemeLook } from "../data/source";
import { onGround } from "./looks";
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

function polygon(x: number, y: number, half: number, corners: number, turn: number): string {
    const points = Array.from({ length: corners }, (_, corner) => {
        const angle = turn + (2 * Math.PI * corner) / corners;
        return `${(x + half * Math.cos(angle)).toFixed(2)} ${(y + half * Math.sin(angle)).toFixed(2)}`;
    });
    return `M${points.join("L")}Z`;
}

/** A marker (its name in matplotlib's notation) as an outline. */
export function markerPath(marker: string, x: number, y: number, size: number): string {
    const half = size / 2;
    const up = -Math.PI / 2;
    switch (marker) {
        case "s":
            return polygon(x, y, half * 1.15, 4, Math.PI / 4);
        case "^":
            return polygon(x, y, half * 1.15, 3, up);
        case "v":
            return polygon(x, y, half * 1.15, 3, -up);
        case "<":
            return polygon(x, y, half * 1.15, 3, Math.PI);
        case ">":
            return polygon(x, y, half * 1.15, 3, 0);
        case "D":
        case "d":
            return polygon(x, y, half * 1.1, 4, up);
        case "p":
            return polygon(x, y, half, 5, up);
        case "h":
        case "H":
            return polygon(x, y, half, 6, up);
        case "8":
            return polygon(x, y, half, 8, up);
        case "*": {
            const points = Array.from({ length: 10 }, (_, corner) => {
                const reach = corner % 2 ? half * 0.5 : half * 1.2;
                const angle = up + (Math.PI * corner) / 5;
                return `${(x + reach * Math.cos(angle)).toFixed(2)} ${(y + reach * Math.sin(angle)).toFixed(2)}`;
            });
            return `M${points.join("L")}Z`;
        }
        case "+":
        case "P": {
            const [a, b] = [half, half * 0.35];
            return `M${x - b} ${y - a}h${2 * b}v${a - b}h${a - b}v${2 * b}h${b - a}v${a - b}h${-2 * b}v${b - a}h${b - a}v${-2 * b}h${a - b}Z`;
        }
        case "x":
        case "X": {
            const [a, b] = [half * 0.9, half * 0.35];
            return `M${x - a} ${y - a + b}l${b} ${-b}L${x} ${y - b}L${x + a - b} ${y - a}l${b} ${b}L${x + b} ${y}L${x + a} ${y + a - b}l${-b} ${b}L${x} ${y + b}L${x - a + b} ${y + a}l${-b} ${-b}L${x - b} ${y}Z`;
        }
        default:
            return `M${x - half} ${y}a${half} ${half} 0 1 0 ${size} 0a${half} ${half} 0 1 0 ${-size} 0Z`;
    }
}

export interface Look {
    color: string;
    marker: string;
    dashes: string;
}

/** How a scheme is drawn on the ground of the page. */
export function lookOf(schemes: Record<string, SchemeLook>, scheme: string, dark: boolean): Look {
    const found = schemes[scheme];
    const color = found?.color.startsWith("#") ? found.color : "#5a616c";
    return {
        color: onGround(color, dark),
        marker: found?.marker ?? "o",
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
                            <path d={markerPath(look.marker, 17, 7, 10)} fill={look.color} />
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

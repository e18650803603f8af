/** Looks of schemes and flows: colour, marker and dashes. Lines then differ even without colour. */

import type { SchemeLook } from "../data/source";

/** Colours of Okabe and Ito, which colour-blind people can distinguish: for flows without their own colour. */
const FREE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2, 1, 2, 1, 2]];

/** Returns the look of number `index` of things without their own look (flows of one scheme). */
export function freeLook(index: number): { color: string; dashes: number[] } {
    return {
        color: FREE[index % FREE.length]!,
        dashes: DASHES[Math.floor(index / FREE.length) % DASHES.length]!,
    };
}

/** Returns a colour that is visible on the ground: black becomes white on a dark page. */
export function onGround(color: string, dark: boolean): string {
    if (!dark) return color;
    const red = Number.parseInt(color.slice(1, 3), 16);
    const green = Number.parseInt(color.slice(3, 5), 16);
    const blue = Number.parseInt(color.slice(5, 7), 16);
    const light = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
    if (Number.isNaN(light) || light > 0.35) return color;
    const mix = (part: number) => Math.round(part + (255 - part) * (0.75 - light));
    return `rgb(${mix(red)} ${mix(green)} ${mix(blue)})`;
}

function polygon(x: number, y: number, half: number, corners: number, turn: number): string {
    const points = Array.from({ length: corners }, (_, corner) => {
        const angle = turn + (2 * Math.PI * corner) / corners;
        return `${(x + half * Math.cos(angle)).toFixed(2)} ${(y + half * Math.sin(angle)).toFixed(2)}`;
    });
    return `M${points.join("L")}Z`;
}

/** Returns the outline of a marker (its name in matplotlib's notation) as an SVG path. */
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

const PATHS = new Map<string, Path2D>();

/** Draws a marker (its name in matplotlib's notation) of about `size` pixels. */
export function drawMarker(
    context: CanvasRenderingContext2D,
    marker: string,
    x: number,
    y: number,
    size: number,
): void {
    const name = `${marker} ${size}`;
    let path = PATHS.get(name);
    if (!path) {
        path = new Path2D(markerPath(marker, 0, 0, size));
        PATHS.set(name, path);
    }
    context.translate(x, y);
    context.fill(path);
    context.stroke(path);
    context.translate(-x, -y);
}

export type Looks = Record<string, SchemeLook>;

/** How schemes and flows are drawn: colour, marker and dashes, so that lines differ without colour too. */

import type { SchemeLook } from "../data/source";

/** Colours of Okabe and Ito, which colour-blind people tell apart: for what has no colour of its own. */
const FREE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2, 1, 2, 1, 2]];

/** Returns the look of number `index` of things without one of their own (flows of one scheme). */
export function freeLook(index: number): { color: string; dashes: number[] } {
    return {
        color: FREE[index % FREE.length]!,
        dashes: DASHES[Math.floor(index / FREE.length) % DASHES.length]!,
    };
}

/** Returns a colour that can be seen on the ground: black is white on a dark page. */
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

/** Draws a marker (its name in matplotlib's notation) of about `size` pixels. */
export function drawMarker(
    context: CanvasRenderingContext2D,
    marker: string,
    x: number,
    y: number,
    size: number,
): void {
    const half = size / 2;
    const polygon = (corners: number, turn: number) => {
        for (let corner = 0; corner < corners; corner++) {
            const angle = turn + (2 * Math.PI * corner) / corners;
            context.lineTo(x + half * Math.cos(angle), y + half * Math.sin(angle));
        }
        context.closePath();
    };
    const up = -Math.PI / 2;
    context.beginPath();
    switch (marker) {
        case "s":
            context.rect(x - half * 0.85, y - half * 0.85, size * 0.85, size * 0.85);
            break;
        case "^":
            polygon(3, up);
            break;
        case "v":
            polygon(3, -up);
            break;
        case "<":
            polygon(3, Math.PI);
            break;
        case ">":
            polygon(3, 0);
            break;
        case "D":
        case "d":
            polygon(4, up);
            break;
        case "p":
            polygon(5, up);
            break;
        case "h":
        case "H":
            polygon(6, up);
            break;
        case "*":
            for (let corner = 0; corner < 10; corner++) {
                const reach = corner % 2 ? half * 0.45 : half;
                const angle = up + (Math.PI * corner) / 5;
                context.lineTo(x + reach * Math.cos(angle), y + reach * Math.sin(angle));
            }
            context.closePath();
            break;
        case "+":
        case "P":
            context.moveTo(x - half, y);
            context.lineTo(x + half, y);
            context.moveTo(x, y - half);
            context.lineTo(x, y + half);
            break;
        case "x":
        case "X":
            context.moveTo(x - half * 0.8, y - half * 0.8);
            context.lineTo(x + half * 0.8, y + half * 0.8);
            context.moveTo(x - half * 0.8, y + half * 0.8);
            context.lineTo(x + half * 0.8, y - half * 0.8);
            break;
        default:
            context.arc(x, y, half * 0.9, 0, 2 * Math.PI);
    }
    context.fill();
    context.stroke();
}

export type Looks = Record<string, SchemeLook>;

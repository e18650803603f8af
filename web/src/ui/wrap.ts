/** Line breaks at a given width. Tables place rows by height, so they need the number of lines. */

const PARTS = /[^-._/,:;+* ]*[-._/,:;+* ]+|[^-._/,:;+* ]+/g;

/** Returns the lines of `text`. It breaks after punctuation, and anywhere in a part that is wider than a line. */
export function linesOf(text: string, width: number, widthOf: (text: string) => number): string[] {
    if (widthOf(text) <= width) return [text];
    const lines: string[] = [];
    let line = "";
    const add = (part: string) => {
        if (line && widthOf(line + part) > width) {
            lines.push(line);
            line = "";
        }
        line += part;
    };
    for (const part of text.match(PARTS) ?? []) {
        if (widthOf(part) <= width) add(part);
        else for (const letter of part) add(letter);
    }
    return line ? [...lines, line] : lines;
}

let canvas: CanvasRenderingContext2D | null = null;

/** Returns a function that measures text in the font of an element, px. */
export function measureOf(element: Element): (text: string) => number {
    const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(element);
    const font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    canvas ??= document.createElement("canvas").getContext("2d");
    const context = canvas;
    if (!context) return (text) => text.length * Number.parseFloat(fontSize);
    return (text) => {
        context.font = font;
        return context.measureText(text).width;
    };
}

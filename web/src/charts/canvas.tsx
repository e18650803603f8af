/** Canvas as wide as its place. It is redrawn when its content changes, and has a label in words. */

import type { HTMLAttributes } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export type Draw = (context: CanvasRenderingContext2D, width: number, height: number) => void;

interface Props extends Omit<HTMLAttributes<HTMLCanvasElement>, "label" | "width" | "height"> {
    width: number;
    height: number;
    draw: Draw;
    /** Values that `draw` depends on. */
    dependencies: readonly unknown[];
    label: string;
}

export function Canvas({ width, height, draw, dependencies, label, ...others }: Props) {
    const place = useRef<HTMLCanvasElement>(null);
    useLayoutEffect(() => {
        const canvas = place.current;
        const context = canvas?.getContext("2d");
        if (!canvas || !context || width <= 0) return;
        const ratio = devicePixelRatio || 1;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        draw(context, width, height);
    }, [width, height, ...dependencies]);
    return <canvas ref={place} role="img" aria-label={label} {...others} />;
}

/** Returns a reference to an element, and its width in pixels, which follows the window. */
export function useWidth<E extends HTMLElement>(): [{ current: E | null }, number] {
    const place = useRef<E>(null);
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
        if (!place.current) return;
        const element = place.current;
        const measure = () => setWidth(Math.floor(element.getBoundingClientRect().width));
        const watch = new ResizeObserver(measure);
        watch.observe(element);
        measure();
        return () => watch.disconnect();
    }, []);
    return [place, width];
}

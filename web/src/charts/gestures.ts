/** Gestures on diagrams of time: wheel, pinch, drag, and the cursor. */

import { useEffect, useRef } from "preact/hooks";
import { move, plotOf, timeAt, type View, zoom } from "./view";

export type Drag = "zoom" | "measure" | "move";

interface Doing {
    view: View;
    whole: View;
    drag: Drag;
    onView: (view: View) => void;
    /** Called with the part under the drag, and with null when the drag ends. */
    onBrush: (brush: View | null) => void;
    onRange: (range: View) => void;
    onCursor: (time: number | null) => void;
    /** True if a wheel zooms without Ctrl too: for elements in which nothing scrolls. */
    wheels?: boolean;
}

/** Minimum length of a drag, pixels. A shorter one is a click. */
const SLOP = 4;

/** Zooms and moves the view by wheel (with Ctrl), pinch, touch and drag on the element. */
export function useGestures(place: { current: HTMLElement | null }, doing: Doing): void {
    const now = useRef(doing);
    now.current = doing;
    useEffect(() => {
        const element = place.current;
        if (!element) return;
        const pointers = new Map<number, number>();
        let start: { x: number; view: View; does: Drag } | null = null;
        const timeOf = (clientX: number, view = now.current.view) => {
            const box = element.getBoundingClientRect();
            return timeAt(clientX - box.left, view, plotOf(box.width));
        };
        /** Several movements can arrive before the page is redrawn. Each starts from the view of the previous one. */
        const show = (view: View) => {
            now.current = { ...now.current, view };
            now.current.onView(view);
        };
        const within = (time: number) => Math.max(now.current.view.from, Math.min(now.current.view.to, time));
        const onWheel = (event: WheelEvent) => {
            const { view, whole, wheels } = now.current;
            const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
            if (sideways || event.shiftKey) {
                event.preventDefault();
                show(move(view, whole, (sideways ? event.deltaX : event.deltaY) / 1000));
            } else if (event.ctrlKey || event.metaKey || wheels) {
                event.preventDefault();
                const lines = event.deltaMode === 1 ? 30 : 1;
                show(
                    zoom(
                        view,
                        whole,
                        Math.exp((event.deltaY * lines) / (event.ctrlKey ? 150 : 400)),
                        timeOf(event.clientX),
                    ),
                );
            }
        };
        const onDown = (event: PointerEvent) => {
            if (event.button !== 0 || (event.target as Element).closest("button, a, input, select, summary, label"))
                return;
            pointers.set(event.pointerId, event.clientX);
            now.current.onCursor(within(timeOf(event.clientX)));
            if (pointers.size > 1) {
                start = null;
                now.current.onBrush(null);
                return;
            }
            const touch = event.pointerType === "touch";
            const { drag, view } = now.current;
            const does = event.shiftKey ? "measure" : event.altKey || (touch && drag === "zoom") ? "move" : drag;
            start = { x: event.clientX, view, does };
        };
        const onMove = (event: PointerEvent) => {
            const { whole, onBrush, onCursor } = now.current;
            onCursor(within(timeOf(event.clientX)));
            if (!pointers.has(event.pointerId)) return;
            const before = pointers.get(event.pointerId)!;
            pointers.set(event.pointerId, event.clientX);
            if (pointers.size === 2) {
                const other = [...pointers].find(([id]) => id !== event.pointerId)![1];
                const last = Math.max(20, Math.abs(before - other));
                const next = Math.max(20, Math.abs(event.clientX - other));
                show(zoom(now.current.view, whole, last / next, timeOf((event.clientX + other) / 2)));
                return;
            }
            if (!start || Math.abs(event.clientX - start.x) < SLOP) return;
            if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
            if (start.does === "move") {
                const box = element.getBoundingClientRect();
                const plot = plotOf(box.width);
                show(move(start.view, whole, (start.x - event.clientX) / (plot.right - plot.left)));
                return;
            }
            onBrush(brush(start.x, event.clientX));
        };
        const brush = (one: number, other: number): View => {
            const [from, to] = [within(timeOf(one)), within(timeOf(other))];
            return { from: Math.round(Math.min(from, to)), to: Math.round(Math.max(from, to)) };
        };
        const onUp = (event: PointerEvent) => {
            pointers.delete(event.pointerId);
            const origin = start;
            start = null;
            if (!origin || origin.does === "move") return;
            now.current.onBrush(null);
            if (event.type === "pointercancel" || Math.abs(event.clientX - origin.x) < SLOP) return;
            const selection = brush(origin.x, event.clientX);
            if (selection.to <= selection.from) return;
            if (origin.does === "zoom") show(zoom(selection, now.current.whole, 1));
            else now.current.onRange(selection);
        };
        const onLeave = (event: PointerEvent) => {
            if (event.pointerType === "mouse") now.current.onCursor(null);
        };
        element.addEventListener("wheel", onWheel, { passive: false });
        element.addEventListener("pointerdown", onDown);
        element.addEventListener("pointermove", onMove);
        element.addEventListener("pointerup", onUp);
        element.addEventListener("pointercancel", onUp);
        element.addEventListener("pointerleave", onLeave);
        return () => {
            element.removeEventListener("wheel", onWheel);
            element.removeEventListener("pointerdown", onDown);
            element.removeEventListener("pointermove", onMove);
            element.removeEventListener("pointerup", onUp);
            element.removeEventListener("pointercancel", onUp);
            element.removeEventListener("pointerleave", onLeave);
        };
    }, [place]);
}

/**
 * Returns the window that a key leads to, or null for other keys. `inside`: a diagram has the focus and uses the arrow
 * keys.
 */
export function keyView(
    event: KeyboardEvent,
    view: View,
    whole: View,
    at: number | null,
    inside: boolean,
): View | null {
    if (event.ctrlKey || event.metaKey || event.altKey) return null;
    const step = event.shiftKey ? 0.5 : 0.15;
    const centre = at !== null && at >= view.from && at <= view.to ? at : undefined;
    switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
        case "w":
        case "+":
        case "=":
            return zoom(view, whole, 0.5, centre);
        case "s":
        case "-":
            return zoom(view, whole, 2, centre);
        case "a":
            return move(view, whole, -step);
        case "d":
            return move(view, whole, step);
        case "0":
            return whole;
        case "ArrowLeft":
            return inside ? move(view, whole, -step) : null;
        case "ArrowRight":
            return inside ? move(view, whole, step) : null;
        case "ArrowUp":
            return inside && event.shiftKey ? zoom(view, whole, 0.5, centre) : null;
        case "ArrowDown":
            return inside && event.shiftKey ? zoom(view, whole, 2, centre) : null;
        case "Home":
            return inside ? whole : null;
        default:
            return null;
    }
}

/** Shown window of time, and operations that zoom and move it. Times are nanoseconds. */

export interface View {
    from: number;
    to: number;
}

/** Length of the shortest window, ns. */
const SHORTEST_NS = 100;

/** Returns the view moved into `whole`, not shorter than the minimum, with whole nanoseconds. */
export function limit(view: View, whole: View): View {
    const maxSpan = whole.to - whole.from;
    const span = Math.min(maxSpan, Math.max(Math.min(SHORTEST_NS, maxSpan), Math.round(view.to - view.from)));
    const from = Math.round(Math.max(whole.from, Math.min(view.from, whole.to - span)));
    return { from, to: from + span };
}

/** Returns the window `factor` times as long (below 1: zooms in). The time `at` keeps its place. */
export function zoom(view: View, whole: View, factor: number, at = (view.from + view.to) / 2): View {
    const span = Math.max(SHORTEST_NS, (view.to - view.from) * factor);
    const part = (at - view.from) / (view.to - view.from);
    return limit({ from: at - part * span, to: at + (1 - part) * span }, whole);
}

/** Returns the window moved by a fraction of its length. */
export function move(view: View, whole: View, part: number): View {
    const by = (view.to - view.from) * part;
    return limit({ from: view.from + by, to: view.to + by }, whole);
}

/** Returns a window with a margin around a time or span of interest. */
export function around(from: number, to: number, whole: View): View {
    const margin = Math.max((to - from) * 0.25, (whole.to - whole.from) / 200, 1000);
    return limit({ from: from - margin, to: to + margin }, whole);
}

export function sameView(one: View, other: View): boolean {
    return one.from === other.from && one.to === other.to;
}

/** Left and right edge of the plot area on a canvas, pixels. */
export interface Plot {
    left: number;
    right: number;
}

/** Returns the plot area that all diagrams of a stack share, for a page `width` pixels wide. */
export function plotOf(width: number): Plot {
    return { left: width < 560 ? 46 : 60, right: width - 10 };
}

export function xOf(time: number, view: View, plot: Plot): number {
    return plot.left + ((time - view.from) / (view.to - view.from)) * (plot.right - plot.left);
}

export function timeAt(x: number, view: View, plot: Plot): number {
    return view.from + ((x - plot.left) / (plot.right - plot.left)) * (view.to - view.from);
}

/** Returns the view between two times in either order. */
export function viewBetween(one: number, other: number): View {
    return { from: Math.round(Math.min(one, other)), to: Math.round(Math.max(one, other)) };
}

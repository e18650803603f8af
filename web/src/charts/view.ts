/** The window of time that is looked at, and what zooming and moving makes of it. Times are nanoseconds. */

export interface View {
    from: number;
    to: number;
}

/** The shortest window: a tenth of a microsecond. */
const SHORTEST_NS = 100;

/** Returns the view within the whole, and not shorter than the shortest; its ends are whole nanoseconds. */
export function limited(view: View, whole: View): View {
    const most = whole.to - whole.from;
    const span = Math.min(most, Math.max(Math.min(SHORTEST_NS, most), Math.round(view.to - view.from)));
    const from = Math.round(Math.max(whole.from, Math.min(view.from, whole.to - span)));
    return { from, to: from + span };
}

/** Makes the window `factor` times as long (below 1: zooms in); the time `at` stays where it is. */
export function zoomed(view: View, whole: View, factor: number, at = (view.from + view.to) / 2): View {
    const span = Math.max(SHORTEST_NS, (view.to - view.from) * factor);
    const part = (at - view.from) / (view.to - view.from);
    return limited({ from: at - part * span, to: at + (1 - part) * span }, whole);
}

/** Moves the window by a part of its length. */
export function moved(view: View, whole: View, part: number): View {
    const by = (view.to - view.from) * part;
    return limited({ from: view.from + by, to: view.to + by }, whole);
}

/** Returns a window with a margin around a time or a span that somebody wants to see. */
export function around(from: number, to: number, whole: View): View {
    const margin = Math.max((to - from) * 0.25, (whole.to - whole.from) / 200, 1000);
    return limited({ from: from - margin, to: to + margin }, whole);
}

export function sameView(one: View, other: View): boolean {
    return one.from === other.from && one.to === other.to;
}

/** Where times and numbers lie on a canvas: the plot between its gutters. */
export interface Plot {
    left: number;
    right: number;
}

/** Returns the gutters of all diagrams that lie below each other on a page this wide. */
export function plotOf(width: number): Plot {
    return { left: width < 560 ? 46 : 60, right: width - 10 };
}

export function xOf(time: number, view: View, plot: Plot): number {
    return plot.left + ((time - view.from) / (view.to - view.from)) * (plot.right - plot.left);
}

export function timeAt(x: number, view: View, plot: Plot): number {
    return view.from + ((x - plot.left) / (plot.right - plot.left)) * (view.to - view.from);
}

/** Returns the view between two times, whichever is first. */
export function ordered(one: number, other: number): View {
    return { from: Math.round(Math.min(one, other)), to: Math.round(Math.max(one, other)) };
}

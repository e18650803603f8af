import type { Drag } from "./gestures";
import { addedName, addedTitle, type panelsOf } from "./panels";
import { spanText, timeIn } from "./ticks";
import { move, type View, zoom } from "./view";

interface ToolsProps {
    view: View;
    whole: View;
    onView: (view: View) => void;
    drag: Drag;
    setDrag: (drag: Drag) => void;
    anchor: number | null;
    measure: () => void;
    choice: ReturnType<typeof panelsOf>;
    added: string[];
    hidden: string[];
    onAdded: ((added: string[]) => void) | undefined;
    onHidden: ((hidden: string[]) => void) | undefined;
    table: boolean;
    setTable: (table: boolean) => void;
}

const DRAGS: [Drag, string, string][] = [
    ["zoom", "zooms", "dragging over a diagram zooms to that part (fingers move; two fingers zoom)"],
    ["measure", "measures", "dragging selects a part and shows what happens in it (also with Shift)"],
    ["move", "moves", "dragging moves the window (also with Alt)"],
];

export function Tools(props: ToolsProps) {
    const { view, whole, onView, choice, added, hidden, onAdded, onHidden } = props;
    const span = view.to - view.from;
    const names = new Map<string, string>();
    for (const series of choice.addable)
        if (!added.includes(addedName(series)))
            names.set(addedName(series), `${addedTitle(series)}${series.unit ? ` (${series.unit})` : ""}`);
    const hiddenPanels = choice.panels.filter(({ id }) => hidden.includes(id));
    return (
        <div class="tools row">
            <fieldset class="group" aria-label="Zoom">
                <button
                    type="button"
                    title="zoom in (W or +)"
                    aria-label="zoom in"
                    onClick={() => onView(zoom(view, whole, 0.5))}
                >
                    +
                </button>
                <button
                    type="button"
                    title="zoom out (S or -)"
                    aria-label="zoom out"
                    onClick={() => onView(zoom(view, whole, 2))}
                >
                    −
                </button>
                <button
                    type="button"
                    title="earlier (A)"
                    aria-label="earlier"
                    onClick={() => onView(move(view, whole, -0.5))}
                >
                    ‹
                </button>
                <button
                    type="button"
                    title="later (D)"
                    aria-label="later"
                    onClick={() => onView(move(view, whole, 0.5))}
                >
                    ›
                </button>
                <button type="button" title="the whole run (0 or Home)" onClick={() => onView(whole)}>
                    all
                </button>
            </fieldset>
            <span class="where">
                <b>{timeIn(view.from, span)}</b> to <b>{timeIn(view.to, span)}</b>{" "}
                <span class="quiet">({spanText(span)})</span>
            </span>
            <label>
                a drag{" "}
                <select
                    value={props.drag}
                    title={DRAGS.find(([each]) => each === props.drag)![2]}
                    onChange={(event) => props.setDrag(event.currentTarget.value as Drag)}
                >
                    {DRAGS.map(([value, name]) => (
                        <option key={value} value={value}>
                            {name}
                        </option>
                    ))}
                </select>
            </label>
            <button
                type="button"
                aria-pressed={props.anchor !== null}
                title="set a second cursor (M)"
                onClick={props.measure}
            >
                second cursor
            </button>
            {onAdded && names.size > 0 && (
                <label>
                    <span class="hidden">More series</span>
                    <select
                        value=""
                        onChange={(event) => {
                            const name = event.currentTarget.value;
                            event.currentTarget.value = "";
                            if (name) onAdded([...added, name]);
                        }}
                    >
                        <option value="">more series…</option>
                        {[...names].map(([name, title]) => (
                            <option key={name} value={name}>
                                {title}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            {onHidden && hiddenPanels.length > 0 && (
                <label>
                    <span class="hidden">Hidden panels</span>
                    <select
                        value=""
                        onChange={(event) => onHidden(hidden.filter((id) => id !== event.currentTarget.value))}
                    >
                        <option value="">hidden panels…</option>
                        {hiddenPanels.map(({ id, title }) => (
                            <option key={id} value={id}>
                                {title}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <button type="button" aria-pressed={props.table} onClick={() => props.setTable(!props.table)}>
                values as a table
            </button>
            <details class="keys">
                <summary>keys</summary>
                <p id="keys">
                    W and S (or + and −) zoom, A and D (or arrows) move, 0 (or Home) shows all; comma and point move the
                    cursor from sample to sample, M sets a second cursor, Z zooms to what is selected, Escape ends it.
                    In the diagram of packets N and P go to the next and the previous packet, Enter keeps it. The wheel
                    zooms with Ctrl, or over the strip of the whole run; with Shift it moves. Arrows and Home hold where
                    the diagrams have the focus.
                </p>
            </details>
        </div>
    );
}

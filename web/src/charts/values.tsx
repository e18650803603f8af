import { useMemo } from "preact/hooks";
import type { RunData } from "../data/source";
import { EVENT_LOOKS } from "./draw";
import { rangeText } from "./panel";
import { aggregate, countEvents, firstAt, type Series, valueAt } from "./series";
import { exactTime, spanText, valueText } from "./ticks";
import type { View } from "./view";
import { useWindow } from "./windows";

/** Maximum number of rows in a table. */
const ROWS = 50;

/** Table of each line's values between two times. The values are requested again for the exact part. */
export function Range({
    source,
    part,
    isSettled,
    keys,
    titles,
    flows,
    onZoom,
    onClear,
}: {
    source: RunData;
    part: View;
    isSettled: boolean;
    keys: string[];
    titles: ReadonlyMap<string, string>;
    flows: ReadonlySet<number>;
    onZoom: () => void;
    onClear: () => void;
}) {
    const { data } = useWindow(part.to > part.from ? source : null, part, 4000, keys);
    const counts = data ? [...countEvents(data.events, part, flows)] : [];
    return (
        <section class="range-facts" aria-label="Selected part">
            <p class="row">
                <b>{spanText(part.to - part.from)}</b> from {exactTime(part.from)} to {exactTime(part.to)}
                {counts.map(([kind, count]) => (
                    <span key={kind}>
                        {EVENT_LOOKS[kind]?.title ?? kind}: {data?.events.thinned ? "at least " : ""}
                        {count}
                    </span>
                ))}
                {isSettled && (
                    <button type="button" onClick={onZoom}>
                        zoom to it (Z)
                    </button>
                )}
                <button type="button" onClick={onClear}>
                    clear (Esc)
                </button>
            </p>
            {data && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
                <section class="scroll" tabIndex={0} aria-label="Values of the selected part">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">series</th>
                                {[
                                    "at the start",
                                    "at the end",
                                    "difference",
                                    "lowest",
                                    "mean",
                                    "highest",
                                    "values",
                                ].map((each) => (
                                    <th scope="col" class="number" key={each}>
                                        {each}
                                    </th>
                                ))}
                            </tr>
                        </thead>
                        <tbody>
                            {keys.flatMap((key) => {
                                const series = data.series.get(key);
                                if (!series) return [];
                                const start = valueAt(series, part.from);
                                const end = valueAt(series, part.to) ?? valueAt(series, part.to - 1);
                                const { rows, min, max, mean } = aggregate(series, part);
                                const single = start && end && start.low === start.high && end.low === end.high;
                                return [
                                    <tr key={key}>
                                        <th scope="row">{titles.get(key) ?? key}</th>
                                        <td class="number">{rangeText(start)}</td>
                                        <td class="number">{rangeText(end)}</td>
                                        <td class="number">{single ? valueText(end.low - start.low) : "-"}</td>
                                        <td class="number">{valueText(min)}</td>
                                        <td class="number">{valueText(mean)}</td>
                                        <td class="number">{valueText(max)}</td>
                                        <td class="number">{series.thinned ? `over ${rows}` : rows}</td>
                                    </tr>,
                                ];
                            })}
                        </tbody>
                    </table>
                </section>
            )}
        </section>
    );
}

/** Table of the lines in a window: their samples if there are few, else values at evenly spaced times. */
export function Values({ view, lines }: { view: View; lines: { series: Series; title: string; unit: string }[] }) {
    const times = useMemo(() => {
        const allTimes = new Set<number>();
        for (const { series } of lines) {
            for (
                let row = firstAt(series.time, view.from);
                row < series.time.length && series.time[row]! <= view.to;
                row++
            ) {
                allTimes.add(series.time[row]!);
                if (allTimes.size > ROWS) {
                    const step = (view.to - view.from) / (ROWS - 1);
                    return Array.from({ length: ROWS }, (_, row) => Math.round(view.from + row * step));
                }
            }
        }
        return [...allTimes].sort((one, other) => one - other);
    }, [view.from, view.to, lines]);
    const text = (series: Series, time: number) => {
        const value = valueAt(series, time);
        if (value && series.states && value.low === value.high)
            return series.states.get(value.low) ?? valueText(value.low);
        return rangeText(value);
    };
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
        <section class="scroll table" tabIndex={0} aria-label="Values of the window">
            <table>
                <caption class="hidden">Values of the lines in this window</caption>
                <thead>
                    <tr>
                        <th scope="col">time</th>
                        {lines.map(({ series, title, unit }, index) => (
                            <th scope="col" class="number" key={`${series.key} ${index}`}>
                                {title}
                                {unit && `, ${unit}`}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {times.map((time) => (
                        <tr key={time}>
                            <th scope="row">{exactTime(time)}</th>
                            {lines.map(({ series }, index) => (
                                <td class="number" key={`${series.key} ${index}`}>
                                    {text(series, time)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

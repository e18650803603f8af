/** Chart of the last minute of a run, up to now. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Inks } from "../ui/theme";
import type { Line } from "./feed";

export interface LineLook {
    label: string;
    color: string;
    dashes: number[];
}

export function LiveChart({
    title,
    unit,
    times,
    lines,
    looks,
    end_s,
    length_s,
    inks,
}: {
    title: string;
    unit: string;
    times: number[];
    lines: Line[];
    looks: (key: string) => LineLook;
    end_s: number;
    /** Length of the shown time, s. */
    length_s: number;
    inks: Inks;
}) {
    const place = useRef<HTMLDivElement>(null);
    const plot = useRef<uPlot | null>(null);
    const keys = lines.map((line) => line.key).join("\n");
    // A change of lines or colours requires a new plot.
    useEffect(() => {
        const box = place.current;
        if (!box) return;
        const axis: uPlot.Axis = {
            stroke: inks.quiet,
            grid: { stroke: inks.line, width: 1 },
            ticks: { stroke: inks.line, width: 1 },
            font: "12px system-ui",
        };
        const chart = new uPlot(
            {
                width: box.clientWidth,
                height: 160,
                legend: { show: false },
                cursor: { show: false },
                scales: { x: { time: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
                axes: [
                    { ...axis, values: (_, splits) => splits.map((each) => `${each} s`), size: 28 },
                    { ...axis, size: 56 },
                ],
                series: [
                    {},
                    ...lines.map((line) => {
                        const { label, color, dashes } = looks(line.key);
                        return {
                            label,
                            stroke: color,
                            width: 2,
                            dash: dashes,
                            points: { show: false },
                            spanGaps: true,
                        };
                    }),
                ],
            },
            [[], ...lines.map(() => [])] as uPlot.AlignedData,
            box,
        );
        plot.current = chart;
        const watch = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: 160 }));
        watch.observe(box);
        return () => {
            watch.disconnect();
            chart.destroy();
            plot.current = null;
        };
    }, [keys, inks]);
    useEffect(() => {
        const from = Math.max(0, end_s - length_s);
        plot.current?.batch(() => {
            plot.current?.setData([times, ...lines.map((line) => line.values)] as uPlot.AlignedData, false);
            plot.current?.setScale("x", { min: from, max: from + length_s });
        });
    });
    const last = lines.map((line) => `${looks(line.key).label} ${format(line.values.at(-1))}`).join(", ");
    return (
        <figure class="live-chart">
            <figcaption>
                {title} <span class="quiet">{unit}</span>
            </figcaption>
            <div ref={place} role="img" aria-label={`${title}, ${unit}, now: ${last}`} />
        </figure>
    );
}

/** Returns a number with three significant digits; "-" without a value. */
export function format(value: number | null | undefined): string {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    const size = Math.abs(value);
    return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

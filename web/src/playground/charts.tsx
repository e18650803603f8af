/** All series over one time axis: what is chosen in one panel is chosen in all. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Columns } from "../data/columns";
import { numberText } from "../data/numbers";
import type { SeriesHeader, WindowMeta } from "../data/source";
import type { Inks } from "../ui/theme";
import type { Line } from "./lines";
import { type PanelKind, seriesOf } from "./panels";

const HEIGHT = 190;

export interface Range {
    from_ns: number;
    to_ns: number;
}

interface Drawn {
    data: uPlot.AlignedData;
    /** Of each series behind the times: its line, or null for that of the link. */
    lines: (Line | null)[];
    /** Which of them are the upper edge of a range whose lower edge is the next. */
    edges: boolean[];
    bars: boolean[];
}

/** Puts the series of a panel on one axis of times, s. */
function drawn(kind: PanelKind, window: Columns<WindowMeta>, lines: Line[]): Drawn {
    const [time, low, high] = [window.numbers("time_ns"), window.numbers("low"), window.numbers("high")];
    const tables: [number[], ...number[][]][] = [];
    const made: Drawn = { data: [[]], lines: [], edges: [], bars: [] };
    for (const header of seriesOf(kind, window)) {
        const rows = Array.from({ length: header.rows }, (_, index) => header.first + index);
        const factor = scaleOf(kind, header);
        const x = rows.map((row) => time[row]! / 1e9);
        const y = rows.map((row) => high[row]! * factor);
        const isRange = header.name === "one_way_delay";
        if (header.kind === "bars" && x.length > 0) {
            // a step ends where the next one begins
            x.push(x.at(-1)! + (header.bin_ns ?? 0) / 1e9);
            y.push(y.at(-1)!);
        }
        tables.push(isRange ? [x, y, rows.map((row) => low[row]! * factor)] : [x, y]);
        const line = lines.find((each) => `flow ${each.flow}` === header.owner) ?? null;
        made.lines.push(line);
        made.edges.push(isRange);
        made.bars.push(header.kind === "bars" || header.kind === "steps");
        if (isRange) {
            made.lines.push(line);
            made.edges.push(false);
            made.bars.push(false);
        }
    }
    if (tables.length > 0) made.data = uPlot.join(tables as uPlot.AlignedData[]);
    return made;
}

/** Windows in bytes are shown in packets. */
function scaleOf(kind: PanelKind, header: SeriesHeader): number {
    if (kind.unit === "packets" && header.unit === "bytes") return 1 / 1500;
    if (kind.unit === "Mbit/s" && header.unit === "bit/s") return 1e-6;
    return 1;
}

const stepped = uPlot.paths.stepped!({ align: 1 });
const linear = uPlot.paths.linear!();

function options(made: Drawn, inks: Inks, width: number, names: string[]): uPlot.Options {
    const grid = { stroke: inks.line, width: 1 };
    const ticks = { stroke: inks.line, width: 1 };
    const values =
        names.length > 0 ? (_: uPlot, splits: number[]) => splits.map((value) => names[value] ?? "") : undefined;
    const axis = { stroke: inks.quiet, grid, ticks, font: "11px system-ui, sans-serif" };
    return {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: { sync: { key: "playground", setSeries: false }, drag: { x: true, y: false, setScale: false } },
        scales: {
            x: { time: false },
            y: {
                range: (_, __, most) => [0, names.length > 0 ? names.length - 0.8 : most > 0 ? most * 1.06 : 1],
            },
        },
        axes: [
            { ...axis, values: (_, splits) => splits.map((value) => `${Number(value.toPrecision(9))}`), size: 28 },
            {
                ...axis,
                size: names.length > 0 ? 112 : 52,
                ...(values ? { values, splits: () => names.map((_, value) => value) } : {}),
            },
        ],
        series: [
            {},
            ...made.lines.map((line, index) => ({
                stroke: line?.color ?? inks.ink,
                width: 1.5,
                dash: line?.dashes ?? [],
                spanGaps: true,
                paths: made.bars[index] ? stepped : linear,
                points: { show: false },
            })),
        ],
        bands: made.edges.flatMap((isUpper, index) =>
            isUpper
                ? [
                      {
                          series: [index + 1, index + 2] as [number, number],
                          fill: tint(made.lines[index]?.color ?? inks.ink),
                      },
                  ]
                : [],
        ),
    };
}

function tint(color: string): string {
    const [red = 0, green = 0, blue = 0] = color.startsWith("#")
        ? [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
        : (color.match(/\d+/g) ?? []).map(Number);
    return `rgba(${red}, ${green}, ${blue}, 0.22)`;
}

interface PanelProps {
    kind: PanelKind;
    window: Columns<WindowMeta>;
    lines: Line[];
    range: Range;
    inks: Inks;
    choose: (range: Range) => void;
    /** The moment whose packets are shown. */
    at_ns: number;
}

/** One panel; nothing where no series belongs into it. */
export function Panel({ kind, window, lines, range, inks, choose, at_ns }: PanelProps) {
    const place = useRef<HTMLDivElement>(null);
    const plot = useRef<uPlot | null>(null);
    const shape = useRef("");
    const made = useMemo(() => drawn(kind, window, lines), [kind, window, lines]);
    const names = useMemo(() => kind.names ?? [], [kind]);
    const label = useMemo(() => spoken(kind, window, lines), [kind, window, lines]);
    const moment = useRef<HTMLElement | null>(null);
    const chosen = useRef(choose);
    chosen.current = choose;

    useEffect(() => {
        const element = place.current;
        if (!element) return;
        const own = JSON.stringify([made.lines.map((line) => line && [line.color, line.dashes]), inks, names]);
        if (plot.current && own !== shape.current) {
            plot.current.destroy();
            plot.current = null;
        }
        if (!plot.current) {
            shape.current = own;
            const settings = options(made, inks, element.clientWidth || 300, names);
            settings.hooks = {
                setSelect: [
                    (self) => {
                        const { left, width } = self.select;
                        if (width < 4) return;
                        const [from, to] = [self.posToVal(left, "x"), self.posToVal(left + width, "x")];
                        self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                        chosen.current({ from_ns: from * 1e9, to_ns: to * 1e9 });
                    },
                ],
            };
            plot.current = new uPlot(settings, made.data, element);
            moment.current = document.createElement("div");
            moment.current.className = "moment";
            plot.current.over.append(moment.current);
        } else {
            plot.current.setData(made.data, false);
        }
        plot.current.batch(() => {
            plot.current?.setScale("x", { min: range.from_ns / 1e9, max: range.to_ns / 1e9 });
        });
    }, [made, inks, names, kind, range.from_ns, range.to_ns]);

    useEffect(() => {
        const [at, line] = [plot.current?.valToPos(at_ns / 1e9, "x") ?? -1, moment.current];
        if (!line || !plot.current) return;
        line.hidden = at < 0 || at > plot.current.over.clientWidth;
        line.style.transform = `translateX(${at}px)`;
    });

    useEffect(() => {
        const element = place.current;
        if (!element) return;
        const observer = new ResizeObserver(() => {
            const width = element.clientWidth;
            if (plot.current && width > 0 && plot.current.width !== width)
                plot.current.setSize({ width, height: HEIGHT });
        });
        observer.observe(element);
        return () => {
            observer.disconnect();
            plot.current?.destroy();
            plot.current = null;
        };
    }, []);

    return (
        <figure class="panel">
            <figcaption>
                <b>{kind.title}</b>{" "}
                <span class="quiet">
                    {names.length > 0
                        ? seriesOf(kind, window)
                              .map((header) => lines.find((line) => `flow ${line.flow}` === header.owner)?.title)
                              .join(", ")
                        : kind.unit}
                </span>
            </figcaption>
            <div class="plot" ref={place} role="img" aria-label={label} />
        </figure>
    );
}

/** The panel in words: its range by flow. */
function spoken(kind: PanelKind, window: Columns<WindowMeta>, lines: Line[]): string {
    const [low, high] = [window.numbers("low"), window.numbers("high")];
    const parts = seriesOf(kind, window).map((header) => {
        let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
        for (let row = header.first; row < header.first + header.rows; row++) {
            least = Math.min(least, low[row]!);
            most = Math.max(most, high[row]!);
        }
        const name = lines.find((line) => `flow ${line.flow}` === header.owner)?.title ?? "the link";
        if (least > most) return `${name}: nothing yet`;
        const factor = scaleOf(kind, header);
        return `${name}: ${numberText(least * factor, 1)} to ${numberText(most * factor, 1)}`;
    });
    return `${kind.title}, ${kind.unit || "by number"}: ${kind.says}. ${parts.join("; ")}.`;
}

/** Strip with the whole run, above the diagrams. */

import { useEffect, useRef } from "preact/hooks";
import type { RunData } from "../data/source";
import type { Inks } from "../ui/theme";
import { Canvas } from "./canvas";
import { clip, drawSeries } from "./draw";
import { flowOf, keyOf, type SeriesInfo } from "./panels";
import { type FlowLook, strokeOf } from "./strokes";
import { exactTime, spanText } from "./ticks";
import { limit, plotOf, timeAt, type View, xOf, zoom } from "./view";
import { useWindow } from "./windows";

/** Strip with the whole run and a frame around the shown part. */
export function Overview({
    source,
    seriesList,
    flows,
    whole,
    view,
    onView,
    width,
    inks,
    age,
    flowLook,
}: {
    source: RunData;
    seriesList: SeriesInfo[];
    flows: number[];
    whole: View;
    view: View;
    onView: (view: View) => void;
    width: number;
    inks: Inks;
    age: number;
    flowLook: ((flow: number) => FlowLook) | undefined;
}) {
    const strip = useRef<HTMLDivElement>(null);
    const names = ["throughput", "delivery_rate", "one_way_delay"];
    const name = names.find((each) => seriesList.some((series) => series.name === each));
    const seriesKeys = seriesList
        .filter((each) => each.name === name && flows.includes(flowOf(each.owner) ?? -1))
        .map(keyOf);
    const { data } = useWindow(seriesKeys.length > 0 ? source : null, whole, width > 0 ? 500 : 0, seriesKeys, age);
    const stripSeries = seriesKeys.flatMap((key) => data?.series.get(key) ?? []);
    const plot = plotOf(width);
    const now = useRef({ view, onView, width });
    now.current = { view, onView, width };
    useEffect(() => {
        const element = strip.current;
        if (!element) return;
        let grabOffset: number | null = null;
        const at = (event: PointerEvent | WheelEvent) => {
            const { left } = element.getBoundingClientRect();
            return timeAt(event.clientX - left, whole, plotOf(now.current.width));
        };
        const go = (time: number) => {
            const half = (now.current.view.to - now.current.view.from) / 2;
            now.current.onView(limit({ from: time - half, to: time + half }, whole));
        };
        const onDown = (event: PointerEvent) => {
            event.stopPropagation();
            const {
                view: { from, to },
            } = now.current;
            const time = at(event);
            grabOffset = time >= from && time <= to ? time - (from + to) / 2 : 0;
            element.setPointerCapture(event.pointerId);
            if (grabOffset === 0) go(time);
        };
        const onMove = (event: PointerEvent) => {
            if (grabOffset === null) return;
            event.stopPropagation();
            go(at(event) - grabOffset);
        };
        const onUp = () => {
            grabOffset = null;
        };
        const onWheel = (event: WheelEvent) => {
            event.preventDefault();
            event.stopPropagation();
            now.current.onView(zoom(now.current.view, whole, Math.exp(event.deltaY / 400)));
        };
        element.addEventListener("pointerdown", onDown);
        element.addEventListener("pointermove", onMove);
        element.addEventListener("pointerup", onUp);
        element.addEventListener("pointercancel", onUp);
        element.addEventListener("wheel", onWheel, { passive: false });
        return () => {
            element.removeEventListener("pointerdown", onDown);
            element.removeEventListener("pointermove", onMove);
            element.removeEventListener("pointerup", onUp);
            element.removeEventListener("pointercancel", onUp);
            element.removeEventListener("wheel", onWheel);
        };
    }, [whole.from, whole.to]);
    const left = xOf(view.from, whole, plot);
    const right = xOf(view.to, whole, plot);
    return (
        <div class="overview" ref={strip}>
            <Canvas
                width={width}
                height={34}
                label={`The whole run, ${spanText(whole.to - whole.from)}; shown is the part from ${exactTime(view.from)} to ${exactTime(view.to)}`}
                dependencies={[data, inks, whole.from, whole.to, flowLook]}
                draw={(context) => {
                    context.fillStyle = inks.soft;
                    context.fillRect(plot.left, 0, plot.right - plot.left, 34);
                    let high = 0;
                    for (const series of stripSeries)
                        for (let row = 0; row < series.high.length; row++) high = Math.max(high, series.high[row]!);
                    clip(context, plot, 0, 34, () => {
                        for (const [index, series] of stripSeries.entries()) {
                            const look = flowLook?.(flowOf(series.owner) ?? 1);
                            const stroke = {
                                ...(look ?? strokeOf(index, 0, false, inks.dark, series.name)),
                                marker: "",
                                width: 1,
                            };
                            drawSeries(
                                context,
                                series,
                                whole,
                                plot,
                                { low: 0, high: high * 1.05 || 1, top: 2, bottom: 32 },
                                stroke,
                            );
                        }
                    });
                }}
            />
            <div class="shown" style={{ left: `${left}px`, width: `${Math.max(3, right - left)}px` }} />
        </div>
    );
}

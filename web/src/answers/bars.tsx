/** Bars of the mean of a metric by scheme, with its interval; the bars are rows of a table. */

import { useMemo } from "preact/hooks";
import type { Runs } from "../data/runs";
import type { Field } from "../data/source";
import { boundsLegend, boundsText, numberOf } from "../data/words";
import { useNarrow } from "../ui/narrow";
import { type Look, Scrolling } from "../ui/plot";
import { estimateOf, type Facet, filterOf, tableAddress } from "./facets";
import { bestSentence } from "./findings";

const WIDE = 220;
const NARROW = 90;

export function Bars(props: {
    runs: Runs;
    facet: Facet;
    metric: Field;
    looks: (scheme: string) => Look;
    entries: readonly string[];
    isAnswered: boolean;
}) {
    const { runs, facet, metric } = props;
    const width = useNarrow() ? NARROW : WIDE;
    const bars = useMemo(() => {
        const schemeMeans = facet.schemes.flatMap(({ scheme, rows }) => {
            const mean = estimateOf(runs, rows, metric.name);
            return mean ? [{ scheme, estimate: mean }] : [];
        });
        const sign = metric.better === "less" ? 1 : -1;
        return schemeMeans.sort((a, b) => sign * (a.estimate.mean - b.estimate.mean));
    }, [runs, facet, metric]);
    const sentence = useMemo(() => bestSentence(runs, facet, [metric]), [runs, facet, metric]);
    const means = bars.map(({ estimate }) => estimate.mean);
    const reach = Math.max(...means.map(Math.abs), Number.MIN_VALUE);
    // An interval that ends far beyond all means would leave no room for the bars. It is cut, with an arrow.
    const high = Math.min(Math.max(0, ...means, ...bars.map(({ estimate }) => estimate.high ?? 0)), 2 * reach);
    const low = Math.max(Math.min(0, ...means, ...bars.map(({ estimate }) => estimate.low ?? 0)), -2 * reach);
    const at = (value: number) => 2 + ((Math.max(low, Math.min(high, value)) - low) / (high - low || 1)) * (width - 8);
    const number = numberOf(metric);
    return (
        <section class="chart">
            <h3>{facet.title}</h3>
            {!props.isAnswered && <p class="answer">{sentence}</p>}
            {bars.length === 0 ? (
                <p class="quiet">No run that went well has this number.</p>
            ) : (
                <Scrolling label="Means">
                    <table class="bars">
                        <caption class="hidden">
                            Mean {metric.title} by scheme on {facet.title}
                        </caption>
                        <thead class="hidden">
                            <tr>
                                <th scope="col">Scheme</th>
                                <th scope="col">Bar</th>
                                <th scope="col">
                                    Mean {metric.title} {metric.unit}
                                </th>
                                <th scope="col">Runs</th>
                            </tr>
                        </thead>
                        <tbody>
                            {bars.map(({ scheme, estimate }) => {
                                const look = props.looks(scheme);
                                const [from, to] = [at(Math.min(0, estimate.mean)), at(Math.max(0, estimate.mean))];
                                return (
                                    <tr key={scheme}>
                                        <th scope="row">
                                            <a href={tableAddress(props.entries, filterOf(runs, facet, scheme))}>
                                                {scheme}
                                            </a>
                                        </th>
                                        <td>
                                            <svg width={width} height="22" aria-hidden="true">
                                                <rect
                                                    x={from}
                                                    y="4"
                                                    width={Math.max(1, to - from)}
                                                    height="14"
                                                    fill={look.color}
                                                    fill-opacity="0.55"
                                                    stroke={look.color}
                                                />
                                                {estimate.low !== null &&
                                                    estimate.high !== null &&
                                                    estimate.low < estimate.high && (
                                                        <path
                                                            class="whisker"
                                                            d={`M${at(estimate.low)} 11H${at(estimate.high)}M${at(estimate.low)} 7V15${estimate.high > high ? `M${at(estimate.high) - 4} 7l4 4l-4 4` : `M${at(estimate.high)} 7V15`}`}
                                                        />
                                                    )}
                                                <line class="axis" x1={at(0)} x2={at(0)} y1="0" y2="22" />
                                            </svg>
                                        </td>
                                        <td class="number">
                                            {number(estimate.mean)} {metric.unit}{" "}
                                            <span class="quiet">{boundsText(estimate, number)}</span>
                                        </td>
                                        <td class="number quiet">
                                            {estimate.count} {estimate.count === 1 ? "run" : "runs"}
                                        </td>
                                    </tr>
                                );
                            })}
                        </tbody>
                    </table>
                </Scrolling>
            )}
            <p class="quiet foot">{boundsLegend(bars.map(({ estimate }) => estimate))}</p>
        </section>
    );
}

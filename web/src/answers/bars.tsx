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
            return mean ? [{ scheme, found: mean }] : [];
        });
        const sign = metric.better === "less" ? 1 : -1;
        return schemeMeans.sort((a, b) => sign * (a.found.mean - b.found.mean));
    }, [runs, facet, metric]);
    const sentence = useMemo(() => bestSentence(runs, facet, [metric]), [runs, facet, metric]);
    const means = bars.map(({ found }) => found.mean);
    const reach = Math.max(...means.map(Math.abs), Number.MIN_VALUE);
    // An interval that ends far beyond all means would leave no room for the bars. It is cut, with an arrow.
    const high = Math.min(Math.max(0, ...means, ...bars.map(({ found }) => found.high ?? 0)), 2 * reach);
    const low = Math.max(Math.min(0, ...means, ...bars.map(({ found }) => found.low ?? 0)), -2 * reach);
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
                            {bars.map(({ scheme, found }) => {
                                const look = props.looks(scheme);
                                const [from, to] = [at(Math.min(0, found.mean)), at(Math.max(0, found.mean))];
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
                                                {found.low !== null &&
                                                    found.high !== null &&
                                                    found.low < found.high && (
                                                        <path
                                                            class="whisker"
                                                            d={`M${at(found.low)} 11H${at(found.high)}M${at(found.low)} 7V15${found.high > high ? `M${at(found.high) - 4} 7l4 4l-4 4` : `M${at(found.high)} 7V15`}`}
                                                        />
                                                    )}
                                                <line class="axis" x1={at(0)} x2={at(0)} y1="0" y2="22" />
                                            </svg>
                                        </td>
                                        <td class="number">
                                            {number(found.mean)} {metric.unit}{" "}
                                            <span class="quiet">{boundsText(found, number)}</span>
                                        </td>
                                        <td class="number quiet">
                                            {found.count} {found.count === 1 ? "run" : "runs"}
                                        </td>
                                    </tr>
                                );
                            })}
                        </tbody>
                    </table>
                </Scrolling>
            )}
            <p class="quiet foot">{boundsLegend(bars.map(({ found }) => found))}</p>
        </section>
    );
}

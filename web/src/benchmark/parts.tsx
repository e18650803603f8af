/** Tables shared by the pages of a benchmark. */

import type { ComponentChildren } from "preact";
import { Matrix } from "../answers/matrix";
import {
    type Benchmark,
    type Experiment,
    type Match,
    type Metric,
    type Numbers,
    useBenchmark,
} from "../data/benchmark";
import type { RunsFacts } from "../data/source";
import { boundsText } from "../data/words";
import { lookOf, Scrolling } from "../ui/plot";
import { useInks } from "../ui/theme";
import { decimals, fixed, shownNumbers, type TableNumber } from "./numbers";

export const SHARE_RULE =
    "A share is the part of the payload delivered (goodput after the warm-up) that the flows of the scheme got beside those of the competitor; below it the share if all flows got the same.";
export const HARM_RULE =
    "Harm is the part that the victim loses of what it has alone on the same path: (solo − beside) / solo where more is better, (beside − solo) / beside where less is (Ware et al. 2019). 0 is none, 1 all; below 0 the victim gains. No value: the victim was not run alone in that number, or has nothing to lose.";

/**
 * Shows `children` with the benchmark's data. While these load, or if they cannot be read, shows a line of text. `what`
 * names the data.
 */
export function LoadedBenchmark({
    facts,
    what,
    children,
}: {
    facts: RunsFacts;
    what: string;
    children: (benchmark: Benchmark) => ComponentChildren;
}) {
    const [benchmark, problem] = useBenchmark(facts);
    if (problem)
        return (
            <p class="bad" role="alert">
                {problem}
            </p>
        );
    if (!benchmark)
        return (
            <p class="quiet" role="status">
                Reading the {what}…
            </p>
        );
    return <div class="benchmark">{children(benchmark)}</div>;
}

/** Colour and title of a scheme. */
export function SchemeName({ benchmark, facts, name }: { benchmark: Benchmark; facts: RunsFacts; name: string }) {
    const { dark } = useInks();
    return (
        <>
            <span class="dot" aria-hidden="true" style={{ background: lookOf(facts.schemes, name, dark).color }} />
            {benchmark.schemes[name] ?? name}
        </>
    );
}

/** Returns the address of an experiment: the results page filtered to its runs. */
export function addressOfExperiment(directory: string, path?: string): string {
    const query = new URLSearchParams({ filter: `directory:${directory}` });
    if (path !== undefined) query.append("filter", `path:${path}`);
    return `#/runs?${query}`;
}

/** Returns the title of a metric with its unit and an arrow in the better direction. */
export function metricTitle({ title, unit, better }: Metric): string {
    const arrow = { more: "↑", less: "↓", neutral: "" }[better];
    return [title, unit && `(${unit})`, arrow].filter(Boolean).join(" ");
}

export function NumberCell({ shown: cell }: { shown: TableNumber | null }) {
    if (!cell) return <td class="number quiet">–</td>;
    return (
        <td class="number">
            {cell.best ? <b>{cell.text}</b> : cell.text}
            {cell.small && <small>{cell.small}</small>}
        </td>
    );
}

/** Metrics of one experiment: a row per scheme. */
export function NumbersTable(props: {
    benchmark: Benchmark;
    facts: RunsFacts;
    experiment: Experiment;
    numbers: readonly Numbers[];
}) {
    const { experiment, numbers } = props;
    const columns = numbers.map((each) => shownNumbers(each, experiment.labels, experiment.cells));
    return (
        <Scrolling label={`Numbers of ${experiment.title}`}>
            <table class="numbers">
                <thead>
                    <tr>
                        <th scope="col">Scheme</th>
                        {numbers.map(({ metric }) => (
                            <th
                                key={metric.name}
                                scope="col"
                                class="number"
                                title={`${metric.name}: ${metric.formula}`}
                            >
                                {metricTitle(metric)}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {experiment.labels.map((label, row) => (
                        <tr key={label}>
                            <th scope="row">
                                <SchemeName {...props} name={label} />
                            </th>
                            {columns.map((column, at) => (
                                <NumberCell key={numbers[at]!.metric.name} shown={column[row]!} />
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </Scrolling>
    );
}

/** Shares and harm of an experiment with competing schemes, by place. */
export function Matches({ benchmark, experiment }: { benchmark: Benchmark; experiment: Experiment }) {
    const places = [...new Set(experiment.matches.map(({ place }) => place))];
    return (
        <>
            <p class="quiet foot">
                {SHARE_RULE} {HARM_RULE}
            </p>
            {places.map((place) => (
                <MatchesAt
                    key={place}
                    benchmark={benchmark}
                    place={place}
                    matches={experiment.matches.filter((each) => each.place === place)}
                />
            ))}
        </>
    );
}

function MatchesAt({ benchmark, place, matches }: { benchmark: Benchmark; place: string; matches: readonly Match[] }) {
    const hasSeveralNumbers = new Set(matches.map(({ numbers }) => numbers)).size > 1;
    const column = ({ competitor, numbers }: Match) =>
        `${benchmark.schemes[competitor] ?? competitor}${hasSeveralNumbers ? `, ${numbers}` : ""}`;
    const row = ({ label }: Match) => benchmark.schemes[label] ?? label;
    const at = new Map(matches.map((each) => [JSON.stringify([row(each), column(each)]), each]));
    const rows = [...new Set(matches.map(row))];
    const columns = [...new Set(matches.map(column))];
    const harmMetrics = new Map(
        matches.flatMap(({ done }) => done.map(({ metric }) => [metric.name, metric] as const)),
    );
    const placeText = place && ` (${place})`;
    const two = (value: number) => fixed(value, 2);
    const matrix = (
        title: string,
        cell: (match: Match) => { text: string; small: string } | null,
    ): ComponentChildren => (
        <section class="chart" key={title}>
            <h3>{title}</h3>
            <Matrix
                label={title}
                corner="beside"
                rows={rows}
                columns={columns}
                cell={(one, other) => {
                    const match = at.get(JSON.stringify([one, other]));
                    return match ? cell(match) : null;
                }}
            />
        </section>
    );
    return (
        <div class="facets">
            {matrix(
                `Share beside each competitor${placeText}`,
                ({ share, fair }) =>
                    share && { text: two(share.mean), small: `${boundsText(share, two)} equal: ${two(fair)}`.trim() },
            )}
            {[...harmMetrics.values()].map((metric) =>
                matrix(`Harm to the competitor’s ${metric.title}${placeText}`, ({ done }) => {
                    const harm = done.find((each) => each.metric.name === metric.name);
                    if (!harm) return null;
                    const places = decimals([harm.solo, harm.beside]);
                    const small = `${fixed(harm.solo, places)} → ${fixed(harm.beside, places)} ${metric.unit}`.trim();
                    return { text: two(harm.harm), small };
                }),
            )}
        </div>
    );
}

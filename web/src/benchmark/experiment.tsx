/** Experiment of a benchmark, above its runs: the scenario, the failures, the shares, and the commands. */

import "./benchmark.css";
import { Matrix } from "../answers/matrix";
import type { Benchmark, Experiment } from "../data/benchmark";
import type { RunsFacts } from "../data/source";
import { boundsText, capitalize, countText } from "../data/words";
import { decimals, fixed } from "./numbers";
import { Matches, NumbersTable } from "./parts";

const TIMES: Record<string, string> = { mean_s: "mean", p95_s: "95th percentile", p99_s: "99th percentile" };

export function ExperimentHead(props: { benchmark: Benchmark; facts: RunsFacts; experiment: Experiment }) {
    const { benchmark, facts, experiment } = props;
    return (
        <section class="benchmark" aria-label={experiment.title}>
            <h2>{experiment.title}</h2>
            <p class="quiet">
                {experiment.group}: {experiment.name}, {countText(experiment.cells, "cell")}
                {experiment.varied.length > 0 && ` over ${experiment.varied.join(" and ")}`}.
            </p>
            {experiment.text.split(/\n\s*\n/).map((text) => (
                <p key={text} class="foot">
                    {text}
                </p>
            ))}
            {experiment.contradictions.length > 0 && (
                <div class="alarm" role="alert">
                    <p class="bad">These numbers contradict each other: do not rely on them.</p>
                    <ul>
                        {experiment.contradictions.map((each) => (
                            <li key={`${each.scheme} ${each.path} ${each.run} ${each.text}`}>
                                {each.scheme} on {each.path}, run {each.run}: {each.text}
                            </li>
                        ))}
                    </ul>
                </div>
            )}
            {experiment.bad.length > 0 && (
                <div class="alarm">
                    <p class="bad">
                        {experiment.runs - experiment.bad.length} of {countText(experiment.runs, "run")} succeeded. In
                        no number here:
                    </p>
                    <ul>
                        {experiment.bad.map((each) => (
                            <li key={`${each.scheme} ${each.path} ${each.run}`}>
                                {each.scheme} on {each.path}, run {each.run}: {each.status}, {each.reason}
                            </li>
                        ))}
                    </ul>
                </div>
            )}
            <NumbersTable {...{ benchmark, facts, experiment }} numbers={experiment.numbers} />
            {experiment.matches.length > 0 && <Matches benchmark={benchmark} experiment={experiment} />}
            {experiment.completions.map((each) => (
                <Completions key={each.label} benchmark={benchmark} {...each} />
            ))}
            {experiment.charts.length > 0 && (
                <p>
                    Charts:{" "}
                    {experiment.charts.map((chart, index) => (
                        <span key={JSON.stringify(chart)}>
                            {index > 0 && ", "}
                            <a
                                href={`#/charts?${new URLSearchParams({ ...chart, filter: `directory:${experiment.directory}` })}`}
                            >
                                {[chart.chart, chart.y && `${chart.y} over ${chart.x}`].filter(Boolean).join(": ")}
                            </a>
                        </span>
                    ))}
                </p>
            )}
            <details>
                <summary>Commands that repeat it</summary>
                <p>To repeat these runs exactly, in the directory of the benchmark:</p>
                <pre class="command">{experiment.again}</pre>
                <p>The experiment as it is shipped, with the same schemes:</p>
                <pre class="command">{experiment.shipped}</pre>
                {experiment.commands.map(({ label, again, ccperf }) => (
                    <details key={label}>
                        <summary>{label}</summary>
                        <pre class="command">{again}</pre>
                        {ccperf.length > 0 && <p>In ccperf’s command line:</p>}
                        {ccperf.map((line) => (
                            <pre key={line} class="command">
                                {line}
                            </pre>
                        ))}
                    </details>
                ))}
            </details>
        </section>
    );
}

function Completions({ benchmark, label, bytes, times }: Experiment["completions"][number] & { benchmark: Benchmark }) {
    return (
        <div class="facets">
            {Object.entries(times).map(([key, found]) => {
                const places = decimals(Object.values(found).flatMap((own) => own.flatMap((each) => each?.mean ?? [])));
                const number = (value: number) => fixed(value, places);
                const title = `Flow completion time, ${TIMES[key] ?? key} (s), ${label}`;
                const schemes = new Map(Object.keys(found).map((name) => [benchmark.schemes[name] ?? name, name]));
                return (
                    <section class="chart" key={key}>
                        <h3>{capitalize(title)}</h3>
                        <Matrix
                            label={title}
                            corner="by bytes"
                            rows={[...schemes.keys()]}
                            columns={bytes.map(String)}
                            cell={(row, column) => {
                                const estimate = found[schemes.get(row)!]![bytes.indexOf(Number(column))];
                                return estimate
                                    ? { text: number(estimate.mean), small: boundsText(estimate, number) }
                                    : null;
                            }}
                        />
                    </section>
                );
            })}
        </div>
    );
}

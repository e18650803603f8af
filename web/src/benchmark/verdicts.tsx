/** Verdicts on the schemes under test against the baselines, and one number per experiment. */

import "./benchmark.css";
import type { Benchmark, Experiment, Verdict } from "../data/benchmark";
import type { Field, RunsFacts } from "../data/source";
import { countText, listing } from "../data/words";
import { markerPath } from "../ui/looks";
import { type Area, Frame, leftOf, lookOf, placeNames, Scrolling, useWidth } from "../ui/plot";
import { fieldScale } from "../ui/scale";
import { useInks } from "../ui/theme";
import { medianGain, shownNumbers } from "./numbers";
import { addressOfExperiment, LoadedBenchmark, metricTitle, NumberCell, SchemeName } from "./parts";

const USED: Field = {
    name: "utilization",
    title: "utilisation",
    kind: "number",
    group: "network",
    unit: "%",
    factor: 100,
    digits: 1,
    better: "more",
};
const WAITED: Field = {
    name: "delay_ms",
    title: "self-inflicted delay",
    kind: "number",
    group: "network",
    unit: "ms",
    digits: 1,
    better: "less",
};

/** Returns sentences with the counts of cells of all experiments, for each scheme and baseline. */
export function verdictSentences(benchmark: Benchmark): string[] {
    const title = (name: string) => benchmark.schemes[name] ?? name;
    const groups = new Map<string, Verdict[]>();
    for (const verdict of benchmark.verdicts) {
        const metricText =
            verdict.metric.name === "owd_p95_ms" ? "in p95 one-way delay" : "in the number of each experiment";
        const key = `${title(verdict.scheme)} beside ${title(verdict.baseline)}, ${metricText}`;
        groups.set(key, [...(groups.get(key) ?? []), verdict]);
    }
    return [...groups].map(([head, own]) => {
        const sum = (count: "cells" | "better" | "worse" | "alike" | "unknown") =>
            own.reduce((total, each) => total + each[count], 0);
        const phrases = [
            `better in ${sum("better")} of ${countText(sum("cells"), "cell")}`,
            `worse in ${sum("worse")}`,
        ];
        if (sum("alike")) phrases.push(`not distinguishable in ${sum("alike")}`);
        if (sum("unknown")) phrases.push(`not known in ${sum("unknown")} with one run each`);
        const behind = own.filter(({ worst }) => worst).map((each) => each.title);
        return `${head}: ${listing(phrases)}${behind.length ? `; worse in ${listing([...new Set(behind)])}` : ""}.`;
    });
}

export function VerdictsPage({ facts }: { facts: RunsFacts }) {
    return (
        <LoadedBenchmark facts={facts} what="verdicts">
            {(benchmark) => <Verdicts benchmark={benchmark} facts={facts} />}
        </LoadedBenchmark>
    );
}

function Verdicts({ benchmark, facts }: { benchmark: Benchmark; facts: RunsFacts }) {
    const groups = [...new Set(benchmark.experiments.map(({ group }) => group))];
    return (
        <>
            <h1>{listing(benchmark.examined.map((name) => benchmark.schemes[name] ?? name))} in the benchmark</h1>
            <BenchmarkHead benchmark={benchmark} facts={facts} />
            <h2 id="verdicts">Beside {listing(benchmark.baselines.map((name) => benchmark.schemes[name] ?? name))}</h2>
            <p class="quiet foot">
                Cells in which the scheme is better or worse than the baseline by more than the noise: of five runs or
                more beyond chance (5 % for all cells of a row together, by Holm; runs of one seed are pairs), of two to
                four where the ranges of the runs do not overlap. Gain: the median over the cells of the relative
                difference, plus is better. Bold: better in some cells and worse in none.
            </p>
            <VerdictTable benchmark={benchmark} facts={facts} />
            <h2>Experiments</h2>
            <p class="quiet foot">
                One number stands for each experiment: the first of its metrics that is a share of something and had
                better be large, else its first one. It is the mean over the cells, in brackets the lowest and the
                highest cell; the best is bold where means are over the same cells and transfers. For competition it is
                the mean share beside the others. Under each stands the one-way delay.
            </p>
            {groups.map((group) => (
                <section key={group}>
                    <h3>{group}</h3>
                    <ExperimentsTable
                        benchmark={benchmark}
                        facts={facts}
                        experiments={benchmark.experiments.filter((each) => each.group === group)}
                    />
                </section>
            ))}
        </>
    );
}

/** Head of a benchmark: the subject, the failures, and all schemes over all experiments. */
export function BenchmarkHead({ benchmark, facts }: { benchmark: Benchmark; facts: RunsFacts }) {
    const hours = (benchmark.simulated_s / 3600).toFixed(1);
    const bad = benchmark.experiments.filter((each) => each.bad.length);
    const wrong = benchmark.experiments.filter(({ contradictions }) => contradictions.length);
    const link = (each: Experiment, count: number) => (
        <li key={each.name}>
            <a href={addressOfExperiment(each.directory)}>{each.title}</a>: {count} of {each.runs}
        </li>
    );
    return (
        <>
            {wrong.length > 0 && (
                <div class="alarm" role="alert">
                    <p class="bad">Numbers of runs contradict each other: do not rely on them.</p>
                    <ul>{wrong.map((each) => link(each, each.contradictions.length))}</ul>
                </div>
            )}
            {bad.length > 0 && (
                <div class="alarm">
                    <p class="bad">Runs that failed or are missing, and are in no number:</p>
                    <ul>{bad.map((each) => link(each, each.bad.length))}</ul>
                </div>
            )}
            <p>
                {benchmark.quick ? "Quick" : "Full"} form: {countText(benchmark.experiments.length, "experiment")},{" "}
                {countText(benchmark.cells, "cell")}, {countText(benchmark.runs, "run")}, {hours} hours of simulated
                time.
                {bad.length === 0 && " All runs succeeded."} What RFC 9743 asks for: <a href="#/scorecard">scorecard</a>
                .
            </p>
            <pre class="command">{benchmark.command}</pre>
            <ul class="findings">
                {verdictSentences(benchmark).map((text) => (
                    <li key={text}>{text}</li>
                ))}
            </ul>
            <Overall benchmark={benchmark} facts={facts} />
        </>
    );
}

function Overall({ benchmark, facts }: { benchmark: Benchmark; facts: RunsFacts }) {
    const { dark } = useInks();
    const [box, width] = useWidth<HTMLDivElement>();
    const { overall } = benchmark;
    if (!overall) return null;
    const height = Math.round(Math.min(360, Math.max(240, width * 0.5)));
    const up = fieldScale(
        USED,
        overall.points.map(({ utilization }) => 100 * utilization),
        height - 40,
        16,
    );
    const area: Area = { left: leftOf(up), right: width - 14, top: 16, bottom: height - 40 };
    const across = fieldScale(
        WAITED,
        overall.points.map(({ delay_ms }) => delay_ms),
        area.left,
        area.right,
    );
    const points = overall.points.map((point) => ({
        ...point,
        name: benchmark.schemes[point.scheme] ?? point.scheme,
        x: across.at(point.delay_ms),
        y: up.at(100 * point.utilization),
    }));
    const places = placeNames(points, area);
    const words = points.map(
        (each) => `${each.name} ${(100 * each.utilization).toFixed(1)} % at ${each.delay_ms.toFixed(1)} ms`,
    );
    return (
        <section class="chart overall">
            <h3>
                Utilisation and delay: means over {countText(overall.cells, "cell")} that all of these schemes ran in
            </h3>
            <div class="plot" ref={box}>
                <svg width={width} height={height} role="img" aria-label={words.join("; ")}>
                    <Frame area={area} x={across} y={up} />
                    {points.map((each, index) => {
                        const look = lookOf(facts.schemes, each.scheme, dark);
                        const spot = places[index];
                        return (
                            <g key={each.scheme}>
                                <path
                                    d={markerPath(look.marker, each.x, each.y, 12)}
                                    fill={look.fill}
                                    stroke={look.color}
                                    stroke-width="1.5"
                                />
                                {spot && (
                                    <text class="name" x={spot.x} y={spot.y} text-anchor={spot.anchor}>
                                        {each.name}
                                    </text>
                                )}
                            </g>
                        );
                    })}
                </svg>
            </div>
        </section>
    );
}

function VerdictTable({ benchmark, facts }: { benchmark: Benchmark; facts: RunsFacts }) {
    if (!benchmark.verdicts.length) return <p>No experiment has both a scheme under test and a baseline.</p>;
    return (
        <Scrolling label="Verdicts">
            <table class="verdicts">
                <thead>
                    <tr>
                        {["Scheme", "Beside", "Experiment", "Number", "Verdict"].map((title) => (
                            <th key={title} scope="col">
                                {title}
                            </th>
                        ))}
                        <th scope="col" class="number">
                            Gain %
                        </th>
                        <th scope="col">Most ahead in</th>
                        <th scope="col">Most behind in</th>
                    </tr>
                </thead>
                <tbody>
                    {benchmark.verdicts.map((each) => (
                        <tr key={`${each.scheme} ${each.baseline} ${each.experiment} ${each.metric.name}`}>
                            <td>
                                <SchemeName benchmark={benchmark} facts={facts} name={each.scheme} />
                            </td>
                            <td>
                                <SchemeName benchmark={benchmark} facts={facts} name={each.baseline} />
                            </td>
                            <td>
                                <a href={addressOfExperiment(each.directory)}>{each.title}</a>
                            </td>
                            <td title={each.metric.name}>{metricTitle(each.metric)}</td>
                            <td class={each.worse && !each.better ? "bad" : undefined}>
                                {each.better && !each.worse ? <b>{each.verdict}</b> : each.verdict}
                            </td>
                            <td class="number">{medianGain(each.gains)}</td>
                            <td>{each.best}</td>
                            <td>{each.worst}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </Scrolling>
    );
}

function ExperimentsTable(props: { benchmark: Benchmark; facts: RunsFacts; experiments: readonly Experiment[] }) {
    const { benchmark, facts, experiments } = props;
    const labels = Object.keys(benchmark.schemes).filter((name) =>
        experiments.some((experiment) => experiment.labels.includes(name)),
    );
    return (
        <Scrolling label={`Numbers of the experiments of ${experiments[0]!.group}`}>
            <table class="numbers">
                <thead>
                    <tr>
                        <th scope="col">Experiment</th>
                        <th scope="col">Number</th>
                        <th scope="col" class="number">
                            Cells
                        </th>
                        {labels.map((name) => (
                            <th key={name} scope="col" class="number">
                                <SchemeName benchmark={benchmark} facts={facts} name={name} />
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {experiments.flatMap((experiment) => {
                        const head = (
                            <th scope="row">
                                <a href={addressOfExperiment(experiment.directory)}>{experiment.title}</a>
                            </th>
                        );
                        const rows = experiment.numbers.filter(({ values }) => Object.keys(values).length);
                        const shares = experiment.matches.length > 0 && (
                            <tr key={`${experiment.name} share`}>
                                {head}
                                <td>share of the capacity</td>
                                <td class="number">{experiment.cells}</td>
                                {labels.map((name) => (
                                    <NumberCell key={name} shown={meanShare(experiment, name)} />
                                ))}
                            </tr>
                        );
                        return [
                            shares,
                            ...(shares ? rows.slice(1) : rows).map((numbers) => (
                                <tr key={`${experiment.name} ${numbers.metric.name}`}>
                                    {head}
                                    <td title={numbers.metric.name}>{metricTitle(numbers.metric)}</td>
                                    <td class="number">{experiment.cells}</td>
                                    {shownNumbers(numbers, labels, experiment.cells).map((shown, index) => (
                                        <NumberCell key={labels[index]} shown={shown} />
                                    ))}
                                </tr>
                            )),
                        ];
                    })}
                </tbody>
            </table>
        </Scrolling>
    );
}

function meanShare(experiment: Experiment, name: string): { text: string; small: string; best: boolean } | null {
    const schemeMatches = experiment.matches.filter(({ label, share }) => label === name && share);
    if (!schemeMatches.length) return null;
    const mean = schemeMatches.reduce((sum, { share }) => sum + share!.mean, 0) / schemeMatches.length;
    const fair = schemeMatches.reduce((sum, each) => sum + each.fair, 0) / schemeMatches.length;
    return { text: mean.toFixed(2), small: `equal: ${fair.toFixed(2)}`, best: false };
}

/** Answer at the top of the first page: the findings, and the charts that fit the runs. */

import "./answers.css";
import { useMemo } from "preact/hooks";
import { ExperimentHead } from "../benchmark/experiment";
import { BenchmarkHead } from "../benchmark/verdicts";
import { useBenchmark } from "../data/benchmark";
import { useFindings } from "../data/findings";
import type { Runs } from "../data/runs";
import type { DirectoryFacts } from "../data/source";
import type { Selection } from "../ui/filters";
import { Legend, lookOf } from "../ui/plot";
import { useInks } from "../ui/theme";
import { type Chart, Charts } from "./charts";
import { type Facet, facetsOf, isMix } from "./facets";
import { shareFields } from "./shares";
import { axesOf } from "./sweep";

/** Maximum number of charts of one kind, and of directories with findings. The page of charts shows the rest. */
const MOST = 4;
const MOST_SWEEPS = 2;

/** Returns the names of the columns that the answer needs. */
export function firstColumns(runs: Runs, convention: string): string[] {
    const axes = runs.facts.fields.filter(({ group }) => group === "axis").map(({ name }) => name);
    return [...runs.mainOf(convention).map(({ name }) => name), ...axes, ...shareFields(runs), "seed"];
}

/**
 * Returns the directories whose runs are all among the rows, or null if the rows also contain a part of a directory.
 */
function wholeDirectories(runs: Runs, rows: Uint32Array): DirectoryFacts[] | null {
    const { values, names } = runs.column("directory");
    const [here, all] = [new Uint32Array(names?.length ?? 0), new Uint32Array(names?.length ?? 0)];
    for (const code of values) all[code]!++;
    for (const row of rows) here[values[row]!]!++;
    if (here.some((count, code) => count > 0 && count < all[code]!)) return null;
    return runs.facts.directories.filter(({ id }) => here[names?.indexOf(id) ?? -1]);
}

export function FirstAnswers({ runs, chosen, convention }: { runs: Runs; chosen: Selection; convention: string }) {
    const { rows, ready, age, entries } = chosen;
    const { dark } = useInks();
    const findings = useFindings(runs);
    const [benchmark, problem] = useBenchmark(runs.facts);
    const facets = useMemo(
        () => (ready ? facetsOf(runs, rows, findings ?? {}) : []),
        [runs, rows, ready, age, findings],
    );
    const axes = useMemo(() => (ready ? axesOf(runs, rows) : []), [runs, rows, ready, age]);
    const [throughput, delay] = runs.mainOf(convention);
    if (!throughput || !delay || !facets.length) return null;
    const completeDirectories = wholeDirectories(runs, rows);
    const directoriesWithFindings = findings
        ? (completeDirectories ?? []).filter(({ id }) => findings[id]?.sentences.length)
        : [];
    const along = axes.find(({ kind }) => kind === "number") ?? axes[0] ?? null;
    const chartSets: { chart: Chart; of: readonly Facet[]; metric: typeof throughput }[] = along
        ? [throughput, delay].map((metric) => ({ chart: "sweep", of: facets, metric }))
        : chartsOf(facets).map((each) => ({ ...each, metric: throughput }));
    const looks = (scheme: string) => lookOf(runs.facts.schemes, scheme, dark);
    const schemes = new Set(facets.flatMap((facet) => facet.schemes.map(({ scheme }) => scheme)));
    const query = new URLSearchParams(entries.map((entry) => ["filter", entry]));
    const directories = new Set(facets.map(({ directory }) => directory));
    const experiment =
        directories.size === 1 ? benchmark?.experiments.find(({ directory }) => directories.has(directory)) : undefined;
    if (runs.facts.is_benchmark && directories.size > 1)
        return (
            <section aria-label="What the runs say">
                {problem && <p class="bad">{problem}</p>}
                {benchmark ? (
                    <BenchmarkHead benchmark={benchmark} facts={runs.facts} />
                ) : (
                    <p class="quiet">Reading the verdicts…</p>
                )}
                <p>
                    <a href="#/verdicts">Verdicts and numbers of each experiment</a>
                </p>
            </section>
        );
    return (
        <section aria-label="What the runs say">
            {benchmark && experiment && <ExperimentHead {...{ benchmark, experiment }} facts={runs.facts} />}
            {directoriesWithFindings.slice(0, MOST).map(({ id, label }) => (
                <div key={id}>
                    {directories.size > 1 && <h3>{label}</h3>}
                    <ul class="findings">
                        {findings![id]!.sentences.map((text) => (
                            <li key={text}>{text}</li>
                        ))}
                    </ul>
                </div>
            ))}
            {chartSets.some(({ chart }) => chart !== "shares") && <Legend schemes={[...schemes]} looks={looks} />}
            {chartSets.map(({ chart, of, metric }) => (
                <Charts
                    key={`${chart} ${metric.name}`}
                    {...{ chart, runs, rows, axes, metric, along, looks, entries }}
                    facets={of}
                    x={delay}
                    y={throughput}
                    over={null}
                    tipFields={runs.mainOf(convention)}
                    maxRows={chart === "sweep" ? MOST_SWEEPS : MOST}
                    isAnswered={findings === null || directoriesWithFindings.length > 0}
                    findings={findings ?? {}}
                />
            ))}
            <p>
                <a href={`#/charts?${query}`}>All charts of these runs</a>
            </p>
        </section>
    );
}

/** Returns the charts: schemes by themselves are points of a plane, schemes of a mix have shares. */
function chartsOf(facets: readonly Facet[]): { chart: Chart; of: Facet[] }[] {
    const having = (mix: boolean) =>
        facets.filter((facet) => facet.schemes.some(({ scheme, rows }) => isMix(scheme) === mix && rows.length > 0));
    const chartKinds: { chart: Chart; of: Facet[] }[] = [
        { chart: "plane", of: having(false) },
        { chart: "shares", of: having(true) },
    ];
    return chartKinds.filter(({ of }) => of.length > 0);
}

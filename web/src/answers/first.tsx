/** The answer that the first page begins with: what the runs say, and the charts that fit them. */

import "./answers.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Runs } from "../data/runs";
import { type Findings, findingsOf } from "../data/source";
import type { Chosen } from "../ui/filters";
import { Legend, lookOf } from "../ui/plot";
import { useInks } from "../ui/theme";
import { type Chart, Charts } from "./charts";
import { type Facet, facetsOf, isMix } from "./facets";
import { shareFields } from "./shares";
import { axesOf } from "./sweep";

/** Charts of one kind, and directories whose findings are said: the others are on the page of charts. */
const MOST = 4;
const MOST_SWEEPS = 2;

/** Columns that the answer is made of. */
export function firstColumns(runs: Runs, convention: string): string[] {
    const axes = runs.facts.fields.filter(({ group }) => group === "axis").map(({ name }) => name);
    return [...runs.mainOf(convention).map(({ name }) => name), ...axes, ...shareFields(runs), "seed"];
}

/** The findings of all runs; null until they are here, empty where there are none. */
function useFindings(runs: Runs): Findings | null {
    const [found, setFound] = useState<Findings | null>(null);
    useEffect(() => {
        let wanted = true;
        findingsOf().then(
            (findings) => wanted && setFound(findings),
            () => wanted && setFound({}), // the charts have sentences of their own
        );
        return () => {
            wanted = false;
        };
    }, [runs]);
    return found;
}

export function FirstAnswers({ runs, chosen, convention }: { runs: Runs; chosen: Chosen; convention: string }) {
    const { rows, ready, age, entries } = chosen;
    const { dark } = useInks();
    const findings = useFindings(runs);
    const facets = useMemo(() => (ready ? facetsOf(runs, rows) : []), [runs, rows, ready, age]);
    const axes = useMemo(() => (ready ? axesOf(runs, rows) : []), [runs, rows, ready, age]);
    const [throughput, delay] = runs.mainOf(convention);
    if (!throughput || !delay || !facets.length) return null;
    const isWhole = rows.length === runs.rows;
    const said = isWhole && findings ? runs.facts.directories.filter(({ id }) => findings[id]?.length) : [];
    const along = axes.find(({ kind }) => kind === "number") ?? axes[0] ?? null;
    const drawn: { chart: Chart; of: readonly Facet[]; metric: typeof throughput }[] = along
        ? [throughput, delay].map((metric) => ({ chart: "sweep", of: facets, metric }))
        : chartsOf(facets).map((each) => ({ ...each, metric: throughput }));
    const looks = (scheme: string) => lookOf(runs.facts.schemes, scheme, dark);
    const schemes = new Set(facets.flatMap((facet) => facet.schemes.map(({ scheme }) => scheme)));
    const query = new URLSearchParams(entries.map((entry) => ["filter", entry]));
    return (
        <section aria-label="What the runs say">
            {said.slice(0, MOST).map(({ id, label }) => (
                <div key={id}>
                    {runs.facts.directories.length > 1 && <h3>{label}</h3>}
                    <ul class="findings">
                        {findings![id]!.map((text) => (
                            <li key={text}>{text}</li>
                        ))}
                    </ul>
                </div>
            ))}
            {drawn.some(({ chart }) => chart !== "shares") && <Legend schemes={[...schemes]} looks={looks} />}
            {drawn.map(({ chart, of, metric }) => (
                <Charts
                    key={`${chart} ${metric.name}`}
                    {...{ chart, runs, rows, axes, metric, along, looks, entries }}
                    facets={of}
                    x={delay}
                    y={throughput}
                    over={null}
                    shown={runs.mainOf(convention)}
                    most={chart === "sweep" ? MOST_SWEEPS : MOST}
                    isAnswered={isWhole && (findings === null || said.length > 0)}
                />
            ))}
            <p>
                <a href={`#/charts?${query}`}>All charts of these runs</a>
            </p>
        </section>
    );
}

/** Schemes by themselves are points of a plane, those of a mix have shares. */
function chartsOf(facets: readonly Facet[]): { chart: Chart; of: Facet[] }[] {
    const having = (mix: boolean) =>
        facets.filter((facet) => facet.schemes.some(({ scheme, rows }) => isMix(scheme) === mix && rows.length > 0));
    const found: { chart: Chart; of: Facet[] }[] = [
        { chart: "plane", of: having(false) },
        { chart: "shares", of: having(true) },
    ];
    return found.filter(({ of }) => of.length > 0);
}

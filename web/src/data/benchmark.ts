/** A benchmark's judgements, as `data/benchmark.json` says them. */

import { useEffect, useState } from "preact/hooks";
import { getJson, type RunsFacts } from "./source";
import type { Estimate } from "./statistics";

export interface Metric {
    name: string;
    title: string;
    unit: string;
    better: "more" | "less" | "neutral";
    level: string;
    formula: string;
}

/** A metric of each scheme: the mean over the cells of an experiment, with the lowest and the highest cell. */
export interface Numbers {
    metric: Metric;
    /** False where means are over different cells or different transfers. */
    comparable: boolean;
    values: Record<string, { mean: number; low: number; high: number; cells: number }>;
}

/** One metric of a scheme under test beside that of a baseline, over the cells of an experiment. */
export interface Verdict {
    scheme: string;
    baseline: string;
    experiment: string;
    directory: string;
    title: string;
    group: string;
    metric: Metric;
    cells: number;
    better: number;
    worse: number;
    alike: number;
    unknown: number;
    /** Relative differences, 0.1 for 10 % to the better. */
    gains: number[];
    /** Cells that are most ahead and most behind. */
    best: string;
    worst: string;
    verdict: string;
}

export interface Harm {
    metric: Metric;
    harm: number;
    solo: number;
    beside: number;
}

/** The flows of a scheme beside those of a competitor, in one cell. */
export interface Match {
    /** The cell without the competitor, for people. */
    place: string;
    path: string;
    label: string;
    competitor: string;
    /** How many flows against how many. */
    numbers: string;
    share: Estimate | null;
    fair: number;
    done: Harm[];
    suffered: Harm[];
}

export interface RunName {
    scheme: string;
    path: string;
    run: number;
}

export interface Experiment {
    directory: string;
    name: string;
    title: string;
    group: string;
    text: string;
    labels: string[];
    cells: number;
    runs: number;
    varied: string[];
    numbers: Numbers[];
    /** Charts that fit, as the address of the page of charts names them. */
    charts: Record<string, string>[];
    bad: (RunName & { status: string; reason: string })[];
    contradictions: (RunName & { text: string })[];
    matches: Match[];
    /** Completion times over the size of transfers, by what of them and by scheme. */
    completions: { label: string; bytes: number[]; times: Record<string, Record<string, (Estimate | null)[]>> }[];
    again: string;
    shipped: string;
    commands: { label: string; again: string; ccperf: string[] }[];
}

export interface Sight {
    scheme: string;
    /** Cells in which the rule could be asked. */
    looked: number;
    seen: { directory: string; path: string; label: string }[];
}

export interface Criterion {
    section: string;
    title: string;
    strength: string;
    show: string;
    not_here: string;
    missing: string[];
    facts: { name: string; rule: string; sights: Sight[] }[];
    evidence: { directory: string; matches: boolean; numbers: Numbers[] }[];
}

export interface Benchmark {
    /** Titles of the schemes. */
    schemes: Record<string, string>;
    examined: string[];
    baselines: string[];
    quick: boolean;
    command: string;
    runs: number;
    cells: number;
    simulated_s: number;
    /** Utilisation and delay over the cells that all of these schemes ran in. */
    overall: { cells: number; points: { scheme: string; utilization: number; delay_ms: number }[] } | null;
    verdicts: Verdict[];
    experiments: Experiment[];
    source: string;
    criteria: Criterion[];
}

const READ = new WeakMap<RunsFacts, Promise<Benchmark>>();

/** The benchmark that the results are of: null until it is here, or why it cannot be read. */
export function useBenchmark(facts: RunsFacts): [Benchmark | null, string] {
    const [found, setFound] = useState<[Benchmark | null, string]>([null, ""]);
    useEffect(() => {
        if (!facts.is_benchmark) return;
        let wanted = true;
        const read = READ.get(facts) ?? getJson<Benchmark>("data/benchmark.json");
        READ.set(facts, read);
        read.then(
            (benchmark) => wanted && setFound([benchmark, ""]),
            (error: Error) => wanted && setFound([null, error.message]),
        );
        return () => {
            wanted = false;
        };
    }, [facts]);
    return found;
}

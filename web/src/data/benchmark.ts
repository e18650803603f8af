/** Judgements on a benchmark, as stored in `data/benchmark.json`. */

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

/** Metric of each scheme: the mean over the cells of an experiment, with the lowest and the highest cell. */
export interface Numbers {
    metric: Metric;
    /** False if means are over different cells or different transfers. */
    comparable: boolean;
    values: Record<string, { mean: number; low: number; high: number; cells: number }>;
}

/** Metric of a scheme under test against a baseline, over the cells of an experiment. */
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
    /** Relative gains per cell: 0.1 means 10 % better. */
    gains: number[];
    /** Cell with the largest gain; `worst` has the smallest. */
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

/** Flows of a scheme that compete with another scheme in one cell. */
export interface Match {
    /** Name of the cell for people, without the competitor. */
    place: string;
    path: string;
    label: string;
    competitor: string;
    /** Number of flows on either side. */
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
    /** Suitable charts, as query parameters of the page of charts. */
    charts: Record<string, string>[];
    bad: (RunName & { status: string; reason: string })[];
    contradictions: (RunName & { text: string })[];
    matches: Match[];
    /** Completion times by size of transfer, for each label and scheme. */
    completions: { label: string; bytes: number[]; times: Record<string, Record<string, (Estimate | null)[]>> }[];
    again: string;
    shipped: string;
    commands: { label: string; again: string; ccperf: string[] }[];
}

export interface Sight {
    scheme: string;
    /** Number of cells in which the rule applies. */
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
    /** Titles of the schemes by name. */
    schemes: Record<string, string>;
    examined: string[];
    baselines: string[];
    quick: boolean;
    command: string;
    runs: number;
    cells: number;
    simulated_s: number;
    /** Utilization and delay over the cells in which every listed scheme ran. */
    overall: { cells: number; points: { scheme: string; utilization: number; delay_ms: number }[] } | null;
    verdicts: Verdict[];
    experiments: Experiment[];
    source: string;
    criteria: Criterion[];
}

const READ = new WeakMap<RunsFacts, Promise<Benchmark>>();

/** Returns the benchmark of the results (null until loaded), and the reason if it cannot be read. */
export function useBenchmark(facts: RunsFacts): [Benchmark | null, string] {
    const [found, setFound] = useState<[Benchmark | null, string]>([null, ""]);
    useEffect(() => {
        if (!facts.is_benchmark) return;
        let isMounted = true;
        const read = READ.get(facts) ?? getJson<Benchmark>("data/benchmark.json");
        READ.set(facts, read);
        read.then(
            (benchmark) => isMounted && setFound([benchmark, ""]),
            (error: Error) => isMounted && setFound([null, error.message]),
        );
        return () => {
            isMounted = false;
        };
    }, [facts]);
    return found;
}

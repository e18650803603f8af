/** Tables of runs for tests, made of lists. */

import { Runs } from "../src/data/runs";
import type { Field, RunsFacts } from "../src/data/source";
import type { CriticalValues } from "../src/data/statistics";
import core from "./data/core_values.json";

/** The critical values that `dumbbell serve` hands out. */
export const CRITICAL: CriticalValues = core.critical_values;

export function textField(name: string, more: Partial<Field> = {}): Field {
    return { name, title: name, kind: "text", group: "run", ...more };
}

export function numberField(name: string, more: Partial<Field> = {}): Field {
    return { name, title: name, kind: "number", group: "network", ...more };
}

export const GOODPUT = numberField("goodput_mbps", {
    title: "Goodput",
    unit: "Mbit/s",
    better: "more",
    convention: "corrected",
    factor: 1,
    digits: 2,
});
export const DELAY = numberField("owd_p95_ms", {
    title: "P95 one-way delay",
    unit: "ms",
    better: "less",
    convention: "corrected",
    factor: 1,
    digits: 1,
});

type Values = readonly (string | null)[] | readonly number[] | Float32Array;

/** Returns a table of these columns; fields that are not given are texts or numbers by their values. */
export function tableOf(
    columns: Record<string, Values>,
    given: readonly Field[] = [],
    more: Partial<RunsFacts> = {},
): Runs {
    const fieldsByName = new Map([GOODPUT, DELAY, ...given].map((field) => [field.name, field]));
    const isText = (values: Values) => !(values instanceof Float32Array) && typeof values[0] !== "number";
    const fields = Object.entries(columns).map(
        ([name, values]) => fieldsByName.get(name) ?? (isText(values) ? textField(name) : numberField(name)),
    );
    const runs = new Runs({
        kind: "files",
        is_benchmark: false,
        version: "1",
        rows: Object.values(columns)[0]?.length ?? 0,
        directories: [{ id: "d1", label: "results", experiment: "", version: "", date: "", running: false }],
        fields,
        schemes: {},
        conventions: {
            corrected: {
                title: "Corrected",
                rules: "Corrected: after the warm-up.",
                metrics: ["goodput_mbps", "owd_p95_ms", "packet_loss_rate"],
            },
            pantheon: {
                title: "Pantheon's convention",
                rules: "Pantheon's convention: the whole run.",
                metrics: ["throughput_mbps", "delay_p95_ms", "loss_rate"],
            },
        },
        critical_values: CRITICAL,
        ...more,
    });
    for (const [name, values] of Object.entries(columns)) {
        if (values instanceof Float32Array) runs.put(name, { values, names: null });
        else if (isText(values)) {
            const texts = values as readonly (string | null)[];
            const names = [...new Set(texts.filter((text) => text !== null))];
            const codes = texts.map((text) => (text === null ? 0xffffffff : names.indexOf(text)));
            runs.put(name, { values: Uint32Array.from(codes), names });
        } else runs.put(name, { values: Float64Array.from(values as readonly number[]), names: null });
    }
    return runs;
}

/** Returns all rows of a table. */
export function allRows(runs: Runs): Uint32Array {
    return Uint32Array.from({ length: runs.rows }, (_, row) => row);
}

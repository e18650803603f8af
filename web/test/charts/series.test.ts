import assert from "node:assert/strict";
import { test } from "node:test";
import {
    aggregate,
    countEvents,
    type Events,
    firstAt,
    type Series,
    shiftData,
    statesOf,
    valueAt,
    windowData,
} from "../../src/charts/series";
import { Columns, type NumberArray } from "../../src/data/columns";
import type { WindowMeta } from "../../src/data/source";
import { close } from "../close";

function series(kind: Series["kind"], time: number[], low: number[], more: Partial<Series> = {}): Series {
    return {
        key: "flow 1/x",
        owner: "flow 1",
        name: "x",
        title: "x",
        unit: "",
        kind,
        thinned: false,
        bin_ns: 0,
        time,
        low,
        high: low,
        states: null,
        ...more,
    };
}

test("the first row at a time is found by halves", () => {
    const times = [10, 20, 20, 30];
    assert.deepEqual(
        [5, 10, 15, 20, 25, 30, 31].map((time) => firstAt(times, time)),
        [0, 0, 1, 1, 3, 3, 4],
    );
    assert.equal(firstAt([], 5), 0);
});

test("of single points the nearest is the value, of equally near ones the earlier", () => {
    const points = series("points", [10, 20, 40], [1, 2, 3]);
    assert.deepEqual(
        [0, 14, 15, 16, 20, 39, 99].map((time) => valueAt(points, time)?.low),
        [1, 1, 1, 2, 2, 3, 3],
    );
});

test("steps hold from their time on, and have no value before the first", () => {
    const steps = series("steps", [10, 20], [1, 2]);
    assert.equal(valueAt(steps, 9), null);
    assert.deepEqual(
        [10, 19, 20, 1000].map((time) => valueAt(steps, time)?.low),
        [1, 1, 2, 2],
    );
});

test("bars hold for their length", () => {
    const bars = series("bars", [10, 30], [1, 2], { bin_ns: 10 });
    assert.deepEqual(
        [9, 10, 19, 20, 29, 30, 39, 40].map((time) => valueAt(bars, time)?.low ?? null),
        [null, 1, 1, null, null, 2, 2, null],
    );
});

test("a thinned row is of all samples up to the next", () => {
    const thinnedSeries = series("points", [10, 20], [1, 2], { thinned: true, high: [5, 6] });
    assert.deepEqual(valueAt(thinnedSeries, 19), { row: 0, time: 10, low: 1, high: 5 });
    assert.equal(valueAt(thinnedSeries, 5)?.row, 0, "points have a value before the first one");
});

test("a series without samples has no value", () => {
    for (const kind of ["points", "steps", "bars"] as const) assert.equal(valueAt(series(kind, [], []), 5), null);
});

test("the mean of points counts each alike", () => {
    const result = aggregate(series("points", [0, 1, 50, 200], [1, 2, 6, 100]), { from: 0, to: 100 });
    assert.deepEqual(result, { rows: 3, min: 1, max: 6, mean: 3 });
});

test("the mean of steps is over time, with the step that began before", () => {
    // 1 from 0 to 10, 4 from 10 to 40; within 5 to 25: 5 x 1 + 15 x 4 = 65 over 20
    const result = aggregate(series("steps", [0, 10, 40], [1, 4, 9]), { from: 5, to: 25 });
    assert.equal(result.rows, 2);
    assert.deepEqual([result.min, result.max], [1, 4]);
    close(result.mean, 3.25);
});

test("the mean of bars leaves out the gaps between them", () => {
    // bars of 10 at 0 and 30; within 5 to 35: 5 x 2 + 5 x 8 over 10
    const result = aggregate(series("bars", [0, 30], [2, 8], { bin_ns: 10 }), { from: 5, to: 35 });
    close(result.mean, 5);
});

test("values that are none do not count", () => {
    const result = aggregate(series("points", [0, 1, 2], [1, Number.NaN, 3]), { from: 0, to: 9 });
    assert.deepEqual(result, { rows: 2, min: 1, max: 3, mean: 2 });
});

test("of a thinned series minimum and maximum are known, the mean is not", () => {
    const result = aggregate(series("points", [0, 1], [1, 2], { thinned: true, high: [7, 3] }), { from: 0, to: 9 });
    assert.deepEqual(result, { rows: 2, min: 1, max: 7, mean: Number.NaN });
});

test("where a window has no samples there is nothing to tell", () => {
    const result = aggregate(series("points", [50], [1]), { from: 0, to: 9 });
    assert.deepEqual(result, { rows: 0, min: Number.NaN, max: Number.NaN, mean: Number.NaN });
});

function events(): Events {
    const kinds = ["drop", "mark", "drop", "drop"];
    return {
        time: [10, 20, 30, 40],
        flow: [1, 1, 2, 1],
        seq: [0, 0, 0, 0],
        kind: (row) => kinds[row]!,
        text: () => "",
        thinned: false,
        total: 4,
    };
}

test("events are counted by kind, both ends of the window included", () => {
    assert.deepEqual(
        [...countEvents(events(), { from: 10, to: 30 }, null)],
        [
            ["drop", 2],
            ["mark", 1],
        ],
    );
});

test("events of other flows do not count", () => {
    assert.deepEqual([...countEvents(events(), { from: 0, to: 99 }, new Set([2]))], [["drop", 1]]);
    assert.equal(countEvents(events(), { from: 0, to: 99 }, new Set()).size, 0);
});

function columns(): Columns<WindowMeta> {
    const header = { title: "", unit: "ms", kind: "steps", detail: "all" } as const;
    const meta: WindowMeta = {
        t0_ns: 0,
        t1_ns: 100,
        end_ns: 100,
        series: [
            { ...header, owner: "flow 1", name: "rtt", first: 0, rows: 2 },
            { ...header, owner: "link a/b", name: "queue", first: 2, rows: 1, names: ["off", "on"] },
        ],
        events: { thinned: true, total: 9, rows: 1 },
    };
    const numbers = {
        time_ns: [1, 2, 3],
        low: [4, 5, 6],
        high: [7, 8, 9],
        event_time_ns: [5],
        event_flow: [1],
        event_seq: [0],
    };
    const texts: [string, { values: NumberArray; names: string[] | null }][] = [
        ["event_kind", { values: Uint32Array.of(0), names: ["drop"] }],
        ["event_text", { values: Uint32Array.of(0), names: ["full"] }],
    ];
    const plain = Object.entries(numbers).map(
        ([name, values]) => [name, { values: Float64Array.from(values), names: null }] as const,
    );
    return new Columns(meta, new Map([...plain, ...texts]));
}

test("the answer for a window is divided into its series and events", () => {
    const { series: found, events: told } = windowData(columns());
    assert.deepEqual([...found.keys()], ["flow 1/rtt", "link a/b/queue"]);
    assert.deepEqual([...(found.get("flow 1/rtt")!.time as Float64Array)], [1, 2]);
    assert.deepEqual([...(found.get("link a/b/queue")!.high as Float64Array)], [9]);
    assert.equal(found.get("link a/b/queue")!.states?.get(1), "on");
    assert.equal(found.get("flow 1/rtt")!.states, null);
    assert.deepEqual([told.kind(0), told.text(0), told.thinned, told.total], ["drop", "full", true, 9]);
});

test("a window at other times has all its times moved, and only those", () => {
    const data = windowData(columns());
    const later = shiftData(data, 100);
    assert.deepEqual([...(later.series.get("flow 1/rtt")!.time as Float64Array)], [101, 102]);
    assert.deepEqual([...(later.events.time as Float64Array)], [105]);
    assert.equal(later.series.get("flow 1/rtt")!.low, data.series.get("flow 1/rtt")!.low);
    assert.equal(shiftData(data, 0), data);
});

test("whole numbers stand for states only where there are names", () => {
    assert.equal(statesOf({}), null);
    assert.equal(statesOf({ names: [] }), null);
    assert.deepEqual(
        [...statesOf({ names: ["off", "on"] })!],
        [
            [0, "off"],
            [1, "on"],
        ],
    );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { facetsOf } from "../../src/answers/facets";
import { shareFields, sharesOf } from "../../src/answers/shares";
import { close } from "../close";
import { allRows, numberField, tableOf } from "../table";

function table(scheme: string[], shares: Record<string, number[]>) {
    const fields = Object.keys(shares).map((name) => numberField(name, { group: "flow" }));
    const columns = {
        directory: scheme.map(() => "d1"),
        status: scheme.map(() => "done"),
        path: scheme.map(() => "a"),
    };
    return tableOf({ ...columns, scheme, ...shares }, fields);
}

test("shares are of schemes in mixes, where the table has them", () => {
    const runs = table(["cubic", "cubic*2+bbr", "copa+vegas"], { "share:cubic": [1, 1, 1], "share:bbr": [1, 1, 1] });
    assert.deepEqual(shareFields(runs), ["share:cubic", "share:bbr"]);
});

test("each of two schemes gets its share beside the other, and what would be fair", () => {
    const runs = table(["cubic*2+bbr", "cubic*2+bbr"], { "share:cubic": [0.5, 0.7], "share:bbr": [0.5, 0.3] });
    const got = sharesOf(runs, facetsOf(runs, allRows(runs), {})[0]!);
    assert.deepEqual([...got.keys()], ['["cubic","bbr"]', '["bbr","cubic"]']);
    const cubic = got.get('["cubic","bbr"]')!;
    close(cubic.estimate.mean, 0.6);
    close(cubic.fair, 2 / 3);
    assert.deepEqual(cubic.mixes, ["cubic*2+bbr"]);
});

test("mixes of one or three schemes have no two sides", () => {
    const runs = table(["cubic", "cubic*2", "a+b+c"], { "share:cubic": [1, 1, 1], "share:a": [1, 1, 1] });
    assert.equal(sharesOf(runs, facetsOf(runs, allRows(runs), {})[0]!).size, 0);
});

test("a share that is not known does not count", () => {
    const nan = Number.NaN;
    const runs = table(["a+b", "a+b"], { "share:a": [0.25, nan], "share:b": [nan, nan] });
    const got = sharesOf(runs, facetsOf(runs, allRows(runs), {})[0]!);
    assert.deepEqual([...got.keys()], ['["a","b"]']);
    assert.equal(got.get('["a","b"]')!.estimate.count, 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "../../src/playground/lines";
import { DEFAULT, type Scenario } from "../../src/playground/scenario";
import type { Inks } from "../../src/ui/theme";
import { CATALOGUE } from "./catalogue";

const INKS = { ink: "#111111", dark: false } as Inks;

function lines(schemes: string[], more: Partial<Scenario> = {}) {
    const flows = schemes.map((scheme) => ({ scheme, start_s: 0, stop_s: null, rtt_ms: null }));
    return linesOf({ ...DEFAULT, flows, ...more }, CATALOGUE, INKS);
}

test("a flow has the look of its scheme", () => {
    const [line] = lines(["bbr"]);
    assert.deepEqual(line, { flow: 1, name: "bbr", title: "BBR", color: "#d55e00", dashes: [], marker: "s" });
});

test("flows of one scheme differ in colour, dashes and marker, and are numbered", () => {
    const looks = lines(["cubic", "cubic", "copa"]);
    for (const key of ["color", "marker"] as const) assert.equal(new Set(looks.map((line) => line[key])).size, 3, key);
    assert.equal(new Set(looks.map(({ dashes }) => dashes.join())).size, 3);
    assert.deepEqual(
        looks.map(({ title }) => title),
        ["CUBIC (flow 1)", "CUBIC (flow 2)", "COPA"],
    );
});

test("eight flows have eight dashes and markers", () => {
    const looks = lines(Array.from({ length: 8 }, () => "cubic"));
    assert.equal(new Set(looks.map(({ dashes }) => dashes.join())).size, 8);
    assert.equal(new Set(looks.map(({ marker }) => marker)).size, 8);
});

test("a scheme without a colour is drawn in the page's ink", () => {
    assert.equal(lines(["reno"])[0]!.color, "#111111");
});

test("cross traffic is the last line, and says so", () => {
    const looks = lines(["cubic"], { cross_mbps: 5 });
    assert.deepEqual(
        looks.map(({ flow, title }) => [flow, title]),
        [
            [1, "CUBIC"],
            [2, "cross traffic"],
        ],
    );
});

/** Addresses that strangers make: whatever stands in them, a scenario within its limits comes out. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SCENARIOS } from "../../src/playground/presets";
import { LIMITS, limitsOf, MOST_FLOWS, type Quantity, readAddress } from "../../src/playground/scenario";
import { experimentFile } from "../../src/playground/specification";
import { CATALOGUE } from "./catalogue";

const KEYS = ["preset", "flows", "link", "queue", "unit", "__proto__", "constructor", ...Object.keys(LIMITS)];
const VALUES = [
    ..."0 -1 1e308 -1e308 1e-320 NaN Infinity 0x10 bdp packets ms unlimited fifo red __proto__ toString".split(" "),
    ..."cubic cubic@1.2.3 cubic@....-..~. cubic@0-0~0 cubic@2-1 cubic,cubic@1~80,bbr".split(" "),
    `cubic@${"9".repeat(400)}-${"9".repeat(400)}~${"9".repeat(400)}`,
    "cubic,".repeat(100),
    "<img src=x onerror=alert(1)>",
    "%00%0a[plugin]%0d\u2028",
    "",
];

test("whatever an address says, the scenario is within its limits", () => {
    let state = 7;
    const draw = (below: number) => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        return state % below;
    };
    for (let round = 0; round < 2000; round++) {
        const parts = Array.from(
            { length: 1 + draw(8) },
            () => `${KEYS[draw(KEYS.length)]}=${VALUES[draw(VALUES.length)]}`,
        );
        const hash = `#${parts.join("&")}`;
        const { scenario } = readAddress(hash, CATALOGUE, SCENARIOS);
        for (const name of Object.keys(LIMITS) as Quantity[]) {
            const { least, max } = limitsOf(name, scenario.unit);
            assert.ok(scenario[name] >= least && scenario[name] <= max, `${name} of ${hash}`);
        }
        assert.ok(scenario.flows.length >= 1 && scenario.flows.length <= MOST_FLOWS, hash);
        for (const { start_s, stop_s, rtt_ms } of scenario.flows) {
            assert.ok(start_s >= 0 && start_s < scenario.duration_s, hash);
            assert.ok(stop_s === null || (stop_s > start_s && stop_s < scenario.duration_s), hash);
            assert.ok(rtt_ms === null || (rtt_ms > scenario.rtt_ms && rtt_ms <= 2000), hash);
        }
        const [, second, third] = experimentFile(scenario, CATALOGUE, `http://localhost/\n${hash}`).split("\n");
        assert.ok(second?.startsWith("# "), hash);
        assert.equal(third, 'name = "playground"', hash);
    }
});

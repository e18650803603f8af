import assert from "node:assert/strict";
import { test } from "node:test";
import { PRESETS, SCENARIOS } from "../../src/playground/presets";
import {
    addressOf,
    DEFAULT,
    type Flow,
    flowText,
    LIMITS,
    limitsOf,
    MOST_CHARACTERS,
    MOST_FLOWS,
    MOST_PROBLEMS,
    type Quantity,
    readAddress,
    type Scenario,
    short,
    valid,
    within,
} from "../../src/playground/scenario";
import { CATALOGUE } from "./catalogue";

function flow(more: Partial<Flow> = {}): Flow {
    return { scheme: "cubic", start_s: 0, stop_s: null, rtt_ms: null, ...more };
}

function validScenario(change: Partial<Scenario>): Scenario {
    return valid({ ...DEFAULT, ...change }, CATALOGUE);
}

function read(hash: string) {
    return readAddress(hash, CATALOGUE, SCENARIOS);
}

test("a number beyond its limits is the limit, what is none is something else", () => {
    const limits = { least: 2, max: 8, log: false };
    assert.deepEqual(
        [1, 5, 9, Number.NaN, Number.POSITIVE_INFINITY].map((value) => within(value, limits, 3)),
        [2, 5, 8, 3, 3],
    );
});

test("numbers are short in addresses and files", () => {
    assert.equal(short(12345.678), 12300);
    assert.equal(short(0.00123456), 0.00123);
    assert.equal(short(0), 0);
});

test("a queue's length has the limits of its unit", () => {
    assert.deepEqual(limitsOf("buffer", "packets"), { least: 1, max: 10_000, log: true });
    assert.deepEqual(limitsOf("buffer", "bdp"), LIMITS.buffer);
    assert.deepEqual(limitsOf("rtt_ms", "packets"), LIMITS.rtt_ms);
});

test("the scenario of the page's beginning is valid", () => {
    assert.deepEqual(validScenario({}), DEFAULT);
});

test("every number is brought within its limits", () => {
    for (const name of Object.keys(LIMITS) as Quantity[]) {
        const { least, max } = LIMITS[name];
        assert.ok(validScenario({ [name]: -1e9 })[name] >= least, name);
        assert.ok(validScenario({ [name]: 1e9 })[name] <= max, name);
        assert.ok(Number.isFinite(validScenario({ [name]: Number.NaN })[name]), name);
    }
});

test("seeds and packets are whole numbers", () => {
    assert.equal(validScenario({ seed: 2.6 }).seed, 3);
    assert.equal(validScenario({ unit: "packets", buffer: 80.4 }).buffer, 80);
    assert.equal(validScenario({ unit: "packets", buffer: 0.2 }).buffer, 1);
});

test("jitter is at most half of the RTT, the advantage of flow 1 a quarter", () => {
    assert.equal(validScenario({ rtt_ms: 10, jitter_ms: 50 }).jitter_ms, 5);
    assert.equal(validScenario({ rtt_ms: 10, faster_ms: 10 }).faster_ms, 2.5);
});

test("a link or a queue that is not there is the plain one", () => {
    assert.equal(validScenario({ link: "lte" }).link, "lte");
    assert.equal(validScenario({ link: "5g" }).link, "fixed");
    assert.equal(validScenario({ queue: "magic" }).queue, "fifo");
});

test("RED has a length, for its thresholds are shares of it", () => {
    const result = validScenario({ unit: "unlimited", queue: "red-ecn" });
    assert.deepEqual([result.unit, result.buffer], ["packets", CATALOGUE.aqm_packets]);
    assert.equal(validScenario({ unit: "unlimited", queue: "codel" }).unit, "unlimited");
});

test("flows start within the run and stop after they started, or not at all", () => {
    const flows = [
        flow({ start_s: 100 }),
        flow({ start_s: -3 }),
        flow({ start_s: 5, stop_s: 4 }),
        flow({ start_s: 5, stop_s: 99 }),
        flow({ start_s: 5, stop_s: 8 }),
        flow({ stop_s: 20 }),
    ];
    assert.deepEqual(
        validScenario({ duration_s: 20, flows }).flows.map(({ start_s, stop_s }) => [start_s, stop_s]),
        [
            [19.9, null],
            [0, null],
            [5, null],
            [5, null],
            [5, 8],
            [0, null],
        ],
    );
});

test("a flow's own RTT is longer than the path's", () => {
    const flows = [flow({ rtt_ms: 30 }), flow({ rtt_ms: 90 }), flow({ rtt_ms: 9999 })];
    assert.deepEqual(
        validScenario({ rtt_ms: 40, flows }).flows.map(({ rtt_ms }) => rtt_ms),
        [null, 90, 2000],
    );
});

test("schemes that are not there are left out, and so are flows beyond the most", () => {
    assert.deepEqual(validScenario({ flows: [flow({ scheme: "none" }), flow({ scheme: "bbr" })] }).flows, [
        flow({ scheme: "bbr" }),
    ]);
    assert.equal(validScenario({ flows: Array.from({ length: 20 }, () => flow()) }).flows.length, MOST_FLOWS);
    assert.deepEqual(validScenario({ flows: [flow({ scheme: "none" })] }).flows, DEFAULT.flows);
});

test("a scenario that was made valid is valid", () => {
    const once = validScenario({
        rtt_ms: 3,
        jitter_ms: 9,
        faster_ms: 7,
        duration_s: 1,
        flows: [flow({ start_s: 5, stop_s: 9 })],
    });
    assert.deepEqual(valid(once, CATALOGUE), once);
});

test("what is given is not changed", () => {
    const lateFlow = { ...DEFAULT, flows: [flow({ start_s: 500 })] };
    valid(lateFlow, CATALOGUE);
    assert.equal(lateFlow.flows[0]!.start_s, 500);
});

test("a flow is written with what it has of its own", () => {
    assert.equal(flowText(flow()), "cubic");
    assert.equal(flowText(flow({ start_s: 5 })), "cubic@5");
    assert.equal(flowText(flow({ stop_s: 20 })), "cubic@0-20");
    assert.equal(flowText(flow({ start_s: 5, stop_s: 20, rtt_ms: 80 })), "cubic@5-20~80");
    assert.equal(flowText(flow({ scheme: "copa-delay", rtt_ms: 80 })), "copa-delay~80");
});

test("the address of the beginning is empty, and so is its reading", () => {
    assert.equal(addressOf(DEFAULT, "", SCENARIOS), "#");
    for (const empty of ["", "#", "#/", "#?"])
        assert.deepEqual(read(empty), { scenario: DEFAULT, preset: "", problems: [] });
});

test("an address has what differs from the beginning", () => {
    const scenario = { ...DEFAULT, queue: "codel", rtt_ms: 80, flows: [flow({ scheme: "bbr", start_s: 1.5 })] };
    assert.equal(addressOf(scenario, "", SCENARIOS), "#flows=bbr@1.5&queue=codel&rtt_ms=80");
});

test("every scenario comes back from its address", () => {
    const changes: Partial<Scenario>[] = [
        { rate_mbps: 0.25, unit: "ms", buffer: 120, jitter_ms: 3 },
        { link: "lte", unit: "packets", buffer: 80, queue: "pie-ecn" },
        { flows: [flow({ start_s: 0.5, stop_s: 2.25, rtt_ms: 90 }), flow({ scheme: "copa-delay" })] },
        { loss_percent: 0.1, slot_ms: 10, cross_mbps: 6, faster_ms: 1, duration_s: 60, seed: 7 },
    ];
    for (const change of changes) {
        const scenario = validScenario(change);
        const { scenario: back, problems } = read(addressOf(scenario, "", SCENARIOS));
        assert.deepEqual(back, scenario);
        assert.deepEqual(problems, []);
    }
});

test("every preset comes back from its address, changed or not", () => {
    for (const { name } of PRESETS) {
        const scenario = SCENARIOS[name]!;
        assert.equal(addressOf(scenario, name, SCENARIOS), `#preset=${name}`);
        assert.deepEqual(read(`#preset=${name}`).scenario, scenario, name);
        const scenarioWithSeed = valid({ ...scenario, seed: 9 }, CATALOGUE);
        const text = addressOf(scenarioWithSeed, name, SCENARIOS);
        assert.equal(text, `#preset=${name}&seed=9`);
        assert.deepEqual(read(text).scenario, scenarioWithSeed);
    }
});

test("what an address has too much is said, and the rest is read", () => {
    const { scenario, preset, problems } = read("#preset=none&flows=cubic,warp,bbr@1&rtt_ms=fast&buffer=&seed=3");
    assert.equal(preset, "");
    assert.deepEqual(scenario.flows.map(flowText), ["cubic", "bbr@1"]);
    assert.deepEqual([scenario.rtt_ms, scenario.seed], [DEFAULT.rtt_ms, 3]);
    assert.deepEqual(problems, [
        "There is no preset “none”.",
        "There is no scheme “warp” here.",
        "rtt_ms = “fast” is no number.",
        "buffer = “” is no number.",
    ]);
});

test("numbers of an address that no path has are brought within the limits", () => {
    const { scenario, problems } = read("#rate_mbps=1e99&rtt_ms=-5&duration_s=NaN&seed=0.5");
    assert.deepEqual(
        [scenario.rate_mbps, scenario.rtt_ms, scenario.duration_s, scenario.seed],
        [LIMITS.rate_mbps.max, LIMITS.rtt_ms.least, DEFAULT.duration_s, LIMITS.seed.least],
    );
    assert.deepEqual(problems, ["duration_s = “NaN” is no number."]);
});

test("long texts of an address are cut where they are said", () => {
    const [problem] = read(`#flows=${"x".repeat(500)}`).problems;
    assert.ok(problem!.length < 80);
});

test("an address of a million characters is not read", () => {
    const { scenario, preset, problems } = read(`#preset=${PRESETS[0]!.name}&flows=${",".repeat(1_000_000)}`);
    assert.deepEqual([scenario, preset], [DEFAULT, ""]);
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /^The address has 1,000,\d{3} characters from the # on, and 65,536 are allowed/);
});

test("an address of the most characters is read", () => {
    const start = "#seed=3&flows=bbr,";
    const { scenario, problems } = read(start + "x".repeat(MOST_CHARACTERS - start.length));
    assert.equal(scenario.seed, 3);
    assert.deepEqual(scenario.flows.map(flowText), ["bbr"]);
    assert.equal(problems.length, 1);
    assert.equal(read(start + "x".repeat(MOST_CHARACTERS - start.length + 1)).scenario.seed, DEFAULT.seed);
});

test("of many problems the first ones are said, and how many more there are", () => {
    const names = Array.from({ length: 5000 }, (_, index) => `none${index}`);
    const { scenario, problems } = read(`#flows=${names.join(",")}&seed=x`);
    assert.deepEqual(scenario.flows, DEFAULT.flows);
    assert.equal(problems.length, MOST_PROBLEMS + 1);
    assert.deepEqual([problems[0], problems.at(-1)], ["There is no scheme “none0” here.", "And 4,981 more."]);
});

test("the same problem is said once", () => {
    assert.deepEqual(read("#flows=warp,,warp,").problems, [
        "There is no scheme “warp” here.",
        "There is no scheme “” here.",
    ]);
});

test("flows beyond the most are not read, and that is said", () => {
    const { scenario, problems } = read(`#flows=none,${"cubic,".repeat(MOST_FLOWS)}warp,bbr`);
    assert.equal(scenario.flows.length, MOST_FLOWS);
    assert.deepEqual(problems, [
        "There is no scheme “none” here.",
        "At most 8 flows are allowed: 2 more were not read.",
    ]);
    assert.deepEqual(read(`#flows=${Array(MOST_FLOWS).fill("cubic")}`).problems, []);
});

test("small numbers of flows come back from their address", () => {
    for (const text of ["bbr@0.0000001", "bbr@0.0000001-0.0000002~80", "bbr@0-2e-7"]) {
        const { scenario } = read(`#flows=${text}`);
        const again = read(addressOf(scenario, "", SCENARIOS));
        assert.deepEqual(again, { scenario, preset: "", problems: [] }, text);
        assert.equal(scenario.flows[0]!.scheme, "bbr");
    }
    assert.deepEqual(read("#flows=bbr@1e-7-2e-7~8e1").scenario.flows, [
        flow({ scheme: "bbr", start_s: 1e-7, stop_s: 2e-7, rtt_ms: 80 }),
    ]);
});

test("slots that the core refuses are the shortest that it takes", () => {
    assert.equal(read("#slot_ms=1e-320").scenario.slot_ms, 0.001);
    assert.equal(read("#slot_ms=0").scenario.slot_ms, 0);
});

test("names that every object has are no presets", () => {
    for (const name of ["toString", "constructor"])
        assert.deepEqual(read(`#preset=${name}`).scenario.flows, DEFAULT.flows, name);
});

test("flows that cannot be are refused, one by one", () => {
    for (const text of ["Cubic", "cubic@", "cubic@-5", "cubic~", "cubic@5-20~80~90", "", "<b>"]) {
        const { problems, scenario } = read(`#flows=${encodeURIComponent(text)}`);
        assert.equal(problems.length, 1, text);
        assert.deepEqual(scenario.flows, DEFAULT.flows);
    }
});

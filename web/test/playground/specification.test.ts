import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT, type Scenario } from "../../src/playground/scenario";
import {
    elements,
    experimentFile,
    filesOf,
    linkRate,
    mixLabel,
    queuePackets,
    sampleInterval,
    specification,
} from "../../src/playground/specification";
import { CATALOGUE } from "./catalogue";

function scenario(change: Partial<Scenario> = {}): Scenario {
    return { ...DEFAULT, ...change };
}

function flow(scheme: string) {
    return { scheme, start_s: 0, stop_s: null, rtt_ms: null };
}

function packets(change: Partial<Scenario>): number | null {
    return queuePackets(scenario(change), CATALOGUE);
}

test("the rate of a cellular link is its mean one", () => {
    assert.equal(linkRate(scenario({ rate_mbps: 20 }), CATALOGUE), 20);
    assert.equal(linkRate(scenario({ link: "lte" }), CATALOGUE), 6);
});

test("a queue of bandwidth-delay products holds what the path does in an RTT", () => {
    // 20 Mbit/s x 40 ms = 100,000 bytes = 66.7 packets of 1,500
    assert.equal(packets({ buffer: 1 }), 67);
    assert.equal(packets({ buffer: 4 }), 267);
});

test("a queue of milliseconds is emptied in that time", () => {
    assert.equal(packets({ unit: "ms", buffer: 60 }), 100);
});

test("a queue holds one packet at least; one without a limit has no number", () => {
    assert.equal(packets({ unit: "ms", buffer: 0.001 }), 1);
    assert.equal(packets({ unit: "packets", buffer: 0 }), 1);
    assert.equal(packets({ unit: "unlimited" }), null);
});

test("halves of packets go to the even neighbour, as in Python", () => {
    // 12 Mbit/s is 1 packet per ms
    const packetsOf = (buffer: number) => packets({ unit: "ms", rate_mbps: 12, buffer });
    assert.deepEqual([2.5, 3.5, 3.4, 3.6].map(packetsOf), [2, 4, 3, 4]);
});

function data(change: Partial<Scenario>) {
    return elements(scenario(change), CATALOGUE).data;
}

test("a plain path is a link with a queue and half the RTT each way", () => {
    assert.deepEqual(elements(scenario({ unit: "packets", buffer: 50 }), CATALOGUE), {
        data: [
            { kind: "link", name: "bottleneck", rate_mbps: 20, queue: { kind: "droptail", packets: 50 } },
            { kind: "delay", delay_ms: 20 },
        ],
        ack: [{ kind: "delay", delay_ms: 20 }],
    });
});

test("a FIFO without a limit is infinite, another discipline has its usual length", () => {
    assert.deepEqual(data({ unit: "unlimited" })[0]!.queue, { kind: "infinite" });
    assert.deepEqual(data({ unit: "unlimited", queue: "codel" })[0]!.queue, { kind: "codel", packets: 1000 });
});

test("ECN is a property of the discipline", () => {
    const queue = data({ unit: "packets", buffer: 10, queue: "pie-ecn" })[0]!.queue;
    assert.deepEqual(queue, { kind: "pie", packets: 10, ecn: true });
});

test("RED's thresholds are a quarter and three quarters of its length, at least 1 and 2", () => {
    const red = (buffer: number) => data({ unit: "packets", queue: "red", buffer })[0]!.queue;
    assert.deepEqual(red(80), { kind: "red", packets: 80, min_threshold_packets: 20, max_threshold_packets: 60 });
    assert.deepEqual(red(1), { kind: "red", packets: 1, min_threshold_packets: 1, max_threshold_packets: 2 });
});

test("slots, loss and jitter stand behind the link, before the delay that is left", () => {
    const elementList = data({ slot_ms: 10, loss_percent: 1, jitter_ms: 5 });
    assert.deepEqual(elementList.slice(1), [
        { kind: "slotted", slot_ms: 10 },
        { kind: "loss", probability: 0.01 },
        { kind: "jitter", distribution: "uniform", mean_ms: 5, deviation_ms: 5 },
        { kind: "delay", delay_ms: 15 },
    ]);
});

test("jitter that takes all of the delay leaves none", () => {
    assert.deepEqual(
        data({ jitter_ms: 20 }).map(({ kind }) => kind),
        ["link", "jitter"],
    );
});

test("a cellular path has its links in both directions", () => {
    const { data: there, ack } = elements(scenario({ link: "lte", unit: "packets", buffer: 7 }), CATALOGUE);
    assert.deepEqual(there[0], {
        kind: "cellular",
        name: "lte",
        mean_mbps: 6,
        queue: { kind: "droptail", packets: 7 },
    });
    assert.deepEqual(ack.at(-1), { kind: "cellular", name: "lte-up", mean_mbps: 2 });
    assert.equal(CATALOGUE.cellular[0]!.data[0]!.queue, undefined, "the catalogue stays as it is");
});

test("an advantage of flow 1 is a delay that begins later, which the others do not pass", () => {
    const mixScenario = scenario({ faster_ms: 1, flows: [flow("cubic"), flow("bbr")], cross_mbps: 5 });
    assert.deepEqual(elements(mixScenario, CATALOGUE).data[0], {
        kind: "delay",
        name: "private",
        delay_ms: 0,
        schedule: [{ at_s: 0.1, delay_ms: 1 }],
    });
    const flows = specification(mixScenario, CATALOGUE).flows as { enter?: string }[];
    assert.deepEqual(
        flows.map(({ enter }) => enter),
        ["private", "bottleneck", "bottleneck"],
    );
});

test("samples are seldom enough for the length of the run", () => {
    assert.deepEqual(
        [2, 5, 5.1, 30, 31, 90, 91, 300].map(sampleInterval),
        [0.01, 0.01, 0.05, 0.05, 0.1, 0.1, 0.2, 0.2],
    );
});

test("a run's specification has the seed of the run, a sixth of warm-up, and the flows", () => {
    const runSpec = specification(scenario({ seed: 3, duration_s: 20 }), CATALOGUE);
    assert.deepEqual(
        [runSpec.seed, runSpec.warmup_s, runSpec.sample_interval_s, runSpec.log],
        [1003, 3.333, 0.05, "packets"],
    );
    assert.deepEqual(runSpec.flows, [
        {
            scheme: "cubic",
            controller: "cubic",
            parameters: {},
            transport: { kind: "tcp" },
            application: { kind: "greedy" },
            start_s: 0,
            stop_s: null,
            rtt_ms: null,
            reverse: false,
        },
    ]);
    const { name, ...path } = CATALOGUE.path;
    assert.equal((runSpec.path as { name?: string }).name, undefined, `not ${name}`);
    assert.deepEqual(
        Object.keys(path).every((key) => key in (runSpec.path as object)),
        true,
    );
});

test("cross traffic is a flow of its own, behind the others", () => {
    const flows = specification(scenario({ cross_mbps: 6 }), CATALOGUE).flows as Record<string, unknown>[];
    assert.deepEqual(
        flows.map(({ scheme }) => scheme),
        ["cubic", "udp-cbr"],
    );
    assert.deepEqual(flows[1]!.application, { kind: "constant", rate_mbps: 6 });
});

test("a file of the reader's own is the parameter that needs it", () => {
    const flows = (own: Record<string, string>) =>
        specification(scenario({ flows: [flow("own")] }), CATALOGUE, own).flows as Record<string, unknown>[];
    assert.deepEqual(flows({ own: "mine.rhai" })[0]!.parameters, { gain: "1", script: "mine.rhai" });
    assert.deepEqual(flows({})[0]!.parameters, { gain: "1" });
    assert.deepEqual(flows({ other: "x" })[0]!.parameters, { gain: "1" });
});

test("files that a run reads are named once", () => {
    const withFiles = scenario({ flows: [flow("learned"), flow("cubic"), flow("learned")] });
    assert.deepEqual(filesOf(withFiles, CATALOGUE), ["learned/weights.bin"]);
    assert.deepEqual(filesOf(scenario(), CATALOGUE), []);
});

test("a mix counts flows of the same scheme", () => {
    assert.equal(mixLabel(["cubic", "bbr", "cubic"]), "cubic*2+bbr");
    assert.equal(mixLabel(["bbr"]), "bbr");
    assert.equal(mixLabel([]), "");
});

test("an experiment file of one flow has a scheme, of several a mix", () => {
    const experiment = experimentFile(scenario(), CATALOGUE, "http://localhost/#");
    assert.match(experiment, /^schemes = \["cubic"\]$/m);
    const two = experimentFile(scenario({ flows: [flow("cubic"), flow("bbr")] }), CATALOGUE, "");
    assert.match(two, /^mixes = \["cubic\+bbr"\]$/m);
    assert.equal(two.split("[[flow]]").length - 1, 2);
});

test("an experiment file has the numbers of the specification", () => {
    const fullScenario = scenario({
        duration_s: 60,
        seed: 4,
        flows: [{ ...flow("cubic"), start_s: 1.5, stop_s: 9, rtt_ms: 90 }],
    });
    const text = experimentFile(fullScenario, CATALOGUE, "");
    for (const line of [
        "seed = 4",
        "duration_s = 60",
        "warmup_s = 10",
        "sample_interval_s = 0.1",
        "start_s = 1.5",
        "stop_s = 9",
        "rtt_ms = 90",
    ])
        assert.ok(text.split("\n").includes(line), line);
    assert.match(text, /^ {4}\{ ?kind = "delay", ?delay_ms = 20 ?\},$/m);
});

test("an address cannot leave its comment in an experiment file", () => {
    const text = experimentFile(scenario(), CATALOGUE, 'http://x/#a\nname = "evil"\u2028');
    assert.ok(text.includes('# http://x/#a?name = "evil"?\n'));
    assert.equal(text.match(/^name = /gm)?.length, 1);
});

test("an experiment file with a file of the reader's own says which", () => {
    const ownScenario = scenario({ flows: [flow("own")] });
    const text = experimentFile(ownScenario, CATALOGUE, "", { own: 'my "file".rhai' });
    assert.match(text, /^\[scheme\.own\]$/m);
    assert.ok(text.includes('script = "my \\"file\\".rhai"'));
    assert.ok(!experimentFile(ownScenario, CATALOGUE, "").includes("[scheme.own]"));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { addedName, addedTitle, flowOf, type Known, keyOf, ownerText, panelsOf } from "../../src/charts/panels";

function known(owner: string, name: string, unit: string, names?: string[]): Known {
    return { owner, name, title: name, unit, ...(names ? { names } : {}) };
}

const ONE = new Set([1]);

function panels(all: Known[], flows = ONE, added: string[] = [], bottleneck: string | null = null) {
    return panelsOf(all, bottleneck, flows, added).panels.map(({ id, keys }) => [id, ...keys]);
}

test("a flow is a number, a link is none", () => {
    assert.equal(flowOf("flow 12"), 12);
    assert.equal(flowOf("link data/flow 1"), null);
    assert.equal(flowOf("flow"), null);
});

test("a link's name for people is without its direction where that is the data's", () => {
    assert.equal(ownerText("link data/bottleneck"), "bottleneck");
    assert.equal(ownerText("link ack/back"), "ack/back");
    assert.equal(ownerText("path"), "");
    assert.equal(ownerText("flow 1"), "flow 1");
});

test("a key is the owner and the name", () => {
    assert.equal(keyOf(known("link a/b", "queue", "packets")), "link a/b/queue");
});

test("panels are in their order, whatever the order of the series", () => {
    const all = [
        known("flow 1", "rtt", "ms"),
        known("flow 1", "one_way_delay", "ms"),
        known("flow 1", "throughput", "Mbit/s"),
    ];
    assert.deepEqual(panels(all), [
        ["throughput", "flow 1/throughput"],
        ["delay", "flow 1/one_way_delay"],
        ["rtt", "flow 1/rtt"],
    ]);
});

test("each panel has one unit", () => {
    const all = [known("flow 1", "in_flight", "bytes"), known("flow 1", "cwnd", "packets")];
    const found = panelsOf(all, null, ONE, []).panels;
    assert.deepEqual(
        found.map(({ id, title, unit }) => [id, title, unit]),
        [
            ["flight", "In flight and window", "bytes"],
            ["flight-packets", "Congestion window", "packets"],
        ],
    );
});

test("of names with the same meaning the first is drawn", () => {
    const all = [known("flow 1", "latest_rtt", "ms"), known("flow 1", "rtt", "ms")];
    assert.deepEqual(panels(all), [["rtt", "flow 1/rtt"]]);
    assert.deepEqual(panels([all[0]!]), [["rtt", "flow 1/latest_rtt"]]);
});

test("series of flows that are not looked at are left out", () => {
    const all = [known("flow 1", "rtt", "ms"), known("flow 2", "rtt", "ms")];
    assert.deepEqual(panels(all, new Set([2])), [["rtt", "flow 2/rtt"]]);
    assert.deepEqual(panels(all, new Set()), []);
});

test("where several flows are drawn each panel has fewer lines of each", () => {
    const all = [1, 2].flatMap((flow) => [
        known(`flow ${flow}`, "throughput", "Mbit/s"),
        known(`flow ${flow}`, "send_rate", "Mbit/s"),
    ]);
    assert.deepEqual(panels(all, new Set([1, 2])), [["throughput", "flow 1/throughput", "flow 2/throughput"]]);
    assert.deepEqual(panels(all), [["throughput", "flow 1/throughput", "flow 1/send_rate"]]);
});

test("only the queue of the bottleneck is drawn, the others can be added", () => {
    const all = [known("link data/a", "queue", "packets"), known("link data/b", "queue", "packets")];
    const found = panelsOf(all, "link data/b", ONE, []);
    assert.deepEqual(
        found.panels.map(({ keys }) => keys),
        [["link data/b/queue"]],
    );
    assert.deepEqual(found.others.map(addedName), ["link data/a/queue"]);
});

test("what counts bytes is no rate", () => {
    assert.deepEqual(panels([known("flow 1", "throughput", "bytes")]), []);
});

test("values that are names of states are bands", () => {
    const found = panelsOf([known("flow 1", "cwnd", "", ["slow start", "avoidance"])], null, ONE, []);
    assert.deepEqual(found.panels, []);
    assert.deepEqual(found.states.map(keyOf), ["flow 1/cwnd"]);
    assert.deepEqual(found.others, []);
});

test("a series that was added has a panel of its own, one that is not there has none", () => {
    const all = [known("flow 1", "alpha", ""), known("flow 2", "alpha", "")];
    assert.deepEqual(panels(all, new Set([1, 2]), ["alpha", "beta"]), [["alpha", "flow 1/alpha", "flow 2/alpha"]]);
});

test("a panel that was added begins with a capital letter", () => {
    const added = panelsOf([{ ...known("flow 1", "alpha", ""), title: "alpha of DCTCP" }], null, ONE, ["alpha"]);
    assert.equal(added.panels[0]!.title, "Alpha of DCTCP");
});

test("series of the whole path are drawn whichever link is the bottleneck", () => {
    const all = [known("path", "one_way_delay", "ms"), known("link data/a", "one_way_delay", "ms")];
    assert.deepEqual(panels(all, ONE, [], "link data/b"), [["delay", "path/one_way_delay"]]);
});

test("numbers of packets are never offered", () => {
    assert.deepEqual(panelsOf([known("flow 1", "seq", "")], null, ONE, ["seq"]), {
        panels: [],
        states: [],
        others: [],
    });
});

test("a series of a link says which", () => {
    assert.equal(addedTitle({ ...known("link data/b", "drops", ""), title: "Drops" }), "Drops of b");
    assert.equal(addedTitle({ ...known("flow 1", "alpha", ""), title: "Alpha" }), "Alpha");
});

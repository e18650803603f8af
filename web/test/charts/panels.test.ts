import assert from "node:assert/strict";
import { test } from "node:test";
import { addedName, addedTitle, flowOf, keyOf, ownerText, panelsOf, type SeriesInfo } from "../../src/charts/panels";

function info(owner: string, name: string, unit: string, names?: string[]): SeriesInfo {
    return { owner, name, title: name, unit, ...(names ? { names } : {}) };
}

const ONE = new Set([1]);

function panels(all: SeriesInfo[], flows = ONE, added: string[] = [], bottleneck: string | null = null) {
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
    assert.equal(keyOf(info("link a/b", "queue", "packets")), "link a/b/queue");
});

test("panels are in their order, whatever the order of the series", () => {
    const series = [
        info("flow 1", "rtt", "ms"),
        info("flow 1", "one_way_delay", "ms"),
        info("flow 1", "throughput", "Mbit/s"),
    ];
    assert.deepEqual(panels(series), [
        ["throughput", "flow 1/throughput"],
        ["delay", "flow 1/one_way_delay"],
        ["rtt", "flow 1/rtt"],
    ]);
});

test("each panel has one unit", () => {
    const series = [info("flow 1", "in_flight", "bytes"), info("flow 1", "cwnd", "packets")];
    const panels = panelsOf(series, null, ONE, []).panels;
    assert.deepEqual(
        panels.map(({ id, title, unit }) => [id, title, unit]),
        [
            ["flight", "In flight and window", "bytes"],
            ["flight-packets", "Congestion window", "packets"],
        ],
    );
});

test("of names with the same meaning the first is drawn", () => {
    const series = [info("flow 1", "latest_rtt", "ms"), info("flow 1", "rtt", "ms")];
    assert.deepEqual(panels(series), [["rtt", "flow 1/rtt"]]);
    assert.deepEqual(panels([series[0]!]), [["rtt", "flow 1/latest_rtt"]]);
});

test("series of flows that are not looked at are left out", () => {
    const series = [info("flow 1", "rtt", "ms"), info("flow 2", "rtt", "ms")];
    assert.deepEqual(panels(series, new Set([2])), [["rtt", "flow 2/rtt"]]);
    assert.deepEqual(panels(series, new Set()), []);
});

test("where several flows are drawn each panel has fewer lines of each", () => {
    const series = [1, 2].flatMap((flow) => [
        info(`flow ${flow}`, "throughput", "Mbit/s"),
        info(`flow ${flow}`, "send_rate", "Mbit/s"),
    ]);
    assert.deepEqual(panels(series, new Set([1, 2])), [["throughput", "flow 1/throughput", "flow 2/throughput"]]);
    assert.deepEqual(panels(series), [["throughput", "flow 1/throughput", "flow 1/send_rate"]]);
});

test("only the queue of the bottleneck is drawn, the others can be added", () => {
    const series = [info("link data/a", "queue", "packets"), info("link data/b", "queue", "packets")];
    const choice = panelsOf(series, "link data/b", ONE, []);
    assert.deepEqual(
        choice.panels.map(({ keys }) => keys),
        [["link data/b/queue"]],
    );
    assert.deepEqual(choice.addable.map(addedName), ["link data/a/queue"]);
});

test("what counts bytes is no rate", () => {
    assert.deepEqual(panels([info("flow 1", "throughput", "bytes")]), []);
});

test("values that are names of states are bands", () => {
    const choice = panelsOf([info("flow 1", "cwnd", "", ["slow start", "avoidance"])], null, ONE, []);
    assert.deepEqual(choice.panels, []);
    assert.deepEqual(choice.states.map(keyOf), ["flow 1/cwnd"]);
    assert.deepEqual(choice.addable, []);
});

test("a series that was added has a panel of its own, one that is not there has none", () => {
    const series = [info("flow 1", "alpha", ""), info("flow 2", "alpha", "")];
    assert.deepEqual(panels(series, new Set([1, 2]), ["alpha", "beta"]), [["alpha", "flow 1/alpha", "flow 2/alpha"]]);
});

test("a panel that was added begins with a capital letter", () => {
    const choice = panelsOf([{ ...info("flow 1", "alpha", ""), title: "alpha of DCTCP" }], null, ONE, ["alpha"]);
    assert.equal(choice.panels[0]!.title, "Alpha of DCTCP");
});

test("series of the whole path are drawn whichever link is the bottleneck", () => {
    const series = [info("path", "one_way_delay", "ms"), info("link data/a", "one_way_delay", "ms")];
    assert.deepEqual(panels(series, ONE, [], "link data/b"), [["delay", "path/one_way_delay"]]);
});

test("numbers of packets are never offered", () => {
    assert.deepEqual(panelsOf([info("flow 1", "seq", "")], null, ONE, ["seq"]), {
        panels: [],
        states: [],
        addable: [],
    });
});

test("a series of a link says which", () => {
    assert.equal(addedTitle({ ...info("link data/b", "drops", ""), title: "Drops" }), "Drops of b");
    assert.equal(addedTitle({ ...info("flow 1", "alpha", ""), title: "Alpha" }), "Alpha");
});

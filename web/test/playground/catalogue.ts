/** A small catalogue, as `scripts/playground_catalogue.py` writes it. */

import type { Catalogue, Scheme } from "../../src/playground/catalogue";

function scheme(name: string, more: Partial<Scheme> = {}): Scheme {
    return {
        name,
        title: name.toUpperCase(),
        family: "loss",
        summary: "",
        source: "",
        traffic: false,
        controller: name,
        parameters: {},
        transport: { kind: "tcp" },
        application: { kind: "greedy" },
        files: {},
        needs: [],
        color: "#0072b2",
        marker: "o",
        dashes: [],
        ...more,
    };
}

export const CATALOGUE: Catalogue = {
    version: "1.0",
    path: { name: "playground", overhead_bytes: 0, mtu_bytes: 1500, fragment: false },
    settings: { convergence_delta: 0.1, jain_window_s: 1, most_events_per_s: 1e6, most_packets: 1e6 },
    packet_bytes: 1500,
    seeds: Array.from({ length: 100 }, (_, seed) => 1000 + seed + 1),
    families: { loss: "by loss" },
    queues: [
        { name: "fifo", kind: "droptail" },
        { name: "codel", kind: "codel" },
        { name: "red", kind: "red" },
        { name: "red-ecn", kind: "red" },
        { name: "pie-ecn", kind: "pie" },
    ],
    aqm_packets: 1000,
    cellular: [
        {
            name: "lte",
            title: "LTE",
            data: [{ kind: "cellular", name: "lte", mean_mbps: 6 }],
            ack: [{ kind: "cellular", name: "lte-up", mean_mbps: 2 }],
        },
    ],
    schemes: [
        scheme("cubic"),
        scheme("bbr", { color: "#d55e00", marker: "s" }),
        scheme("reno", { color: "", marker: "v" }),
        scheme("copa"),
        scheme("copa-delay"),
        scheme("ledbat"),
        scheme("vivace"),
        scheme("learned", { parameters: { weights: "learned/weights.bin", k: "2" }, files: { weights: 1234 } }),
        scheme("own", {
            parameters: { gain: "1" },
            needs: ["script"],
            controller: "script",
            application: { kind: "constant", rate_mbps: 3 },
        }),
        scheme("udp-cbr", {
            traffic: true,
            transport: { kind: "udp" },
            application: { kind: "constant", rate_mbps: 1 },
        }),
    ],
};

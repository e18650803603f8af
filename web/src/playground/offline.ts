/** Service worker: files that were fetched once remain available offline. A reachable server takes precedence. */

const KEPT = "dumbbell-playground";
const FILES = ["./", "main.js", "main.css", "worker.js", "simulator.wasm", "catalogue.json"];

interface Waiting extends Event {
    waitUntil(work: Promise<unknown>): void;
}

interface Fetching extends Event {
    request: Request;
    respondWith(response: Promise<Response>): void;
}

async function keepAll(): Promise<void> {
    const cache = await caches.open(KEPT);
    const response = await fetch("catalogue.json");
    const { schemes } = (await response.json()) as {
        schemes: { files: Record<string, number>; parameters: Record<string, string> }[];
    };
    const weights = schemes.flatMap(({ files, parameters }) => Object.keys(files).map((name) => parameters[name]!));
    await cache.addAll([...FILES, ...new Set(weights)]);
}

async function answer(request: Request): Promise<Response> {
    const cache = await caches.open(KEPT);
    try {
        const response = await fetch(request);
        if (response.ok) await cache.put(request, response.clone());
        return response;
    } catch (error) {
        const storedResponse = await cache.match(request, { ignoreSearch: true });
        if (storedResponse) return storedResponse;
        throw error;
    }
}

addEventListener("install", (event) => (event as Waiting).waitUntil(keepAll()));
addEventListener("activate", (event) => {
    const { clients } = self as unknown as { clients: { claim(): Promise<void> } };
    (event as Waiting).waitUntil(clients.claim());
});
addEventListener("fetch", (event) => {
    const { request } = event as Fetching;
    if (request.method === "GET" && new URL(request.url).origin === location.origin) {
        (event as Fetching).respondWith(answer(request));
    }
});

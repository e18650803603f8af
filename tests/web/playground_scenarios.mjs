// What the page makes of scenarios: node playground_scenarios.mjs CATALOGUE, with a JSON list of {preset, change, own} on stdin;
// a JSON list of {scenario, specification, files, toml, address} comes out, the presets of the page in front of it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const { build } = await import(join(SOURCE, "node_modules/esbuild/lib/main.js"));

async function load(name) {
    const made = await build({
        entryPoints: [join(SOURCE, "src/playground", name)],
        bundle: true,
        format: "esm",
        write: false,
        absWorkingDir: SOURCE,
    });
    return import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);
}

const [scenarios, specifications, { PRESETS, SCENARIOS }] = await Promise.all([
    load("scenario.ts"),
    load("specification.ts"),
    load("presets.ts"),
]);
const catalogue = JSON.parse(readFileSync(process.argv[2], "utf8"));
const asked = JSON.parse(readFileSync(0, "utf8"));
const made = asked.map(({ preset = "", change = {}, own = {}, address = null }) => {
    const read = address === null ? null : scenarios.readAddress(address, catalogue, SCENARIOS);
    const scenario =
        read?.scenario ?? scenarios.valid({ ...scenarios.DEFAULT, ...SCENARIOS[preset], ...change }, catalogue);
    const text = scenarios.addressOf(scenario, preset, SCENARIOS);
    return {
        scenario,
        specification: specifications.specification(scenario, catalogue, own),
        files: specifications.filesOf(scenario, catalogue),
        toml: specifications.experimentFile(scenario, catalogue, `http://localhost/${text}`, own),
        address: text,
    };
});
console.log(JSON.stringify({ presets: PRESETS, made }));

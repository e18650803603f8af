// Runs the unit tests in test/ with Node's own runner: node test.mjs [NAME...], which chooses files by a part of their path.
// Without names it is quiet unless a test fails.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const names = process.argv.slice(2);

function testFiles(folder) {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? testFiles(path) : path.endsWith(".test.ts") ? [path] : [];
    });
}

const files = testFiles(join(HERE, "test")).filter(
    (file) => names.length === 0 || names.some((name) => file.includes(name)),
);
if (files.length === 0) {
    console.error(`test.mjs: no test file in web/test has one of these in its path: ${names.join(", ")}`);
    process.exit(2);
}
const out = mkdtempSync(join(tmpdir(), "dumbbell-web-test-"));
try {
    const { metafile } = await build({
        absWorkingDir: HERE,
        entryPoints: files,
        outbase: "test",
        outdir: out,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        format: "esm",
        platform: "node",
        target: "es2022",
        jsx: "automatic",
        jsxImportSource: "preact",
        sourcemap: "inline",
        loader: { ".css": "empty" },
        metafile: true,
        logLevel: "warning",
    });
    const bundles = Object.keys(metafile.outputs).map((file) => join(HERE, file));
    const options = ["--enable-source-maps", "--test", "--test-reporter=spec"];
    const run = spawnSync(process.execPath, [...options, ...bundles], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
    });
    const passed = Number(/^\S+ pass (\d+)$/m.exec(run.stdout)?.[1] ?? 0);
    if (run.status !== 0 || passed === 0 || names.length > 0) process.stdout.write(run.stdout);
    else console.log(`${passed} unit tests of TypeScript passed`);
    process.exitCode = run.status === 0 && passed > 0 ? 0 : 1;
} finally {
    rmSync(out, { recursive: true });
}

// Builds a page and what it needs into a folder: node build.mjs explorer|playground OUT.
import { cpSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const PAGES = { explorer: ["main.tsx"], playground: ["main.tsx", "worker.ts", "offline.ts"] };

const [, , page, given] = process.argv;
const out = given && resolve(given);
if (!(page in PAGES) || !out) {
    console.error(`build.mjs: usage: node build.mjs ${Object.keys(PAGES).join("|")} OUT`);
    process.exit(2);
}
const source = join(HERE, "src", page);
mkdirSync(out, { recursive: true });
await build({
    absWorkingDir: HERE,
    entryPoints: PAGES[page].map((name) => join(source, name)),
    outdir: out,
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
});
cpSync(join(source, "index.html"), join(out, "index.html"));

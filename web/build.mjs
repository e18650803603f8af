// Builds a page and what it needs into a folder: node build.mjs explorer|playground OUT.
import { cpSync, mkdirSync, readdirSync } from "node:fs";
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
    // a page from the disk may load no modules
    format: page === "explorer" ? "iife" : "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
});
for (const name of readdirSync(source).filter((file) => file.endsWith(".html")))
    cpSync(join(source, name), join(out, name));

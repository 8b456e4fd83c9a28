// Runs a TypeScript file from source: node run.mjs FILE.ts
//
// Node from 22.13 can take the types out by itself. An older one needs the
// package that Node has built in since, which `npm ci` puts beside this file
// once; nothing is ever downloaded here.
import * as nodeModule from "node:module";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

function stripper() {
  if (nodeModule.stripTypeScriptTypes) return nodeModule.stripTypeScriptTypes;
  try {
    const amaro = createRequire(import.meta.url)("amaro");
    return (source) => amaro.transformSync(source, { mode: "strip-only" }).code;
  } catch (err) {
    console.error(`Node ${process.versions.node} cannot run TypeScript (${err.code}): run "npm ci" in ${import.meta.dirname ?? "this folder"} once, or use Node 22.13 or later.`);
    process.exit(1);
  }
}

// Types become blanks, so that line numbers in errors are those of the source.
const path = resolve(process.argv[2]);
const code = stripper()(readFileSync(path, "utf8"));
await import("data:text/javascript;charset=utf-8," + encodeURIComponent(`${code}\n//# sourceURL=${path}`));

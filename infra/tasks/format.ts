import { spawnSync } from "node:child_process";
import { root } from "../generate/repository.ts";

/** Formats everything and applies the safe fixes of the linter. */
const biome = ["node_modules/@biomejs/biome/bin/biome", "check", "--write", ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, biome, { cwd: root, stdio: "inherit" }).status ?? 1;

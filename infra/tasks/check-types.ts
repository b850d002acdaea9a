import { spawnSync } from "node:child_process";
import { root } from "../generate/repository.ts";
import { generateClient } from "../release/pack-client.ts";

/** A second run looks only at what has changed since the first. */
const remembered = ["--incremental", "--tsBuildInfoFile", "node_modules/.cache/signalbox/types.tsbuildinfo"];

/** Checks all types, those of the client made from the routes as they are now. */
await generateClient();
const compiler = ["node_modules/typescript-native/bin/tsc", "--noEmit", "-p", "tsconfig.json", ...remembered];
process.exitCode = spawnSync(process.execPath, compiler, { cwd: root, stdio: "inherit" }).status ?? 1;

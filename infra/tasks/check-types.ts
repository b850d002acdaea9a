import { spawnSync } from "node:child_process";
import { root } from "../generate/repository.ts";
import { generateClient } from "../release/pack-client.ts";

/** Code of Node and code of browsers, each with its own globals. */
const projects = { types: "tsconfig.json", "console-types": "services/console/tsconfig.json" };

/** Checks all types, those of the client made from the routes as they are now. */
await generateClient();
const statuses = Object.entries(projects).map(([name, project]) => {
  // A second run looks only at what has changed since the first.
  const remembered = ["--incremental", "--tsBuildInfoFile", `node_modules/.cache/signalbox/${name}.tsbuildinfo`];
  const compiler = ["node_modules/typescript-native/bin/tsc", "--noEmit", "-p", project, ...remembered];
  return spawnSync(process.execPath, compiler, { cwd: root, stdio: "inherit" }).status ?? 1;
});
process.exitCode = Math.max(...statuses);

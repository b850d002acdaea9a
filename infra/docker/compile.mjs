/**
 * Run once while the image is built, with NODE_COMPILE_CACHE: loads the code of every service, so that the cache
 * contains it compiled and without types. A process that starts from it strips nothing and parses little.
 */
import { existsSync, readdirSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { pathToFileURL } from "node:url";

const services = readdirSync("services")
  .map((name) => `services/${name}/src/service.ts`)
  .filter((path) => existsSync(path));
const others = [
  "libs/runtime/src/index.ts",
  "libs/runtime/src/telemetry/start-exporting.ts",
  "infra/embedded/start-embedded.ts",
];
for (const path of [...services, ...others]) await import(pathToFileURL(path).href);
flushCompileCache();
process.exit(0);

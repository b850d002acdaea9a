import { spawn } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";
import { environment } from "@signalbox/runtime";
import { buildImages } from "./build-images.ts";
import { preparePodman } from "./podman.ts";

/**
 * `npm run containers`: builds the image and stand-ins for the engine images, and tests the deployments: compose
 * (docker-compose.yml), options (the same with TLS, a mailbox and monitoring), small (compose.small.yml), move (from the
 * small one to engines), kubernetes (the chart with its example `local`, idle for `--idle-minutes=2`).
 * `npm run containers -- small` runs one of them. Requires podman, buildah, runc and debootstrap, and root.
 */
const tests = ["compose", "options", "small", "move", "kubernetes"];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "idle-minutes": { type: "string", default: "2" } },
});
const unknown = positionals.find((name) => !tests.includes(name));
if (unknown) throw new Error(`there is no ${unknown}; there are ${tests.join(", ")}`);
const files = (positionals.length > 0 ? positionals : tests).map((name) => `test-e2e/containers/${name}.ts`);

await preparePodman();
await buildImages((step) => void process.stderr.write(`Building ${step}\n`));
const child = spawn(process.execPath, ["--test", "--test-concurrency=1", "--test-timeout=1800000", ...files], {
  stdio: "inherit",
  env: { ...environment(), IDLE_MINUTES: values["idle-minutes"] },
});
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});

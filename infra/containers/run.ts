import { spawn } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";
import { environment } from "@signalbox/config";
import { buildImages } from "./build-images.ts";
import { preparePodman } from "./podman.ts";

/**
 * `npm run containers`: builds the image and stand-ins for the engine images, then runs the tests of docker-compose.yml on them;
 * `npm run containers -- kubernetes` those of the overlay `local`, which is left alone for `--idle-minutes=2`.
 * It needs podman, buildah, runc and debootstrap, and root.
 */
const tests = ["compose", "kubernetes"] as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "idle-minutes": { type: "string", default: "2" } },
});
const [name = "compose"] = positionals;
if (!tests.some((one) => one === name)) throw new Error(`there is no ${name}; there are ${tests.join(", ")}`);

await preparePodman();
await buildImages((step) => void process.stderr.write(`Building ${step}\n`));
const child = spawn(process.execPath, ["--test", "--test-timeout=1800000", `test-e2e/containers/${name}.ts`], {
  stdio: "inherit",
  env: { ...environment(), IDLE_MINUTES: values["idle-minutes"] },
});
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});

import { spawn } from "node:child_process";
import process from "node:process";
import { buildImages } from "./build-images.ts";
import { preparePodman } from "./podman.ts";

/**
 * `npm run containers`: builds the image and stand-ins for the engine images, then runs the tests of docker-compose.yml on them.
 * It needs podman, buildah, runc and debootstrap, and root.
 */
const tell = (step: string): boolean => process.stderr.write(`Building ${step}\n`);
await preparePodman();
await buildImages(tell);
const child = spawn(process.execPath, ["--test", "--test-timeout=1800000", "test-e2e/containers/compose.ts"], {
  stdio: "inherit",
});
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});

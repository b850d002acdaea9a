import { join } from "node:path";
import { EngineAbsentError } from "./engine.ts";
import { fetchOnce } from "./fetch-once.ts";
import { findProgram } from "./find-program.ts";
import { run } from "./processes.ts";

const install = "apt-get install -y python3 python3-venv (Python 3.11 or newer)";

/**
 * Makes a Python environment with the packages of `requirements`: each at one version, with the digests of its files, so
 * that what was looked at is what runs. @throws EngineAbsentError with the command that installs Python.
 */
export async function fetchPythonEnvironment(folder: string, requirements: string): Promise<void> {
  await findProgram({ name: "python3", versionArgs: ["--version"], install });
  await fetchOnce(folder, (unfinished) => installInto(unfinished, requirements));
}

export const pythonOf = (folder: string): string => join(folder, "bin", "python");

async function installInto(folder: string, requirements: string): Promise<void> {
  await run("python3", ["-m", "venv", folder]).catch((error: { stdout?: string }) => {
    throw new EngineAbsentError(
      `python3 cannot make an environment; install it with: ${install}\n${error.stdout ?? ""}`,
    );
  });
  const options = ["--quiet", "--require-hashes", "--only-binary", ":all:", "--no-deps"];
  await run(pythonOf(folder), ["-m", "pip", "install", ...options, "--requirement", requirements]);
}

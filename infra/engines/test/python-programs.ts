import { join } from "node:path";
import { findProgram } from "../doctor.ts";
import { EngineAbsentError } from "../engine.ts";
import { enginesFolder } from "../engine-folders.ts";
import { fetchOnce } from "../fetch-once.ts";
import { run } from "../processes.ts";

/**
 * Makes a Python environment with the packages of `requirements`: each at one version, with the digests of its files, so
 * that what was looked at is what runs. @throws EngineAbsentError with the command that installs Python.
 */
export async function fetchPythonEnvironment(folder: string, requirements: string): Promise<void> {
  await findProgram("python3");
  await fetchOnce(folder, (unfinished) => installInto(unfinished, requirements));
}

export const pythonOf = (folder: string): string => join(folder, "bin", "python");

async function installInto(folder: string, requirements: string): Promise<void> {
  await run("python3", ["-m", "venv", folder]).catch((error: { stdout?: string }) => {
    throw new EngineAbsentError(`python3 cannot make an environment; install python3-venv\n${error.stdout ?? ""}`);
  });
  const options = ["--quiet", "--require-hashes", "--only-binary", ":all:", "--no-deps"];
  await run(pythonOf(folder), ["-m", "pip", "install", ...options, "--requirement", requirements]);
}

/** A tool of tests: no engine, but fetched like one. Its folder is named after the version, so another version is another program. */
function pythonProgram(name: string, version: string) {
  const folder = join(enginesFolder, `${name}-${version}`);
  return {
    name,
    python: pythonOf(folder),
    /** Makes the program present and says what was found. @throws EngineAbsentError with the command that installs Python */
    async fetch(): Promise<string> {
      await fetchPythonEnvironment(folder, join(import.meta.dirname, name, "requirements.txt"));
      return `${name} ${version}`;
    },
  };
}

/** Reads images without the decoder that made them. */
export const pillow = pythonProgram("pillow", "13.0.0");
/** Asks a service everything that its OpenAPI document allows and forbids. */
export const schemathesis = pythonProgram("schemathesis", "4.32.5");

const outputMax = 16 * 1024 * 1024;

/** Runs a Python script that has Pillow, and answers with what it prints. */
export async function runPillow(script: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(pillow.python, ["-I", script, ...args], { maxBuffer: outputMax });
  return stdout;
}

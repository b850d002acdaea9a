import { join } from "node:path";
import { enginesFolder } from "../engine-folders.ts";
import { run } from "../processes.ts";
import { fetchPythonEnvironment, pythonOf } from "../python-environment.ts";

const version = "13.0.0";
/** Named after the version, so that another version is another program. */
const programs = join(enginesFolder, `pillow-${version}`);
const outputMax = 16 * 1024 * 1024;

/** Pillow: reads images without the decoder that made them. No engine, but fetched like one. */
export const pillow = {
  name: "pillow",

  /** Makes it present and says what was found. @throws EngineAbsentError with the command that installs Python. */
  async fetch(): Promise<string> {
    await fetchPythonEnvironment(programs, join(import.meta.dirname, "requirements.txt"));
    return `Pillow ${version}`;
  },
};

/** Runs a Python script that has Pillow, and answers with what it prints. */
export async function runPillow(script: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(pythonOf(programs), ["-I", script, ...args], { maxBuffer: outputMax });
  return stdout;
}

import { EngineAbsentError } from "./engine.ts";
import { run } from "./processes.ts";

interface Program {
  readonly name: string;
  /** Makes the program print its version and end. */
  readonly versionArgs: readonly string[];
  /** The command that brings the program to this machine. */
  readonly install: string;
}

/** Runs a program of the machine for its version. Throws `EngineAbsentError` when it is not on PATH. */
export async function findProgram({ name, versionArgs, install }: Program): Promise<string> {
  try {
    const { stdout, stderr } = await run(name, [...versionArgs]);
    return (stdout || stderr).split("\n")[0] as string;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new EngineAbsentError(`${name} is not on PATH; install it with: ${install}`);
  }
}

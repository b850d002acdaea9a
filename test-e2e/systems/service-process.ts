import { resolve } from "node:path";
import type { ServiceName } from "@signalbox/core";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { startProcess, type TestProcess } from "@signalbox/testing";

/** Seven services start at once, on as few as two shared cores. */
const readyMs = 180_000;

/** One service in its own process. */
export interface ServiceProcess {
  readonly current: TestProcess;
  /** Waits until it serves; fails with its output when it ends first or is not ready in time. */
  ready(): Promise<void>;
}

/** Starts `services/<name>/src/main.ts`. */
export function startServiceProcess(name: ServiceName, environment: Readonly<Record<string, string>>): ServiceProcess {
  const current = startProcess(scriptOf(`services/${name}/src/main.ts`), [], environment);
  return { current, ready: async () => void (await current.waitForOutput(/The service is ready/, readyMs)) };
}

/** Runs a command to its end and returns its output. */
export async function runCommand(
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const process = startProcess(scriptOf(script), args, environment);
  const timer = setTimeout(() => process.signal("SIGKILL"), readyMs);
  const { code } = await process.exited;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${script} ended with ${code}:\n${process.stdout}${process.stderr}`);
  return process.stdout.trim();
}

/** Passes values in the environment, because a command line refuses properties of other services. */
export function environmentOf(properties: Readonly<Record<string, string>>): Record<string, string> {
  const variable = (name: string) => `SIGNALBOX_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [variable(name), value]));
}

/** A path in this repository, or an absolute one. */
const scriptOf = (path: string): string => resolve(repositoryFolder, path);

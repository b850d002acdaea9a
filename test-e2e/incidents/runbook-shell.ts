import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { commandsIn } from "@signalbox/infra/observe/test/runbook-commands.ts";
import { environment } from "@signalbox/runtime";
import type { Mode } from "../ledger/systems/ledger-system.ts";

const run = promisify(execFile);
const page = join(repositoryFolder, "docs/runbooks.md");
const deployments = { embedded: "small", engines: "Kubernetes" } as const satisfies Record<Mode, string>;

export interface RunbookShell {
  /** Runs a line of a runbook as it stands, and returns its output. */
  run(line: string, names?: Readonly<Record<string, string>>): Promise<string>;
}

/** Lists the commands of an alert's runbook for the deployment that a system stands for, in the order of the page. */
export async function commandsOf(alert: string, mode: Mode): Promise<readonly string[]> {
  const section = (await readFile(page, "utf8")).split(/^(?=## )/m).find((one) => one.startsWith(`## ${alert}\n`));
  if (section === undefined) throw new Error(`there is no runbook of ${alert}`);
  return commandsIn(section, deployments[mode]);
}

/** Opens a shell in which `programs`, scripts by their names, are found before all others. */
export async function openRunbookShell(
  folder: string,
  programs: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): Promise<RunbookShell> {
  const bin = join(folder, "bin");
  await mkdir(bin, { recursive: true });
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), script);
    await chmod(join(bin, name), 0o755);
  }
  const path = [bin, dirname(process.execPath), environment().PATH].join(delimiter);
  return {
    async run(line, names = {}) {
      const env = { ...environment(), ...variables, PATH: path, ...names };
      return (await run("sh", ["-c", line], { cwd: folder, env, timeout: 60_000 })).stdout;
    },
  };
}

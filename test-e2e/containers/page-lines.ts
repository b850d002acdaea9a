import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { commandsIn } from "@signalbox/infra/observe/test/runbook-commands.ts";
import { commandsOf } from "../tour/read-page.ts";

/** Returns the command block of the deployment page that contains this line. */
export async function linesWith(command: string): Promise<readonly string[]> {
  const page = await readFile(join(repositoryFolder, "docs/how-to/deploy.md"), "utf8");
  const block = commandsOf("deploy.md", page).find(({ script }) => script.split("\n").includes(command));
  if (!block) throw new Error(`the page about deploying has no line ${command}`);
  return block.script.split("\n");
}

/**
 * Lists the commands on the page of runbooks, as they stand there for one kind of deployment, that only look: the tasks of
 * operators, or the lines of `kinds`. Those that name what an alert names, such as an ID, want the incident to be there.
 */
export async function runbookCommands(
  where: "Kubernetes" | "compose" | "small",
  kinds: readonly ("operator" | "logs" | "sql")[] = ["operator"],
): Promise<readonly string[]> {
  const page = await readFile(join(repositoryFolder, "docs/runbooks.md"), "utf8");
  const lines = commandsIn(page, where, kinds).filter((line) => !/\$(SERVICE|PID)\b/.test(line));
  if (lines.length === 0) throw new Error(`the page of runbooks has no command for ${where}`);
  return [...new Set(lines)];
}

/** Memoizes a read: it runs at the first call, and later calls get its result. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => (value ??= read());
}

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { environment } from "@signalbox/runtime";
import type { System } from "../systems/system.ts";
import { installPackedClient, type StrangersProject } from "./packed-client.ts";

const run = promisify(execFile);

/** Installs the packed client as npm does it, and runs the sample program and the command against the system. */
export async function usesPackedClient(system: System, accountId: string): Promise<void> {
  const project = await installPackedClient("registry");
  try {
    await runSample(project, system);
    await runPackedCommand(project, system, accountId);
  } finally {
    await project.remove();
  }
}

/** Compiles the sample program against the package's types, and runs it. */
export async function runSample(project: StrangersProject, { baseUrl, apiKey }: System): Promise<void> {
  const program = await project.compile("sample.ts");
  const { stdout } = await run(process.execPath, [program, baseUrl, apiKey]);
  assert.deepEqual(JSON.parse(stdout), {
    own: true,
    title: "A pixel",
    status: "ready",
    sent: 43,
    sizes: 43,
    stale: "409 conflict",
    refused: "404 not_found",
    changed: ["displayName"],
    newest: true,
    alt: "White",
    events: ["A pixel 1", "parcel 3"],
    acknowledged: 2,
  });
}

/** The command of the package finds the client beside it, and its own version. */
async function runPackedCommand({ folder }: StrangersProject, { baseUrl, apiKey }: System, accountId: string) {
  const env = { ...environment(), XDG_CONFIG_HOME: folder, SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: apiKey };
  const command = join(folder, "node_modules/.bin/signalbox");
  const status = await run(command, ["status", "--json"], { env });
  assert.equal(JSON.parse(status.stdout).credential.account_id, accountId);
  const { version } = JSON.parse(await readFile(join(repositoryFolder, "package.json"), "utf8"));
  assert.equal((await run(command, ["--version"], { env })).stdout, `${version}\n`);
}

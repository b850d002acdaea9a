import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { System } from "../systems/system.ts";
import { installPackedClient, type StrangersProject } from "./packed-client.ts";

/** Installs the packed client as npm does it, and runs the sample program against the system. */
export async function usesPackedClient(system: System): Promise<void> {
  const project = await installPackedClient("registry");
  try {
    await runSample(project, system);
  } finally {
    await project.remove();
  }
}

/** Compiles the sample program against the package's types, and runs it. */
export async function runSample(project: StrangersProject, { baseUrl, apiKey }: System): Promise<void> {
  const program = await project.compile("sample.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program, baseUrl, apiKey]);
  assert.deepEqual(JSON.parse(stdout), {
    own: true,
    title: "A pixel",
    status: "ready",
    sent: 43,
    sizes: 43,
    stale: "409 conflict",
    refused: "404 not_found",
    changed: ["display_name"],
    newest: true,
    alt: "White",
    events: ["A pixel 1", "parcel 3"],
    acknowledged: 2,
  });
}

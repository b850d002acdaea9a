import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@signalbox/testing";
import { runCommand } from "../systems/service-process.ts";
import type { System } from "../systems/system.ts";
import { type Client, createClient, expectStatus } from "./client.ts";

/** The connection of the backup commands to the engines of a system. */
export interface Reach {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface TakenBackup {
  readonly folder: string;
  /** The source that was renamed continuously during the backup. */
  readonly sourceId: string;
  readonly imageId: string;
  /** Bytes from the first system. */
  readonly imageBytes: Buffer;
  remove(): Promise<void>;
}

const paceMs = 20;

const run = (words: readonly string[], { args = [], environment }: Reach): Promise<string> =>
  runCommand("infra/backup/backup.ts", [...words, ...args], environment);

/** Takes a backup while one service changes and another records its changes. */
export async function takeBackup(system: System, imageId: string, reach: Reach): Promise<TakenBackup> {
  const parent = await mkdtemp(join(tmpdir(), "signalbox-backup-"));
  const send = createClient(system.baseUrl, system.apiKey);
  const imageBytes = expectStatus(await send(`/images/${imageId}/original`), 200).bytes;
  const source = { name: nameOf(0), scheme: "standard-webhooks", secret: `whsec_${"A".repeat(32)}` };
  const { id } = expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201).json;
  let isTaken = false;
  let renames = 0;
  async function rename(): Promise<void> {
    for (; !isTaken; await sleep(paceMs)) {
      const body = { name: nameOf(renames + 1) };
      expectStatus(await send(`/api/v1/webhooks/sources/${id}`, { method: "PATCH", body }), 200);
      renames++;
    }
  }
  const renaming = rename();
  await eventually(() => renames > 0);
  const folder = join(parent, "backup");
  await run(["take", folder], reach).finally(() => {
    isTaken = true;
  });
  await renaming;
  return { folder, sourceId: id, imageId, imageBytes, remove: () => rm(parent, { recursive: true, force: true }) };
}

export const restoreBackup = ({ folder }: TakenBackup, reach: Reach): Promise<string> =>
  run(["restore", folder], reach);

const nameOf = (renames: number): string => `Renamed ${renames} times`;

/** Expects one consistent moment: each change has its entry in the other service, and each entry its change. */
export async function isOfOneMoment(system: System, backup: TakenBackup): Promise<void> {
  const send = createClient(system.baseUrl, system.apiKey);
  const image = expectStatus(await send(`/images/${backup.imageId}/original`), 200);
  assert.ok(image.bytes.equals(backup.imageBytes), "the bytes of the image are there");
  const source = expectStatus(await send(`/api/v1/webhooks/sources/${backup.sourceId}`), 200).json;
  const renames = Number(/\d+/.exec(source.name)?.[0]);
  assert.ok(renames > 0, source.name);
  await eventually(async () => assert.equal(await countEntries(send, backup.sourceId), renames));
}

async function countEntries(send: Client, subject: string): Promise<number> {
  let count = 0;
  for (let cursor = ""; ; ) {
    const query = new URLSearchParams({
      subject,
      action: "webhook_source.update",
      limit: "100",
      ...(cursor && { cursor }),
    });
    const { items, next_cursor } = expectStatus(await send(`/api/account/audit?${query}`), 200).json;
    count += items.length;
    if (!next_cursor) return count;
    cursor = next_cursor;
  }
}

import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agreement, Evidence } from "../evidence.ts";
import type { Scene } from "../scene.ts";
import { readFlags, readOverrides } from "./finals.ts";

/** A message that failed twice is retried after 70 s, and the ones behind it follow. */
const settleMs = 150_000;
const pauseMs = 250;

/** Counts in each database of a service, by name. `$1` are the accounts of the round. */
const inEvery: Readonly<Record<string, string>> = {
  outbox: "select count(*) from signalbox.outbox",
  "refused by the log": "select count(*) from signalbox.outbox_dead",
  parked: "select count(*) from signalbox.parked",
};
const inOne: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  images: {
    "images in processing": "select count(*) from images where status = 'processing'",
    "deleted images with bytes": "select count(*) from tombstones where erased_at is null",
    "images that failed": "select count(*) from images where status = 'failed'",
  },
  "webhook-delivery": {
    "deliveries due": "select count(*) from deliveries where status = 'pending'",
    "replays running": "select count(*) from replays where status = 'running'",
    "deliveries held": "select count(*) from deliveries where status = 'held'",
    "deliveries given up":
      "select count(*) from deliveries where status = 'exhausted' and account_id = any ($1::text[])",
  },
};

/** Waits until every started operation has ended and instances agree, and returns what remains after a while. */
export async function settle(scene: Scene): Promise<Evidence["residue"]> {
  const giveUpAt = performance.now() + settleMs;
  let recorded = "";
  let wasEmpty = false;
  for (;;) {
    const residue = await readResidue(scene).catch((error: Error) => ({ [`unreadable: ${error.message}`]: 1 }));
    const left = Object.entries(residue).filter(([, count]) => count !== 0);
    const text = JSON.stringify(left);
    // Records what a slow round waits for.
    if (text !== recorded) scene.history.begin("witness", "residue", Object.fromEntries(left))("ok");
    recorded = text;
    // Twice: work that ended between the first count and the last may have left something where the first looked.
    const isEmpty = left.length === 0;
    if ((isEmpty && wasEmpty) || performance.now() > giveUpAt) return residue;
    wasEmpty = isEmpty;
    if (isEmpty) continue;
    await sleep(pauseMs);
  }
}

/** Each process has its own folders there: for uploads in progress, and for copies of originals, which it keeps. */
export async function countStaged(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.parentPath.includes("signalbox-uploads")).length;
}

const othersIn = ({ database, instances }: Agreement): number =>
  Object.values(instances).filter((value) => database !== null && value !== database.value).length;

async function readResidue({ system, members }: Scene): Promise<Record<string, number>> {
  const accounts = members.map(({ account }) => account);
  const residue: Record<string, number> = {};
  for (const [service, database] of system.databases) {
    const counted = { ...inEvery, ...inOne[service] };
    const columns = Object.entries(counted).map(([name, statement]) => `(${statement})::int as "${name}"`);
    const [row = {}] = await system.query(database, `select ${columns.join(", ")}, $1::text[] as of`, [accounts]);
    for (const name of Object.keys(counted)) residue[`${service}: ${name}`] = row[name];
  }
  residue["files in staging"] = await countStaged(system.stagingFolder);
  residue["instances with another override"] = othersIn(await readOverrides({ system }));
  residue["instances with another flag"] = othersIn(await readFlags({ system }));
  // Last, because it is the most expensive.
  const isEmpty = Object.values(residue).every((count) => count === 0);
  residue["records not handled"] = isEmpty ? await system.log.lag() : 0;
  return residue;
}

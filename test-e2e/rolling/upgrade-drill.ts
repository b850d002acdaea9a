/**
 * `npm run upgrade-drill -- [<tag or commit>]` rolls a system from an older version to this one under traffic, runs both
 * side by side for a minute, and rolls back to the older one on the databases that this one has migrated. It ends with 1
 * when a request failed, or a change has not exactly one event. Without a name the older version is the last release, and
 * before the first one the oldest commit since which no migration was changed. It is 0.2.0 or later: earlier databases are not upgraded.
 * `--rate` and `--seconds` set the rate and the duration.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { eventually } from "@signalbox/testing";
import type { LogRecord } from "../ledger/evidence.ts";
import { checkOut, commitOf, newestTag, oldestUpgradable, versionAt, whyTooOld } from "./older-version.ts";
import { type RollingSystem, startRollingSystem } from "./rolling-system.ts";
import { explained, inOrder, startTraffic, wrongEvents } from "./traffic.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rate: { type: "string", default: "20" }, seconds: { type: "string", default: "60" } },
});
const print = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

const name = positionals[0] ?? (await newestTag()) ?? (await oldestUpgradable());
if (name === null) {
  process.stderr.write(
    "Nothing is released yet, and the history is cut off. Name a commit: npm run upgrade-drill -- <commit>\n",
  );
  process.exit(1);
}
const tooOld = whyTooOld(await versionAt(name));
if (tooOld !== null) {
  process.stderr.write(`${name} cannot be upgraded. ${tooOld}\n`);
  process.exit(1);
}
const [older, newer] = [await commitOf(name), await commitOf("HEAD")];
await using opened = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), "signalbox-older-"));
opened.defer(() => rm(folder, { recursive: true, force: true }));
print(`from ${older} to ${newer} and back, ${values.rate} requests/s`);
await checkOut(older, folder);
const system = await startRollingSystem({ folder });
opened.defer(() => system.close());
print(`two instances of each service of ${older} are ready`);

const traffic = await startTraffic(system.edge.url, system.administratorKey, Number(values.rate));
await moveFirsts(system, repositoryFolder);
print(`side by side for ${values.seconds} s`);
await sleep(Number(values.seconds) * 1000);
await moveFirsts(system, folder);
print(`back to ${older}`);
const { asked, changes, failures } = await traffic.end();
for (const line of await explained(failures, system)) print(line);
const records: LogRecord[] = [];
const wrong = await eventually(
  async () => {
    records.push(...(await system.log.read()));
    if (wrongEvents(changes, records).length > 0) throw new Error("events are missing");
    return [];
  },
  { timeoutMs: 60_000 },
).catch(() => wrongEvents(changes, records));
for (const line of wrong.slice(0, 20)) print(line);
print(`${asked} requests, ${failures.length} failed; ${changes.length} changes, ${wrong.length} with wrong events`);
process.exitCode = failures.length + wrong.length > 0 ? 1 : 0;

/** Replaces the first instance of each service by the other version. */
async function moveFirsts(from: RollingSystem, to: string): Promise<void> {
  for (const instance of inOrder(from).filter((one) => one.name.endsWith("-1"))) {
    const code = await instance.stop();
    if (code !== 0) throw new Error(`${instance.name} ended with ${code}:\n${instance.output.slice(-4_000)}`);
    await from.replace(instance, to);
    print(`${instance.name} is moved`);
  }
}

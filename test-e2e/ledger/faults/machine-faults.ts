import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Instance } from "../systems/instance.ts";
import type { Broker, KafkaCluster } from "../systems/ledger-system.ts";
import { both, type Fault } from "./fault.ts";
import { restartedWith, shiftedClock } from "./killed-processes.ts";

const run = promisify(execFile);

/** Takes all that is left of a disk; the last blocks may not be available to this account. Returns the undoing. */
export async function fillDisk(disk: string): Promise<() => Promise<void>> {
  const filler = join(disk, "filler");
  await writeFile(filler, "");
  for (let share = 1; share > 0.9; share -= 0.005) {
    const { bavail, bsize } = await statfs(disk);
    await run("fallocate", ["--length", String(Math.max(1, Math.floor(bavail * bsize * share))), filler]).catch(
      () => {},
    );
    if ((await statfs(disk)).bavail < 64) break;
  }
  return () => rm(filler, { force: true });
}

/** Starts again what ended meanwhile, and waits until everything is ready. */
async function allReady(instances: readonly Instance[]): Promise<void> {
  await Promise.all(instances.map((one) => (one.isRunning ? one.ready() : one.start())));
}

/** Ends the last broker and empties its disk; returns it. */
export async function loseBroker({ brokers }: KafkaCluster): Promise<Broker> {
  const broker = brokers.at(-1) as Broker;
  await broker.kill();
  const data = join(broker.folder, "data");
  for (const name of await readdir(data)) await rm(join(data, name), { recursive: true, force: true });
  return broker;
}

const clockOff = (words: string, milliseconds: number): Fault => ({
  name: `clock of one instance two hours ${words}`,
  modes: both,
  lastsMs: 3_000,
  isLong: true,
  users: "nothing: a service keeps its database's time, the gateway that of account",
  alerts: ["ClockOff"],
  begin: ({ instances }, random) =>
    restartedWith(random.pick(instances), { NODE_OPTIONS: `--import=${shiftedClock(milliseconds)}` }),
});
/** More than the hour by which the brokers take a record from the future. */
const hoursOff = 2 * 3_600_000;

/** The faults of machines, in the order of what hurts most. */
export const machineFaults: readonly Fault[] = [
  {
    name: "disk of PostgreSQL full for 6 s",
    modes: ["embedded"],
    lastsMs: 6_000,
    isLong: true,
    users: "503 with Retry-After for what writes; reads go on while the server runs",
    alerts: ["DiskFull", "DiskFills", "EdgeAvailability"],
    async begin({ databaseDisk, instances, postgres }) {
      if (databaseDisk === null) return { undo: async () => {} };
      const free = await fillDisk(databaseDisk);
      return {
        undo: async () => {
          await free();
          await postgres.restart();
          await allReady(instances);
        },
      };
    },
  },
  /** A message on every topic that no consumer can read. */
  {
    name: "a poisoned message on each topic",
    modes: both,
    lastsMs: 1_000,
    users: "nothing: the message is put aside, and what comes after it is handled",
    alerts: ["DeadLetters", "MessagesParked"],
    async begin({ log }) {
      await log.poison();
      return { undo: async () => {} };
    },
  },
  {
    name: "disk of one of three brokers full for 6 s",
    modes: ["engines"],
    lastsMs: 6_000,
    isLong: true,
    users: "nothing: events wait for the other brokers",
    alerts: ["DiskFull", "ReplicasOutOfSync"],
    async begin({ kafka }) {
      const broker = kafka?.brokers[0];
      if (!broker || kafka.disk === null) return { undo: async () => {} };
      const free = await fillDisk(kafka.disk);
      return {
        undo: async () => {
          await free();
          // A broker ends at its first write that fails, or goes on when none failed.
          await broker.kill();
          await broker.restart();
        },
      };
    },
  },
  /** A broker comes back with an empty disk in its place: it copies everything from the others. */
  {
    name: "one of three brokers lost with its disk",
    modes: ["engines"],
    lastsMs: 4_000,
    isLong: true,
    users: "nothing: two copies of each event are left",
    alerts: ["ReplicasOutOfSync"],
    async begin({ kafka }) {
      if (kafka === null) return { undo: async () => {} };
      const broker = await loseBroker(kafka);
      return { undo: () => broker.restart() };
    },
  },
  clockOff("fast", hoursOff),
  clockOff("slow", -hoursOff),
  {
    ...clockOff("fast, its brokers slow", hoursOff),
    modes: ["engines"],
    async begin({ instances, between }, random) {
      const behind = instances.filter(({ name }) => between?.instances.includes(name));
      between?.setLatency(300);
      const off = await restartedWith(random.pick(behind.length > 0 ? behind : instances), {
        NODE_OPTIONS: `--import=${shiftedClock(hoursOff)}`,
      });
      return {
        halted: between?.instances ?? [],
        undo: async () => {
          between?.setLatency(0);
          await off.undo();
        },
      };
    },
  },
  /** A heap that is too small for the service: it ends, and is started again and again. */
  {
    name: "memory limit hit by one service, again and again",
    modes: both,
    lastsMs: 0,
    isLong: true,
    users: "502 or no answer where no other instance serves",
    alerts: ["ServiceDown", "EdgeErrors"],
    async begin({ instances }, random) {
      const one = random.pick(instances);
      await one.kill();
      for (let time = 0; time < 3; time++) {
        await one.launch({ NODE_OPTIONS: `--max-old-space-size=${random.between(24, 64)}` });
        // It ends by itself, or with the limit of the next try.
        for (let waited = 0; one.isRunning && waited < 4_000; waited += 50) await sleep(50);
        await one.kill();
      }
      return { undo: () => one.start() };
    },
  },
  /** As after a failover to a copy: every write is answered by an error. */
  {
    name: "Redis read-only for 5 s",
    modes: ["engines"],
    lastsMs: 5_000,
    users: "nothing: limits count for each instance",
    alerts: ["CacheAway"],
    async begin({ redis }) {
      if (redis === null) return { undo: async () => {} };
      await redis.command("REPLICAOF 127.0.0.1 1");
      return { undo: () => redis.command("REPLICAOF NO ONE") };
    },
  },
  /** The names of receivers are not resolved: every look-up fails while a file is there. */
  {
    name: "DNS away for 6 s",
    modes: both,
    lastsMs: 6_000,
    isLong: true,
    users: "nothing: deliveries are repeated by their schedule",
    alerts: ["ReceiversFail"],
    async begin({ dnsAwayFile }) {
      await mkdir(join(dnsAwayFile, ".."), { recursive: true });
      await writeFile(dnsAwayFile, "");
      if (!existsSync(dnsAwayFile)) throw new Error("the look-ups do not fail");
      return { undo: () => rm(dnsAwayFile) };
    },
  },
  /** Nobody renewed the certificate of the edge. Connections that are open stay so; new ones are refused by callers. */
  {
    name: "certificate of the edge expired for 6 s",
    modes: ["engines"],
    lastsMs: 6_000,
    users: "no connection: clients refuse the certificate; what was taken before is delivered",
    alerts: ["CertificateEnds", "CertificateWrong", "EdgeUnreachable"],
    async begin({ certificate }) {
      await certificate?.expire();
      return { undo: async () => void (await certificate?.renew()) };
    },
  },
];

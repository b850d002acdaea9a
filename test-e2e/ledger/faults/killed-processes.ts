import { setTimeout as sleep } from "node:timers/promises";
import type { Instance } from "../systems/instance.ts";
import type { LedgerSystem } from "../systems/ledger-system.ts";
import { both, type Fault, type StartedFault } from "./fault.ts";

const killAll = (instances: readonly Instance[]) => Promise.all(instances.map((one) => one.kill()));
const startAll = async (instances: readonly Instance[]) =>
  void (await Promise.all(instances.map((one) => one.start())));

/** Both instances of one service. */
const pairOf = ({ instances }: LedgerSystem, { service }: Instance["program"]) =>
  instances.filter(({ program }) => program.service === service);

/** Faults of the processes of the system. */
export const processFaults: readonly Fault[] = [
  {
    name: "kill -9 of a process",
    modes: both,
    lastsMs: 0,
    async begin({ instances }, random) {
      const one = random.pick(instances);
      await one.kill();
      return { undo: () => one.start() };
    },
  },
  {
    name: "kill -9 of both instances of a service",
    modes: ["engines"],
    lastsMs: 0,
    async begin(system, random) {
      const pair = pairOf(system, random.pick(system.instances).program);
      await killAll(pair);
      return { undo: () => startAll(pair) };
    },
  },
  {
    name: "kill -9 of every process and the database",
    modes: both,
    lastsMs: 0,
    async begin({ instances, postgres, mode }) {
      await Promise.all([killAll(instances), postgres.kill()]);
      return {
        undo: async () => {
          // An embedded system restarts its own.
          if (mode === "engines") await postgres.restart();
          await startAll(instances);
        },
      };
    },
  },
  {
    name: "kill -9 during a start",
    modes: both,
    lastsMs: 0,
    async begin({ instances }, random) {
      const one = random.pick(instances);
      await one.kill();
      return {
        undo: async () => {
          for (let time = 0; time < 3; time++) {
            await one.launch();
            await sleep(random.between(50, 2_000));
            await one.kill();
          }
          await one.start();
        },
      };
    },
  },
  {
    name: "kill -9 during the first start and its migrations",
    modes: ["embedded"],
    lastsMs: 0,
    comesFirst: true,
    async begin(system, random) {
      await system.beginAgain?.(random.between(300, 4_000));
      return { undo: async () => {} };
    },
  },
  {
    name: "kill -9 during a drain",
    modes: both,
    lastsMs: 0,
    async begin({ instances }, random) {
      const one = random.pick(instances);
      one.signal("SIGTERM");
      await sleep(random.between(0, 600));
      await one.kill();
      return { undo: () => one.start() };
    },
  },
  {
    name: "rolling restart",
    modes: both,
    lastsMs: 0,
    isLong: true,
    async begin({ instances }) {
      for (const one of instances) {
        const code = await one.stop();
        if (code !== 0) throw new Error(`${one.name} stopped with ${code}:\n${one.output.slice(-8_000)}`);
        await one.start();
      }
      return { undo: async () => {} };
    },
  },
  {
    name: "SIGSTOP of one of two instances for 40 s",
    modes: ["engines"],
    lastsMs: 40_000,
    isLong: true,
    begin: ({ instances }, random) => halt(random.pick(instances)),
  },
  {
    name: "SIGSTOP of a process for 5 s",
    modes: both,
    lastsMs: 5_000,
    begin: ({ instances }, random) => halt(random.pick(instances)),
  },
  {
    name: "clock of one instance off by 120 s",
    modes: both,
    lastsMs: 3_000,
    isLong: true,
    begin: ({ instances }, random) =>
      restartedWith(random.pick(instances), {
        NODE_OPTIONS: `--import=${shiftedClock(random.pick([-120_000, 120_000]))}`,
      }),
  },
];

async function halt(one: Instance) {
  one.signal("SIGSTOP");
  return { halted: [one.name], undo: async () => one.signal("SIGCONT") };
}

/** Loaded before the program: its clock is wrong, its timers are not. */
export const shiftedClock = (milliseconds: number) =>
  `data:text/javascript,${encodeURIComponent(`
    const Real = Date;
    const now = () => Real.now() + ${milliseconds};
    globalThis.Date = new Proxy(Real, {
      construct: (target, given, made) => Reflect.construct(target, given.length ? given : [now()], made),
      apply: () => new Real(now()).toString(),
      get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
    });`)}`;

/** Starts the instance again with variables of its own, and without them at the end. */
export async function restartedWith(one: Instance, variables: Readonly<Record<string, string>>): Promise<StartedFault> {
  await one.kill();
  await one.start(variables);
  return {
    undo: async () => {
      await one.kill();
      await one.start();
    },
  };
}

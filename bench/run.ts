import { cpus, totalmem } from "node:os";
import process from "node:process";

/** What a bench found: its rows, and how they stand to the targets of docs/reference/performance.md. */
interface BenchResult {
  readonly name: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly targets?: readonly {
    readonly what: string;
    readonly wanted: number;
    readonly measured: number;
    readonly met: boolean;
  }[];
}

interface Bench {
  readonly name: string;
  readonly description: string;
  run(): Promise<BenchResult>;
}

/** Each has its baseline in the same run, since absolute figures say more about the machine than about us. */
const benches: Readonly<Record<string, () => Promise<{ bench: Bench }>>> = {
  outbox: () => import("./outbox.ts"),
  http: () => import("./http.ts"),
  account: () => import("./account.ts"),
  start: () => import("./start.ts"),
  log: () => import("./log.ts"),
  parked: () => import("./parked.ts"),
  images: () => import("./images.ts"),
  delivery: () => import("./delivery.ts"),
  ingest: () => import("./ingest.ts"),
  federation: () => import("./federation.ts"),
  gateway: () => import("./gateway.ts"),
  live: () => import("./live.ts"),
  config: () => import("./config.ts"),
};

const [name = ""] = process.argv.slice(2);
const load = benches[name];
if (load === undefined) {
  process.stderr.write(`usage: npm run bench -- <name>, where <name> is one of: ${Object.keys(benches).join(", ")}\n`);
  process.exit(2);
}
const { bench } = await load();
process.stdout.write(`${bench.name}: ${bench.description}\n`);
const result = await bench.run();
console.table(result.rows);
if (result.targets !== undefined) console.table(result.targets);
const machine = {
  cores: cpus().length,
  cpu: cpus()[0]?.model,
  memoryMiB: Math.round(totalmem() / 2 ** 20),
  node: process.version,
};
process.stdout.write(`${JSON.stringify({ ...result, machine, at: new Date().toISOString() })}\n`);
// Pools of clients that a bench compared against may keep the process alive.
process.exit(0);

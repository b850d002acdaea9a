import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import nodeProcess from "node:process";
import { createQuery } from "../ledger/systems/database.ts";
import { countStaged } from "../ledger/witnesses/residue.ts";
import type { EmbeddedSystem } from "../systems/embedded-system.ts";
import type { System } from "../systems/system.ts";

/** Numbers of things that end with their clients, by name; zeros are left out. */
export type State = Readonly<Record<string, number>>;

/** The name of connections whose client is gone. */
export const connectionsLeft = "connections without a client";

/** Gauges that count what clients have open. */
const gauges = /^(signalbox_http_requests_in_flight|signalbox_live_subscriptions)\{/;
const poolGauge = /^signalbox_database_connections\{.*state="(in_use|waiting)"/;

const inEvery: Readonly<Record<string, string>> = {
  "idempotency claims": "select count(*) from signalbox.idempotency where status is null",
  "idle transactions": `select count(*) from pg_stat_activity
    where state like 'idle in transaction%' and state_change < now() - interval '2 seconds' and datname = current_database()`,
  "advisory locks": `select count(*) from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and locktype = 'advisory'`,
};
const inOne: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "webhook-delivery": { "leases of messages": "select count(*) from delivery_queue where lease_id is not null" },
};

/** A running system, and where it leaves traces. */
export interface Watched {
  readonly system: System;
  readonly process: EmbeddedSystem["process"];
  /** The folder of uploads in progress. */
  readonly staging: string;
  /** What the start said on standard error. */
  readonly progress: string;
}

/** Reads what is open in the process, its database and its folders. */
export async function readState(scene: Watched): Promise<State> {
  const state: Record<string, number> = {};
  Object.assign(state, await openInMetrics(scene.system.managementUrl));
  Object.assign(state, await openInDatabases(scene));
  Object.assign(state, await openFiles(scene.process.pid, Number(new URL(scene.system.baseUrl).port)));
  state["files in staging"] = await countStaged(scene.staging);
  return Object.fromEntries(Object.entries(state).filter(([, count]) => count !== 0));
}

async function openInMetrics(managementUrl: string): Promise<State> {
  const text = await (await fetch(`${managementUrl}/management/metrics`)).text();
  const lines = text.split("\n").filter((line) => gauges.test(line) || poolGauge.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

async function openInDatabases({ system }: { readonly system: System }): Promise<State> {
  const query = createQuery((service) => system.databaseUrl(service as never));
  const counted = await Promise.all(
    withDatabase.map(async (service) => {
      const statements = Object.entries({ ...inEvery, ...inOne[service] });
      const columns = statements.map(([name, statement]) => `(${statement})::int as "${name}"`);
      const [row = {}] = await query(service, `select ${columns.join(", ")}`);
      return statements.map(([name]) => [`${service}: ${name}`, Number(row[name])] as const);
    }),
  );
  return Object.fromEntries(counted.flat());
}

const withDatabase = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] satisfies readonly string[];

/** Counts connections whose client is gone, and deleted files that are still open. */
async function openFiles(pid: number, port: number): Promise<State> {
  const [served, own] = await Promise.all([descriptors(pid), descriptors(nodeProcess.pid)]);
  const connections = (await readFile(`/proc/${pid}/net/tcp`, "utf8")).split("\n").slice(1).map(connectionOf);
  const ofClients = new Set(
    connections
      .filter(({ inode, remotePort }) => own.has(`socket:[${inode}]`) && remotePort === port)
      .map(({ localPort }) => localPort),
  );
  const left = connections.filter(
    ({ inode, localPort, remotePort, isListening }) =>
      localPort === port && !isListening && served.has(`socket:[${inode}]`) && !ofClients.has(remotePort),
  );
  return {
    [connectionsLeft]: left.length,
    "deleted files": [...served].filter((target) => target.endsWith(" (deleted)")).length,
  };
}

/** Returns the targets of a process's open descriptors. */
async function descriptors(pid: number): Promise<ReadonlySet<string>> {
  const folder = `/proc/${pid}/fd`;
  // One may be closed before it is read.
  const targets = (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => ""));
  return new Set(await Promise.all(targets));
}

/** Reads a row of /proc/net/tcp: addresses in hexadecimal, state 0A for a listener. */
function connectionOf(row: string) {
  const [, local = "", remote = "", state = "", , , , , , inode = ""] = row.trim().split(/\s+/);
  const portOf = (address: string) => Number.parseInt(address.split(":")[1] ?? "", 16);
  return { localPort: portOf(local), remotePort: portOf(remote), isListening: state === "0A", inode };
}

/** Returns the lines of the process since its start that tell of a fault: errors, and whatever is not its log. */
export function faultsIn({ process, progress }: Watched): readonly string[] {
  const errors = process.stdout.split("\n").filter((line) => /"level":"(error|fatal)"/.test(line));
  return [
    ...errors,
    ...process.stderr
      .slice(progress.length)
      .split("\n")
      .filter((line) => line !== ""),
  ];
}

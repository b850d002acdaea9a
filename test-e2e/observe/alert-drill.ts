import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { eventually } from "@signalbox/testing";
import pg from "pg";
import { hurriedRules } from "../incidents/hurried-rules.ts";
import { type Client, createClient } from "../journey/client.ts";
import { createQuery } from "../ledger/systems/database.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { type RunningPrometheus, startPrometheus } from "./start-prometheus.ts";

/** A failure: what brings it about, again and again, and what ends it. */
export interface Failure {
  readonly act: () => Promise<unknown>;
  readonly mend: () => Promise<unknown>;
}

/** A running system whose failures a Prometheus with hurried rules has to find. */
export interface AlertDrill {
  readonly system: EmbeddedSystem;
  readonly send: Client;
  isFiring(alert: string): Promise<boolean>;
  /** Repeats the act of a failure until all of its alerts fire; before it and after the mend none does. */
  fire(names: readonly string[], failure: Failure): Promise<void>;
  close(): Promise<void>;
}

interface AlertDrillOptions {
  /** The alerts that it plays. */
  readonly names: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
}

/** Longer than a start of the system and the longest hurried window take. */
const waits = { timeoutMs: 240_000 };

export async function openAlertDrill({ names, properties = {} }: AlertDrillOptions): Promise<AlertDrill> {
  const opened = new AsyncDisposableStack();
  const system = await startEmbeddedSystem({
    properties: { "webhook-delivery.outbound.allow": "127.0.0.1:*", ...properties },
  });
  opened.defer(async () => {
    await system.stop();
    await removeData(system);
  });
  const urls = new Map([["all", system.managementUrl]]);
  const prometheus = await startPrometheus(urls, [], { rules: hurriedRules(...names), everySeconds: 2 });
  opened.defer(() => prometheus.close());
  return {
    system,
    send: createClient(system.baseUrl, system.apiKey),
    isFiring: (alert) => isFiring(prometheus, alert),
    fire: (some, failure) => fire(prometheus, some, failure),
    close: () => opened.disposeAsync(),
  };
}

/** Returns true while an alert fires; one of two severities by its page, whose windows are the short ones. */
async function isFiring(prometheus: RunningPrometheus, alert: string): Promise<boolean> {
  const severity = alerts.find(({ name }) => name === alert)?.severity;
  return (await prometheus.alerts()).some(({ labels }) => labels.alertname === alert && labels.severity === severity);
}

/** Repeats the act of a failure until all of its alerts fire; before it and after the mend none does. */
export async function fire(
  prometheus: RunningPrometheus,
  names: readonly string[],
  { act, mend }: Failure,
): Promise<void> {
  const noneFires = async () => !(await Promise.all(names.map((name) => isFiring(prometheus, name)))).includes(true);
  await eventually(noneFires, { ...waits, message: `none of ${names} fires before` });
  const waited = new Set(names);
  const allFire = async () => {
    await act();
    for (const name of waited) if (await isFiring(prometheus, name)) waited.delete(name);
    return waited.size === 0;
  };
  try {
    await eventually(allFire, { ...waits, message: `all of ${names} fire` });
  } finally {
    await mend();
  }
  await eventually(noneFires, { ...waits, message: `none of ${names} fires` });
}

/** Holds locks on all tables of a database, as a session does that somebody left open. */
export async function lockTables(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'signalbox')",
  );
  await client.query("begin");
  await client.query(`lock table ${rows.map(({ name }) => name).join(", ")} in access exclusive mode`);
  return () => client.end();
}

/** Runs a statement on the database of an address, as an operator does by psql, and returns its rows. */
export const execute = createQuery((url) => url);

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogRecord } from "../ledger/evidence.ts";
import type { Instance } from "../ledger/systems/instance.ts";
import { services } from "../systems/engines-system.ts";
import type { RollingSystem } from "./rolling-system.ts";
import type { Change, Failure } from "./traffic.ts";

/** The change behind a record, in the terms of the traffic. */
const changeOf: Readonly<Record<string, (record: LogRecord) => Change>> = {
  "image.updated": ({ key, data }) => `image.updated ${key} ${data.title}`,
  "image.created": ({ key, data }) => `image.created ${key} ${data.title}`,
  "account.updated": ({ data }) => `account.updated ${data.display_name}`,
  "webhook.received": ({ key, data }) => `webhook.received ${key} ${data.delivery_id}`,
};

/** Finds acknowledged changes with no event, or with more than one. */
export function wrongEvents(changes: readonly Change[], records: readonly LogRecord[]): string[] {
  const counts = new Map<Change, number>();
  for (const record of records) {
    const change = changeOf[record.type]?.(record);
    if (change !== undefined) counts.set(change, (counts.get(change) ?? 0) + 1);
  }
  const asked = new Set(changes);
  return [
    ...(asked.size < changes.length ? ["a change was made twice"] : []),
    ...changes.filter((change) => !counts.has(change)).map((change) => `${change} has no event`),
    ...[...counts].filter(([, count]) => count > 1).map(([change, count]) => `${change} has ${count} events`),
  ];
}

/** Adds to each failure the log lines of the edge and the services about it. */
export async function explained(failures: readonly Failure[], system: RollingSystem): Promise<string[]> {
  const access = (await readFile(join(system.edge.folder, "access.log"), "utf8")).split("\n");
  const lines = [...access, ...system.instances.flatMap(linesOf)];
  return failures.slice(0, 20).map(({ id, name, answer }) => {
    const about = lines.filter((line) => line.includes(`"${id}"`));
    return [`${name}: ${answer}`, ...about.slice(0, 6).map((line) => `  ${line.slice(0, 700)}`)].join("\n");
  });
}

const linesOf = ({ name, output }: Instance): string[] => output.split("\n").map((line) => `${name} ${line}`);

/** The last log line of an instance about a drain. */
export interface Drain {
  readonly in_hand: Readonly<Record<string, number>>;
  readonly parts_ms: Readonly<Record<string, number>>;
  readonly duration_ms: number;
}

export function drainOf({ output }: Instance): Drain | undefined {
  const line = output.split("\n").findLast((one) => one.includes('"The drain is over"'));
  if (line === undefined) return undefined;
  const { in_hand, parts_ms, duration_ms } = JSON.parse(line) as Drain;
  return { in_hand, parts_ms, duration_ms };
}

/** Every instance, service by service. */
export const inOrder = ({ instances }: RollingSystem): Instance[] =>
  services.flatMap((service) => instances.filter(({ program }) => program.service === service));

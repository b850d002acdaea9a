import process from "node:process";
import { parseArgs } from "node:util";
import type { EventLog } from "@signalbox/events";
import { withEventLog } from "./open-log.ts";
import { openOperationsClient } from "./operations-client.ts";
import { print, runCommand } from "./run-command.ts";

const usage = `usage: npm run groups -- list [group]                 the lag and the members of each group of the system at
                                                      OPERATIONS_URL, with the key OPERATIONS_KEY
                         --events.url=<url> list [group]   groups of others too: how far each has come, by partition
                         rewind <group> --to <time>   reads again from an RFC 3339 time, "start" or "end";
                                                      its instances have to be stopped
`;

const argv = process.argv.slice(2);
const { values, positionals } = parseArgs({
  args: argv,
  options: { to: { type: "string" } },
  strict: false, // the others are properties
});
const [command = "", ...given] = positionals;

const commands: Record<string, (eventLog: EventLog) => Promise<void>> = {
  async list(eventLog) {
    for (const group of given.length > 0 ? given : await eventLog.groups()) await printGroup(eventLog, group);
  },
  async rewind(eventLog) {
    const [group = ""] = given;
    await eventLog.rewind(group, target(String(values.to)));
    await printGroup(eventLog, group);
  },
};

async function printGroup(eventLog: EventLog, group: string): Promise<void> {
  for (const { topic, partition, committed, end, messages, seconds } of await eventLog.lag(group)) {
    const lag = `lag ${messages} messages, ${seconds.toFixed(1)} s`;
    print([group, `${topic}/${partition}`, `committed ${committed}`, `end ${end}`, lag].join("  "));
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function target(text: string): Date | "start" | "end" {
  if (text === "start" || text === "end") return text;
  const time = new Date(text);
  if (rfc3339.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new Error(`${text} is not a time: write 2026-01-31T12:00:00Z, "start" or "end"`);
}

interface Group {
  readonly group: string;
  readonly messages: number;
  readonly seconds: number;
  readonly members: readonly unknown[];
  readonly parked: { readonly messages: number } | null;
}

/** Lists the groups by the API of operators, which needs no access to the log. */
async function listByApi(): Promise<void> {
  const client = await openOperationsClient();
  for await (const { group, messages, seconds, members, parked } of client.list<Group>("groups")) {
    if (given.length > 0 && !given.includes(group)) continue;
    const lag = `lag ${messages} messages, ${seconds.toFixed(1)} s`;
    print([group, lag, `members ${members.length}`, `parked ${parked?.messages ?? "-"}`].join("  "));
  }
}

const chosen = commands[command];
const isDirect = command === "rewind" || argv.some((argument) => argument.startsWith("--events.url"));
const lacksArgument = command === "rewind" && (given.length !== 1 || values.to === undefined);
const properties = argv.filter((argument) => argument !== "--to" && !argument.startsWith("--to="));
const run = isDirect ? chosen && (() => withEventLog(properties, chosen)) : chosen && listByApi;
await runCommand(usage, run && !lacksArgument ? run : null);

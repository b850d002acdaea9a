import { userInfo } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { parseRfc3339, timeExample } from "@signalbox/core";
import type { EventLog, RecordPlace } from "@signalbox/events";
import { commandTelemetry, openCommandLog } from "./engine-url.ts";
import { openOperationsClient, reportUnavailable } from "./operations-client.ts";
import { print, runCommand } from "./run-command.ts";

const usage = `usage: npm run groups -- list [group]                 the lag and the members of each group of the system at
                                                      OPERATIONS_URL, with the key OPERATIONS_KEY
                         --events.url=<url> list [group]   groups of others too: how far each has come, by partition
                         rewind <group> --to <time>   reads again from an RFC 3339 time, "start" or "end";
                                                      its instances have to be stopped
                         skip <group> --at <topic>/<partition>/<offset> --reason <why>
                                                      passes a batch that the group cannot decode, as a dead letter
`;

const argv = process.argv.slice(2);
const { values, positionals } = parseArgs({
  args: argv,
  options: { to: { type: "string" }, at: { type: "string" }, reason: { type: "string" } },
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
  async skip(eventLog) {
    const [group = ""] = given;
    const place = placeOf(String(values.at));
    if (!(await eventLog.groups()).includes(group)) throw new Error(`There is no group ${group}.`);
    await eventLog.skip(group, place);
    const { topic, partition, offset } = place;
    const entry = { group, topic, partition, offset, reason: values.reason, operator: userInfo().username };
    commandTelemetry().log.warn(entry, "an operator skips a batch that cannot be decoded");
    print(`${group} skips the batch at ${values.at} within seconds if it cannot decode it.`);
  },
};

function placeOf(text: string): RecordPlace {
  const [, topic, partition, offset] = /^([\w.-]+)\/(\d{1,9})\/(\d{1,18})$/.exec(text) ?? [];
  if (topic && partition && offset) return { topic, partition: Number(partition), offset: BigInt(offset) };
  throw new Error(`${text} is not a place: write <topic>/<partition>/<offset>, as the line of the service has them`);
}

async function printGroup(eventLog: EventLog, group: string): Promise<void> {
  for (const { topic, partition, committed, end, messages, seconds } of await eventLog.lag(group)) {
    const lag = `lag ${messages} messages, ${seconds.toFixed(1)} s`;
    print([group, `${topic}/${partition}`, `committed ${committed}`, `end ${end}`, lag].join("  "));
  }
}

function target(text: string): Date | "start" | "end" {
  if (text === "start" || text === "end") return text;
  const time = parseRfc3339(text);
  if (time) return time;
  throw new Error(`${text} is not a time: write ${timeExample}, "start" or "end"`);
}

/** Lists the groups by the API of operators, which needs no access to the log. */
async function listByApi(): Promise<void> {
  const client = await openOperationsClient();
  const { items, unavailable } = await client.operations.operatingGroups();
  reportUnavailable(unavailable);
  for (const { group, messages, seconds, members, parked } of items) {
    if (given.length > 0 && !given.includes(group)) continue;
    const lag = `lag ${messages} messages, ${seconds.toFixed(1)} s`;
    print([group, lag, `members ${members.length}`, `parked ${parked?.messages ?? "-"}`].join("  "));
  }
}

const chosen = commands[command];
const isDirect = command !== "list" || argv.some((argument) => argument.startsWith("--events.url"));
const needed = { list: [], rewind: ["to"], skip: ["at", "reason"] }[command] ?? [];
const lacksArgument = needed.some((name) => !values[name]) || (needed.length > 0 && given.length !== 1);
const isOption = (argument: string) =>
  needed.some((name) => argument === `--${name}` || argument.startsWith(`--${name}=`));
const properties = argv.filter((argument) => !isOption(argument));
async function runDirectly(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  await chosen?.((await openCommandLog(properties, opened)).eventLog);
}

const run = chosen && (isDirect ? runDirectly : listByApi);
await runCommand(usage, run && !lacksArgument ? run : null);

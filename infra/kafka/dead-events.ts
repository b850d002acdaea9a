import process from "node:process";
import { type ServiceName, serviceNames } from "@signalbox/contracts";
import { type DeadEvent, dropDeadEvent, findDeadEvent, listDeadEvents, replayDeadEvent } from "@signalbox/events";
import { openPool, type Pool } from "@signalbox/storage";
import { embeddedServices } from "../embedded/embedded-services.ts";
import { commandTelemetry, withDatabaseUrl } from "./engine-url.ts";
import { print, runCommand } from "./run-command.ts";

const usage = `usage: npm run dead-events -- list [service]   what the event log refused for good, oldest first
                              show <id>        one event with its headers
                              replay <id>…     puts events back into the outbox of their service
                              drop <id>…       removes events for good
`;

const argv = process.argv.slice(2);
const [command = "", ...given] = argv.filter((argument) => !argument.startsWith("--"));

/** The services with an outbox. */
const withOutbox = embeddedServices.filter(({ properties }) => "database.url" in properties).map(({ name }) => name);

const commands: Record<string, () => Promise<void>> = {
  async list() {
    for (const service of given.length > 0 ? given.map(checkedService) : withOutbox) {
      const events = await withDatabase(service, listDeadEvents);
      for (const event of events) print(lineOf(service, event));
    }
  },
  async show() {
    await forEachId(async (pool, service, id) => {
      const event = await findDeadEvent(pool, id);
      if (!event) return false;
      print(`${lineOf(service, event)}\ntopic ${event.topic}, key ${event.key}`);
      for (const [name, value] of Object.entries(event.headers)) print(`${name}: ${value}`);
      print(event.value?.toString() ?? "(no value)");
      return true;
    });
  },
  async replay() {
    await forEachId(async (pool, service, id) => {
      const isReplayed = await replayDeadEvent(pool, id);
      if (isReplayed) print(`replayed ${service}/${id}`);
      return isReplayed;
    });
  },
  async drop() {
    await forEachId(async (pool, service, id) => {
      const isDropped = await dropDeadEvent(pool, id);
      if (isDropped) print(`dropped ${service}/${id}`);
      return isDropped;
    });
  },
};

/** Runs the work for each of the given ids, `<service>/<event id>`. */
async function forEachId(work: (pool: Pool, service: ServiceName, id: string) => Promise<boolean>): Promise<void> {
  for (const full of given) {
    const [name = "", id = ""] = full.split("/");
    const service = checkedService(name);
    const isFound = await withDatabase(service, (pool) => work(pool, service, id));
    if (!isFound) throw new Error(`there is no dead event ${full}`);
  }
}

async function withDatabase<T>(service: ServiceName, work: (pool: Pool) => Promise<T>): Promise<T> {
  return withDatabaseUrl(argv, service, async (url) => {
    const runner = { defer: () => {} }; // closed below
    const pool = openPool({ url, max: 1, applicationName: "signalbox-commands", runner, ...commandTelemetry() });
    try {
      return await work(pool);
    } finally {
      await pool.close();
    }
  });
}

const lineOf = (service: ServiceName, { id, time, headers, reason }: DeadEvent): string =>
  [time.toISOString(), `${service}/${id}`, headers.ce_type ?? "tombstone", reason].join("  ");

function checkedService(name: string): ServiceName {
  const service = serviceNames.find((one) => one === name);
  if (!service) throw new Error(`${name} is not a service: one of ${serviceNames.join(", ")}`);
  if (!withOutbox.includes(service)) throw new Error(`${name} has no outbox: one of ${withOutbox.join(", ")}`);
  return service;
}

const chosen = commands[command];
const needsArgument = command !== "list" && given.length === 0;
await runCommand(usage, chosen && !needsArgument ? chosen : null);

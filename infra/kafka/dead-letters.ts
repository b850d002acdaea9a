import process from "node:process";
import { type ServiceName, serviceNames } from "@signalbox/contracts";
import { type DeadLetter, dropDeadLetter, type EventLog, listDeadLetters, replayDeadLetter } from "@signalbox/events";
import { withEventLog } from "./open-log.ts";
import { print, runCommand } from "./run-command.ts";

const usage = `usage: npm run dead-letters -- list [service]        what was given up, oldest first
                               show <id>             one message with its headers
                               replay <id>…          puts messages back for the consumer that gave them up
                               replay-all <service>  the same for all of a service
                               drop <id>…            removes messages for good
`;

const argv = process.argv.slice(2);
const [command = "", ...given] = argv.filter((argument) => !argument.startsWith("--"));

const commands: Record<string, (eventLog: EventLog) => Promise<void>> = {
  async list(eventLog) {
    const services = given.length > 0 ? given.map(checkedService) : serviceNames;
    for (const service of services) {
      for (const letter of await listDeadLetters(eventLog, service)) print(lineOf(letter));
    }
  },
  async show(eventLog) {
    for (const id of given) {
      const letter = await find(eventLog, id);
      print(`${lineOf(letter)}\nattempts ${letter.attempts}, key ${letter.origin.key}`);
      for (const [name, value] of Object.entries(letter.headers)) print(`${name}: ${value}`);
      print(letter.value?.toString() ?? "(no value)");
    }
  },
  async replay(eventLog) {
    for (const id of given) {
      await replayDeadLetter(eventLog, serviceOf(id), await find(eventLog, id));
      print(`replayed ${id}`);
    }
  },
  async "replay-all"(eventLog) {
    for (const service of given.map(checkedService)) {
      for (const letter of await listDeadLetters(eventLog, service)) {
        await replayDeadLetter(eventLog, service, letter);
        print(`replayed ${letter.id}`);
      }
    }
  },
  async drop(eventLog) {
    for (const id of given) {
      await dropDeadLetter(eventLog, serviceOf(id), (await find(eventLog, id)).id);
      print(`dropped ${id}`);
    }
  },
};

const lineOf = ({ id, time, headers, reason }: DeadLetter): string =>
  [time.toISOString(), id, headers.ce_type ?? "unreadable", headers.ce_id ?? "-", reason].join("  ");

/** Returns the service of an id, which starts with its consumer, `<service>.<name>`. */
const serviceOf = (id: string): ServiceName => checkedService(id.split(".")[0] ?? "");

function checkedService(name: string): ServiceName {
  const service = serviceNames.find((one) => one === name);
  if (!service) throw new Error(`${name} is not a service: one of ${serviceNames.join(", ")}`);
  return service;
}

async function find(eventLog: EventLog, id: string): Promise<DeadLetter> {
  const letter = (await listDeadLetters(eventLog, serviceOf(id))).find((one) => one.id === id);
  if (!letter) throw new Error(`there is no dead letter ${id}`);
  return letter;
}

const chosen = commands[command];
const needsArgument = command !== "list" && given.length === 0;
await runCommand(usage, chosen && !needsArgument ? () => withEventLog(argv, chosen) : null);

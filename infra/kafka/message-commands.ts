import { parseArgs } from "node:util";
import type { CallOptions, Client, DeadEvent, DeadLetter, ParkedKey } from "@signalbox/client";
import type { ServiceName } from "@signalbox/core";
import { itemsOf, openOperationsClient } from "./operations-client.ts";
import { print, runCommand } from "./run-command.ts";

/** The resource of each kind of messages in the API of operators, and what can be done with one. */
const kinds = {
  "dead-letters": { resource: "deadLetters", actions: ["replay", "replay-all", "drop"] },
  "dead-events": { resource: "deadEvents", actions: ["replay", "replay-all", "drop"] },
  parked: { resource: "parkedKeys", actions: ["retry", "skip"] },
} as const;

type Message = DeadLetter | DeadEvent | ParkedKey;
type Verb = "replay" | "drop" | "retry" | "skip";
type Act = (
  id: string,
  body: { readonly dry_run: boolean; readonly reason?: string | undefined },
  options: CallOptions,
) => Promise<{ readonly effect: string }>;

interface Given {
  readonly client: Client;
  readonly resource: (typeof kinds)[keyof typeof kinds]["resource"];
  readonly operands: readonly string[];
  readonly reason: string | undefined;
  readonly isDryRun: boolean;
}

const commands: Readonly<Record<string, (given: Given) => Promise<void>>> = {
  async list({ client, resource, operands: [service] }) {
    for await (const message of messagesOf(client, resource, service)) print(lineOf(message));
  },
  async show({ client, resource, operands }) {
    for (const id of operands) {
      const { headers, body, ...message } = await client[resource].get(id);
      print(`${lineOf(message)}\ntopic ${message.topic}, key ${message.key}`);
      for (const [name, value] of Object.entries(headers)) print(`${name}: ${value}`);
      print(JSON.stringify(body));
      if (resource === "parkedKeys") await printQueue(client, id);
    }
  },
  async "replay-all"(given) {
    for (const service of given.operands) {
      const messages: Message[] = []; // read whole before the first change, which moves the others on
      for await (const message of messagesOf(given.client, given.resource, service)) messages.push(message);
      for (const message of messages) await act(given, "replay", message);
    }
  },
  replay: (given) => actOnEach(given, "replay"),
  drop: (given) => actOnEach(given, "drop"),
  retry: (given) => actOnEach(given, "retry"),
  skip: (given) => actOnEach(given, "skip"),
};

/** Verbs that give something up. */
const needsReason = new Set(["drop", "skip"]);

async function printQueue(client: Client, id: string): Promise<void> {
  print("queue, in the order in which it is handled:");
  for await (const { since, event_type, event_id, attempts } of itemsOf(client.parkedMessages.list(id)))
    print([since, event_type ?? "unreadable", event_id ?? "-", `tries ${attempts}`].join("  "));
}

const messagesOf = (client: Client, resource: Given["resource"], service: string | undefined) =>
  itemsOf<Message>(client[resource].list(service === undefined ? {} : { service: service as ServiceName }));

async function actOnEach(given: Given, verb: Verb): Promise<void> {
  for (const id of given.operands) await act(given, verb, await given.client[given.resource].get(id));
}

async function act({ client, resource, isDryRun, reason }: Given, verb: Verb, { id, version }: Message): Promise<void> {
  const { [verb]: send } = client[resource] as unknown as Readonly<Record<Verb, Act>>;
  const body = { dry_run: isDryRun, ...(needsReason.has(verb) && { reason }) };
  const { effect } = await send(id, body, { ifMatch: `"${version}"` });
  print(`${id}: ${effect}`);
}

const lineOf = ({ since, id, event_type, event_id, reason }: Message): string =>
  [since, id, event_type ?? "unreadable", event_id ?? "-", reason].join("  ");

/** Runs the command line over one kind of messages: it calls the API of operators. */
export async function runMessageCommand(kind: keyof typeof kinds, usage: string): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { reason: { type: "string" }, "dry-run": { type: "boolean", default: false } },
    allowPositionals: true,
    strict: false,
  });
  const [command = "", ...operands] = positionals;
  const { resource, actions } = kinds[kind];
  const run = ["list", "show", ...actions].includes(command) ? commands[command] : undefined;
  const reason = typeof values.reason === "string" ? values.reason : undefined;
  const lacksReason = needsReason.has(command) && reason === undefined;
  const isWhole = run !== undefined && !lacksReason && (command === "list" || operands.length > 0);
  const given = { resource, operands, reason, isDryRun: values["dry-run"] === true };
  await runCommand(usage, isWhole ? async () => run({ ...given, client: await openOperationsClient() }) : null);
}

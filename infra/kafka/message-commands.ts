import { parseArgs } from "node:util";
import { type OperationsClient, openOperationsClient } from "./operations-client.ts";
import { print, runCommand } from "./run-command.ts";

/** A message that needs a decision, as the API of operators shows it. */
interface Message {
  readonly id: string;
  readonly since: string;
  readonly topic: string;
  readonly key: string;
  readonly event_type: string | null;
  readonly event_id: string | null;
  readonly reason: string;
  readonly version: string;
}

interface Detail extends Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A message in the queue of a parked key. */
interface Queued extends Pick<Message, "id" | "since" | "event_type" | "event_id"> {
  readonly attempts: number;
}

interface Given {
  readonly client: OperationsClient;
  readonly collection: "dead-letters" | "dead-events" | "parked";
  readonly operands: readonly string[];
  readonly reason: string | undefined;
  readonly isDryRun: boolean;
}

type Commands = Readonly<Record<string, (given: Given) => Promise<void>>>;

const reads: Commands = {
  async list({ client, collection, operands: [service] }) {
    for await (const message of messagesOf(client, collection, service)) print(lineOf(message));
  },
  async show({ client, collection, operands }) {
    for (const id of operands) {
      const { headers, body, ...message } = await client.get<Detail>(`${collection}/${encodeURIComponent(id)}`);
      print(`${lineOf(message)}\ntopic ${message.topic}, key ${message.key}`);
      for (const [name, value] of Object.entries(headers)) print(`${name}: ${value}`);
      print(JSON.stringify(body));
      if (collection === "parked") await printQueue(client, id);
    }
  },
};

const deadActions: Commands = {
  async replay(given) {
    for (const id of given.operands) await act(given, "replay", await find(given, id));
  },
  async "replay-all"(given) {
    const { client, collection, operands } = given;
    for (const service of operands) {
      const messages: Message[] = []; // read whole before the first change, which moves the others on
      for await (const message of messagesOf(client, collection, service)) messages.push(message);
      for (const message of messages) await act(given, "replay", message);
    }
  },
  async drop(given) {
    for (const id of given.operands) await act(given, "drop", await find(given, id));
  },
};

const parkedActions: Commands = {
  async retry(given) {
    for (const id of given.operands) await act(given, "retry", await find(given, id));
  },
  async skip(given) {
    for (const id of given.operands) await act(given, "skip", await find(given, id));
  },
};

const commandsOf = (collection: Given["collection"]): Commands => ({
  ...reads,
  ...(collection === "parked" ? parkedActions : deadActions),
});

/** Verbs that give something up. */
const needsReason = new Set(["drop", "skip"]);

async function printQueue(client: OperationsClient, id: string): Promise<void> {
  print("queue, in the order in which it is handled:");
  for await (const message of client.list<Queued>(`parked/${encodeURIComponent(id)}/messages`)) {
    const { since, event_type, event_id, attempts } = message;
    print([since, event_type ?? "unreadable", event_id ?? "-", `tries ${attempts}`].join("  "));
  }
}

function messagesOf(client: OperationsClient, collection: string, service: string | undefined) {
  const parameters = service === undefined ? "" : `?service=${encodeURIComponent(service)}`;
  return client.list<Message>(`${collection}${parameters}`);
}

const find = ({ client, collection }: Given, id: string): Promise<Message> =>
  client.get<Message>(`${collection}/${encodeURIComponent(id)}`);

async function act(given: Given, verb: "replay" | "drop" | "retry" | "skip", { id, version }: Message): Promise<void> {
  const { client, collection, isDryRun, reason } = given;
  const body = { dry_run: isDryRun, ...(needsReason.has(verb) && { reason }) };
  const path = `${collection}/${encodeURIComponent(id)}/${verb}`;
  const { effect } = await client.post<{ readonly effect: string }>(path, body, version);
  print(`${id}: ${effect}`);
}

const lineOf = ({ since, id, event_type, event_id, reason }: Message): string =>
  [since, id, event_type ?? "unreadable", event_id ?? "-", reason].join("  ");

/** Runs the command line over one kind of messages: it calls the API of operators. */
export async function runMessageCommand(
  collection: Given["collection"],
  usage: string,
  argv: readonly string[],
): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { reason: { type: "string" }, "dry-run": { type: "boolean", default: false } },
    allowPositionals: true,
    strict: false,
  });
  const [command = "", ...operands] = positionals;
  const commands = commandsOf(collection);
  const chosen = Object.hasOwn(commands, command) ? commands[command] : undefined;
  const reason = typeof values.reason === "string" ? values.reason : undefined;
  const lacksReason = needsReason.has(command) && reason === undefined;
  const isWhole = chosen !== undefined && !lacksReason && (command === "list" || operands.length > 0);
  const given = { collection, operands, reason, isDryRun: values["dry-run"] === true };
  await runCommand(usage, isWhole ? async () => chosen({ ...given, client: await openOperationsClient() }) : null);
}

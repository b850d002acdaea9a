import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Context } from "../context.ts";
import { Failure, UsageError } from "../failures.ts";
import { type ForwardTerms, forward, isSuccess, type Receiver } from "./forward.ts";
import { createLineView } from "./line-view.ts";
import type { Message } from "./messages.ts";

interface LoadOptions {
  /** Names of types or prefixes; none means all. */
  readonly events: readonly string[];
  readonly receiver: Receiver;
  readonly terms: ForwardTerms;
}

/**
 * Forwards the events of a file in its order, one after the other. @throws UsageError naming the line that is no event,
 * Failure when the receiver did not take all of them
 */
export async function loadEvents(
  context: Context,
  file: string,
  { events, receiver, terms }: LoadOptions,
): Promise<void> {
  const stop = context.stopping();
  const view = createLineView(context, { target: receiver.url, stop: () => {} });
  const counts = { sent: 0, failed: 0 };
  let number = 0;
  for await (const line of linesOf(context, file)) {
    number++;
    if (stop.aborted) return;
    if (line.trim() === "") continue;
    const message = messageOf(line, `${file}, line ${number}`);
    if (events.length > 0 && !isOfTypes(message.type, events)) continue;
    const atMs = terms.nowMs();
    const answer = await forward(receiver, message, terms);
    counts.sent++;
    if (!isSuccess(answer)) counts.failed++;
    view.onAttempt({ message, atMs, answer });
  }
  if (counts.failed > 0) throw new Failure(`The receiver did not accept ${counts.failed} of ${counts.sent} events.`);
}

/** Returns true for a type that a name, or a prefix that ends in `*`, covers. */
export const isOfTypes = (type: string, names: readonly string[]): boolean =>
  names.some((name) => (name.endsWith("*") ? type.startsWith(name.slice(0, -1)) : type === name));

async function* linesOf({ stdin }: Context, file: string): AsyncGenerator<string> {
  const input = file === "-" ? stdin : createReadStream(file);
  // Without a listener the error of a file that cannot be read ends the process.
  const failure = new Promise<never>((_, reject) => input.once("error", reject));
  failure.catch(() => undefined);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await Promise.race([lines.next(), failure]).catch(() => {
      throw new UsageError(`The file ${file} cannot be read.`);
    });
    if (done) return;
    yield value;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a line: a message as `listen --json` prints it, with its bytes and headers; an event as `events tail --json` prints it;
 * or any other event, which is sent as it is written. Only the first has a signature, of the time when it was signed.
 */
function messageOf(line: string, place: string): Message {
  const fields = fieldsOf(line);
  if (fields === null) throw new UsageError(`${place} is not a JSON object.`);
  const { type, event, id, delivery, attempt, headers, body, body_encoding: encoding } = fields;
  const eventId = textOf(event ?? id);
  return {
    lease_id: "",
    delivery_id: textOf(delivery),
    event_id: eventId,
    type: textOf(type),
    attempt: typeof attempt === "number" ? attempt : 1,
    headers: headersOf(headers) ?? { "content-type": "application/json", ...(eventId && { "webhook-id": eventId }) },
    body: typeof body === "string" ? body : line,
    body_encoding: encoding === "base64" ? "base64" : "utf8",
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function fieldsOf(line: string): Fields | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

function headersOf(value: unknown): Readonly<Record<string, string>> | null {
  if (typeof value !== "object" || value === null) return null;
  const entries = Object.entries(value).filter(([name, text]) => isHeader(name, text));
  return Object.fromEntries(entries) as Readonly<Record<string, string>>;
}

const isHeader = (name: string, value: unknown): boolean =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

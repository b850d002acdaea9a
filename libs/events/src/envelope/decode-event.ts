import { type EventData, type EventName, eventOf, findEvent, parseEventType } from "@signalbox/contracts";
import type { ReceivedRecord } from "../log/event-log.ts";

/** An event as a handler gets it: read, checked against its schema, and typed by its name. */
export interface ReceivedEvent<N extends EventName = EventName> {
  readonly id: string;
  readonly name: N;
  readonly version: number;
  readonly time: Date;
  readonly subject: string;
  readonly accountId: string | null;
  readonly data: EventData<N>;
  /**
   * The data in JSON as its producer wrote it. Numbers beyond the precision of a double keep all their digits only
   * here.
   */
  readonly dataJson: Buffer;
  readonly traceparent?: string;
  /** Attributes for readers that decide without the data. */
  readonly extensions?: Readonly<Record<string, string>>;
}

/** A message that no reader can ever read. */
export class UnreadableMessage extends Error {
  override readonly name = "UnreadableMessage";
}

type Headers = ReceivedRecord["headers"];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the event name of a record, or null when the catalogue does not know it in this version: a newer event, or a
 * version published beside ours.
 * @throws UnreadableMessage when the record does not name its type.
 */
export function eventNameOf(headers: Headers): EventName | null {
  const type = parseEventType(required(headers, "ce_type"));
  if (!type) throw new UnreadableMessage(`ce_type ${JSON.stringify(headers.ce_type)} is not <name>.v<version>`);
  const declaration = findEvent(type.name);
  return declaration && declaration.version === type.version ? declaration.name : null;
}

/**
 * Reads the event of a record whose name is known.
 * @throws UnreadableMessage naming the fault: envelope, encoding, JSON or schema.
 */
export function decodeEvent<N extends EventName>(
  name: N,
  record: Pick<ReceivedRecord, "headers" | "value">,
): ReceivedEvent<N> {
  const { headers, value } = record;
  const declaration = eventOf(name);
  if (headers.ce_specversion !== "1.0") throw new UnreadableMessage("ce_specversion is not 1.0");
  const id = required(headers, "ce_id").toLowerCase(); // as PostgreSQL writes it
  if (!uuid.test(id)) throw new UnreadableMessage("ce_id is not a UUID");
  const time = new Date(required(headers, "ce_time"));
  if (Number.isNaN(time.getTime())) throw new UnreadableMessage("ce_time is not a time");
  const result = declaration.data.safeParse(parseJson(value));
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new UnreadableMessage(
      `the data does not fit ${headers.ce_type}: ${issue?.path.join(".")}: ${issue?.message}`,
    );
  }
  return {
    id,
    name,
    version: declaration.version,
    time,
    subject: required(headers, "ce_subject"),
    accountId: headers.ce_accountid ?? null,
    data: result.data as EventData<N>,
    dataJson: value as Buffer,
    ...(headers.ce_traceparent !== undefined && { traceparent: headers.ce_traceparent }),
    ...extensionsOf(headers),
  };
}

const ownAttributes = "specversion id source type time subject dataschema accountid traceparent".split(" ");
const ownHeaders = new Set(ownAttributes.map((name) => `ce_${name}`));

function extensionsOf(headers: Headers): Pick<ReceivedEvent, "extensions"> {
  const found = Object.entries(headers).filter(([name]) => name.startsWith("ce_") && !ownHeaders.has(name));
  if (found.length === 0) return {};
  return { extensions: Object.fromEntries(found.map(([name, value]) => [name.slice("ce_".length), value])) };
}

function required(headers: Headers, name: string): string {
  const value = headers[name];
  if (value === undefined || value === "") throw new UnreadableMessage(`the header ${name} is missing`);
  return value;
}

function parseJson(value: Buffer | null): unknown {
  if (value === null) throw new UnreadableMessage("the message has no value");
  try {
    return JSON.parse(utf8.decode(value));
  } catch (error) {
    throw new UnreadableMessage("the value is not JSON in UTF-8", { cause: error });
  }
}

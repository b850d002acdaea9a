import { dataSchemaOf, draftProblems, type EventDraft, type EventName, eventOf, eventType } from "@signalbox/contracts";
import { AppError, type Clock, uuidv7 } from "@signalbox/core";
import type { Tracer } from "@signalbox/runtime";
import type { EventLog } from "../log/event-log.ts";

/** Fields that an event gets when it becomes a record. */
export interface EnvelopeFields {
  readonly service: string;
  /** UUIDv7 */
  readonly id: string;
  readonly time: Date;
  readonly traceparent: string | undefined;
}

export interface EncodedEvent {
  readonly topic: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Buffer;
}

/**
 * Encodes an event as a record: CloudEvents 1.0 in the binary mode of its Kafka binding. NUL characters and lone
 * surrogates in the data become JSON escapes, so the value is always well-formed UTF-8.
 * @throws Error when the data does not fit its schema: a bug of the producer.
 */
export function encodeEvent(event: EventDraft<EventName>, fields: EnvelopeFields): EncodedEvent {
  const declaration = eventOf(event.name);
  const problems = draftProblems(event);
  if (problems.length > 0) throw new Error(`an event does not fit its schema: ${problems.join("; ")}`);
  return {
    topic: declaration.topic,
    key: checkedKey(event.subject),
    headers: {
      ce_specversion: "1.0",
      ce_id: fields.id,
      ce_source: `/signalbox/${fields.service}`,
      ce_type: eventType(declaration),
      ce_time: fields.time.toISOString(),
      ce_subject: event.subject,
      ce_dataschema: dataSchemaOf(declaration),
      ...(event.accountId !== null && { ce_accountid: event.accountId.toWellFormed() }),
      ...(fields.traceparent !== undefined && { ce_traceparent: fields.traceparent }),
      ...Object.fromEntries(Object.entries(event.extensions ?? {}).map(([name, value]) => [`ce_${name}`, value])),
      "content-type": "application/json",
    },
    value: Buffer.from(dataText(event)),
  };
}

/** Serializes the data as JSON; members that are JSON text already are inserted unchanged. */
function dataText({ data, raw = {} }: EventDraft<EventName>): string {
  const written = Object.entries(raw).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  const text = JSON.stringify(data);
  if (written.length === 0) return text;
  return `${text.slice(0, -1)}${text === "{}" ? "" : ","}${written.join(",")}}`;
}

/**
 * Checks a key: it is stored as PostgreSQL text, which holds no NUL, and hashed as UTF-8, which holds no lone
 * surrogate.
 */
function checkedKey(key: string): string {
  if (key !== "" && !key.includes("\0") && key.isWellFormed()) return key;
  throw new AppError("validation_error", "An identifier contains characters that cannot be stored.", {
    cause: new Error(`an event cannot have the key ${JSON.stringify(key)}`),
  });
}

interface Publisher {
  readonly eventLog: EventLog;
  readonly service: string;
  readonly clock: Clock;
  readonly tracer: Tracer;
}

/**
 * Publishes without an outbox and resolves when the log has taken the events. For reports and results, whose sender
 * repeats them until they are acknowledged; never for facts, whose change could be committed while their event is lost.
 */
export async function publishEvents(publisher: Publisher, drafts: readonly EventDraft<EventName>[]): Promise<void> {
  const { eventLog, service, clock, tracer } = publisher;
  const time = clock.now();
  const traceparent = tracer.traceparent();
  await eventLog.publish(
    drafts.map((event) => encodeEvent(event, { service, id: uuidv7(time.getTime()), time, traceparent })),
  );
}

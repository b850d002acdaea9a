import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { examples, timeInput } from "@signalbox/contracts";
import { AppError, RawJson } from "@signalbox/core";
import type { BodyForms } from "@signalbox/http";
import { z } from "zod";
import { eventNameMax, isCustomName } from "../event-types/event-type.ts";
import { eventsMax } from "./publication.ts";

/** Text of an attribute: without control characters and unpaired surrogates (CloudEvents 1.0, "Type System"). */
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: "Must not have control characters." });

/** Attributes that have members of their own in an event, or are set by the service. */
const ownMembers = ["specversion", "id", "type", "time", "subject", "datacontenttype", "data"];
const coreAttributes = new Set([...ownMembers, "accountid"]);
const attributesMax = 32;
const namePattern = /^[a-z0-9]{1,64}$/;
const nameRule = "A name has 1–64 lower-case letters and digits.";

/** `source`, `dataschema` and extension attributes of a CloudEvent, which have no members of their own in an event. */
export const CloudEventAttributes = z
  .record(
    z
      .string()
      .regex(namePattern, { error: nameRule })
      .refine((name) => !coreAttributes.has(name), { error: "This attribute is set by the service." }),
    z.union([text(1_024), z.boolean(), z.int32()], {
      error: "Must be a string, a 32-bit integer, or a boolean.",
    }),
  )
  .refine((given) => Object.keys(given).length <= attributesMax, { error: `At most ${attributesMax} are allowed.` });

const structured = "application/cloudevents+json";
const batched = "application/cloudevents-batch+json";
const json = "application/json";
const isJson = (mediaType: string | null | undefined): boolean => /^[^;]*[/+]json\s*(;|$)/i.test(mediaType ?? json);

const shape = {
  specversion: z.literal("1.0", { error: "Must be 1.0." }).describe("The version of CloudEvents: 1.0."),
  id: text(1_024).describe(
    "The id of the event in its source. Source and id together make the publication idempotent.",
  ),
  source: text(1_024).describe("The context in which the event happened, a URI reference."),
  type: text(eventNameMax)
    .refine(isCustomName, { error: "This name is reserved for events of the service." })
    .describe("Name of the event type, any string."),
  subject: text(255).nullish().describe("Subject of the event, such as an order number."),
  time: timeInput.nullish().describe("Time of the event, RFC 3339; kept to the millisecond."),
  datacontenttype: text(255)
    .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;.*)?$/, { error: "Must be a media type, such as text/plain." })
    .nullish()
    .describe(`The media type of the data. Default: ${json}.`),
  dataschema: text(1_024).nullish().describe("The address of the schema of the data."),
  data: z.unknown().optional().describe("JSON, delivered unchanged, or a string of another media type."),
  data_base64: z.base64({ error: "Must be base 64." }).nullish().describe("Data that is neither JSON nor text."),
};

/** A CloudEvent in structured mode. Its output is a custom event, whose id stands for source and id. */
const CloudEvent = z
  .looseObject(shape, {
    error: ({ code }) =>
      code === "invalid_type" ? `Must be a CloudEvent object. Send a list as ${batched}.` : undefined,
  })
  .superRefine((given, context) => {
    const refuse = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message });
    const data = dataOf(given);
    if (data && given.data_base64 != null) refuse("data_base64", "Send either `data` or `data_base64`.");
    else if (data && !isJson(given.datacontenttype) && typeof data.value !== "string")
      refuse("data", "Must be a string, because `datacontenttype` is not JSON.");
    const own = Object.entries(membersOf(given)).filter(([name]) => !readApart.has(name));
    const judged = CloudEventAttributes.safeParse(Object.fromEntries(own));
    for (const issue of judged.error?.issues ?? []) {
      const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
      context.addIssue({ code: "custom", path: issue.path, message });
    }
  })
  .transform(({ specversion: _, type, subject, time, data: written, ...given }) => {
    const data = dataOf({ ...given, data: written });
    const mediaType = data ? (given.datacontenttype ?? json) : given.data_base64 && given.datacontenttype;
    return {
      id: cloudEventIdOf(given.source, given.id),
      type,
      data: data ?? RawJson.of(null),
      subject: subject ?? undefined,
      created_at: time ?? undefined,
      cloudevents: membersOf({ ...given, datacontenttype: mediaType }),
    };
  })
  .meta({ id: "CloudEvent" });

const readApart = new Set([...ownMembers, "data_base64"]);

/** Drops members without a value: null is the same as absent. */
const membersOf = (given: object) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));

interface GivenData {
  readonly data?: unknown;
  readonly datacontenttype?: string | null | undefined;
  readonly data_base64?: string | null | undefined;
}

/** Returns the data, a text as JSON too; undefined without any. Null is data where it is JSON. */
function dataOf({ data, datacontenttype, data_base64: base64 }: GivenData): RawJson | undefined {
  const raw = data === undefined || data instanceof RawJson ? data : RawJson.of(data);
  return raw?.value === null && (base64 != null || !isJson(datacontenttype)) ? undefined : raw;
}

/** Makes the id of the event: that of a CloudEvent is unique in its source alone, and may not fit a header. */
const cloudEventIdOf = (source: string, id: string): string =>
  `ce_${hash("sha256", JSON.stringify([source, id])).slice(0, 40)}`;

/** Attributes of a CloudEvent in an envelope, and its data where they are bytes. */
export interface CloudEventMembers {
  readonly id?: string;
  readonly datacontenttype?: string;
  readonly data_base64?: string;
}

/** Returns true for a CloudEvent without `data`, in whose place its envelope has null. */
export const hasNoData = ({ id, datacontenttype, data_base64 }: CloudEventMembers): boolean =>
  id !== undefined && (datacontenttype === undefined || data_base64 !== undefined);

const CloudEventBatch = z
  .array(CloudEvent, { error: `Must be a list of CloudEvents. Send a single one as ${structured}.` })
  .min(1, { error: "Must contain at least one event." })
  .max(eventsMax, { error: `At most ${eventsMax} events are allowed.` })
  .meta({ id: "CloudEventBatch" });

const cloudEventExample = {
  specversion: "1.0",
  id: "order-17-created",
  source: "https://shop.example/orders",
  type: "order.created",
  subject: "order-17",
  time: "2026-01-01T09:00:00.000Z",
  datacontenttype: "application/json",
  data: { order: 17, total: "12.50" },
};
examples.add(CloudEvent, { example: cloudEventExample as never });
examples.add(CloudEventBatch, { example: [cloudEventExample] as never });

const prefix = "ce-";
const binaryHeaders = ["specversion", "id", "source", "type"].map((name) => `${prefix}${name}`);

/** The content modes of CloudEvents (1.0, HTTP binding §3). A plain publication costs four look-ups in its headers. */
export const cloudEventForms: BodyForms = {
  mediaTypes: { [structured]: CloudEvent, [batched]: CloudEventBatch },
  formOf(mediaType, headers) {
    if (mediaType === structured) return { schema: CloudEvent };
    if (mediaType === batched) return { schema: CloudEventBatch };
    const isBinary = binaryHeaders.some((name) => headers[name] !== undefined);
    if (!isBinary || mediaType?.startsWith("application/cloudevents")) return null;
    const datacontenttype = headers["content-type"];
    const eventOf = (data: object) => ({ ...attributesIn(headers), data: undefined, datacontenttype, ...data });
    return isJson(mediaType)
      ? { schema: CloudEvent, anyMediaType: "json", raw: { whole: true }, read: (data) => eventOf({ data }) }
      : {
          schema: CloudEvent,
          anyMediaType: "bytes",
          read: (bytes) => eventOf(Buffer.isBuffer(bytes) ? dataIn(bytes, datacontenttype ?? "") : {}),
        };
  },
};

const isText = (mediaType: string): boolean =>
  /^(text\/|[^;]*[/+]xml\s*(;|$))/i.test(mediaType) && !/;\s*charset\s*=\s*"?(?!utf-?8\b)/i.test(mediaType);

const dataIn = (bytes: Buffer, mediaType: string): object =>
  isText(mediaType) && isUtf8(bytes) ? { data: bytes.toString("utf8") } : { data_base64: bytes.toString("base64") };

/** Reads the attributes of binary mode. @throws AppError `validation_error` naming a header that is wrong */
function attributesIn(headers: IncomingHttpHeaders): Record<string, string> {
  const given = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  const attributes = given.map(([header, value]) => {
    const name = header.slice(prefix.length);
    // An object would lose a name such as `__proto__`.
    if (!namePattern.test(name)) throw refusedHeader(header, nameRule);
    return [name, decoded(header, String(value))] as const;
  });
  return Object.fromEntries(attributes);
}

/** Undoes quotes and percent-encoding (§3.1.3.2). */
function decoded(name: string, value: string): string {
  const plain = /^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
  try {
    return decodeURIComponent(plain);
  } catch (cause) {
    throw refusedHeader(name, "Must be percent-encoded UTF-8; write a percent sign as `%25`.", cause);
  }
}

function refusedHeader(field: string, message: string, cause?: unknown): AppError {
  const details = [{ field, code: "invalid_format" as const, message }];
  return new AppError("validation_error", "A header of the event is not valid.", { details, cause });
}

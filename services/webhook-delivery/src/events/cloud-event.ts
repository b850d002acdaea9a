import type { IncomingHttpHeaders } from "node:http";
import { examples } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import type { BodyForms } from "@signalbox/http";
import { z } from "zod";

/** Text of an attribute: without control characters and halves of surrogate pairs (CloudEvents 1.0, "Type System"). */
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: "Must not have control characters." });

/** Attributes that have members of their own in an event, or are set by the service. */
const coreAttributes = new Set([
  "specversion",
  "id",
  "type",
  "time",
  "subject",
  "datacontenttype",
  "data",
  "accountid",
]);
const attributesMax = 32;
const namePattern = /^[a-z0-9]{1,20}$/;
const nameRule = "A name has 1–20 lower-case letters and digits.";

/** `source`, `dataschema` and extension attributes of a CloudEvent, which have no members of their own in an event. */
export const CloudEventAttributes = z
  .record(
    z
      .string()
      .regex(namePattern, { error: nameRule })
      .refine((name) => !coreAttributes.has(name), { error: "This attribute is set by the service." }),
    z.union([text(1_024), z.boolean(), z.int32()], {
      error: "Must be a text, a whole number of 32 bits, or a boolean.",
    }),
  )
  .refine((given) => Object.keys(given).length <= attributesMax, { error: `At most ${attributesMax} are allowed.` });

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const structured = "application/cloudevents+json";
const batched = "application/cloudevents-batch+json";

const shape = {
  specversion: z.literal("1.0", { error: "Must be 1.0." }).describe("The version of CloudEvents: 1.0."),
  id: text(128).describe("The id of the event. It makes the publication safe to repeat."),
  source: text(1_024).describe("The context in which the event happened, a URI reference."),
  type: text(128).describe("Name of your event type: two to five words with dots between them."),
  subject: text(255).nullish().describe("Subject of the event, such as an order number."),
  time: z.iso.datetime({ offset: true }).nullish().describe("Time of the event, RFC 3339; kept to the millisecond."),
  datacontenttype: text(255)
    .regex(/^application\/([\w.-]+\+)?json\s*(;.*)?$/i, { error: "Data must be JSON." })
    .nullish()
    .describe("The media type of the data: JSON."),
  dataschema: z.url().max(1_024).nullish().describe("The address of the schema of the data."),
  data: z.unknown().describe("A JSON object, delivered unchanged."),
};

/** A CloudEvent in structured mode. Its output is an event as `POST /events` takes it. */
const CloudEvent = z
  .looseObject(shape, {
    error: ({ code }) =>
      code === "invalid_type" ? `Must be a CloudEvent, an object. A list is ${batched}.` : undefined,
  })
  .superRefine((given, context) => {
    const refuse = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message });
    if ("data_base64" in given) refuse("data_base64", "Binary data cannot be published. Send a JSON object in `data`.");
    else if (given.data === undefined)
      context.addIssue({ code: "invalid_type", expected: "object", path: ["data"], input: undefined });
    else if (!isObject(given.data)) refuse("data", "Must be a JSON object.");
    const judged = CloudEventAttributes.safeParse(attributesOf(given));
    for (const issue of judged.error?.issues ?? []) {
      const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
      context.addIssue({ code: "custom", path: issue.path, message });
    }
  })
  .transform(({ id, type, subject, time, data, ...given }) => ({
    id,
    type,
    data,
    ...(subject != null && { subject }),
    ...(time != null && { created_at: new Date(time).toISOString() }),
    cloudevents: attributesOf(given),
  }))
  .meta({ id: "CloudEvent" });

const readApart = new Set(["specversion", "id", "type", "time", "subject", "datacontenttype", "data", "data_base64"]);

/** Extracts the attributes that an event has no member for. Null is the same as absent. */
const attributesOf = (given: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== null && value !== undefined && !readApart.has(name)),
  );

/** Its length is judged with the events. */
const CloudEventBatch = z
  .array(CloudEvent, { error: `Must be a list of CloudEvents. A single one is ${structured}.` })
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

/**
 * The content modes of CloudEvents over HTTP: the media type names structured and batched mode, and in binary mode
 * attributes are headers (CloudEvents 1.0, HTTP binding §3). A plain publication costs four look-ups in its headers.
 */
export const cloudEventForms: BodyForms = {
  mediaTypes: { [structured]: CloudEvent, [batched]: CloudEventBatch },
  formOf(mediaType, headers) {
    if (mediaType === structured) return { schema: CloudEvent };
    if (mediaType === batched) return { schema: CloudEventBatch };
    if (!binaryHeaders.some((name) => headers[name] !== undefined)) return null;
    return { schema: CloudEvent, read: (data) => ({ ...attributesIn(headers), data }) };
  },
};

/**
 * Reads the attributes of binary mode. `datacontenttype` is the media type of the request.
 * @throws AppError `validation_error` naming a header whose name or encoding is wrong
 */
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
    throw refusedHeader(name, "Must be percent-encoded UTF-8; a percent sign itself is `%25`.", cause);
  }
}

function refusedHeader(field: string, message: string, cause?: unknown): AppError {
  const details = [{ field, code: "invalid_format" as const, message }];
  return new AppError("validation_error", "A header of the event is not valid.", { details, cause });
}

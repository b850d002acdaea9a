import { hash } from "node:crypto";
import { examples, timeInput } from "@signalbox/contracts";
import { newId, RawJson } from "@signalbox/core";
import { z } from "zod";
import { customType } from "../event-types/event-type.ts";
import { CloudEventAttributes } from "./cloud-event.ts";
import { envelopeOf, type OutgoingEvent } from "./outgoing-event.ts";
import { eventsMax } from "./publication.ts";

export const customEventExample = {
  id: "order-17-created",
  type: "order.created",
  data: { order: 17, total: "12.50" },
  subject: "order-17",
};

/** A JSON object that is delivered as it was written. A value that came without its text is written here. */
export const Data = z
  .unknown()
  .transform((given, context) => {
    const data = given instanceof RawJson ? given : RawJson.of(given);
    const { value } = data;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return data;
    context.addIssue({ code: "invalid_type", expected: "record", input: value });
    return z.NEVER;
  })
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} })
  .describe("A JSON object, delivered unchanged.");

export const CustomEventBody = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9._:-]{1,128}$/)
      .optional()
      .describe("Your own id makes the publication idempotent. Default: a new id."),
    type: customType,
    data: Data,
    subject: z.string().min(1).max(255).optional().describe("Subject of the event, such as an order number."),
    created_at: timeInput.optional().describe("Time of the event. Default: now."),
    cloudevents: CloudEventAttributes.optional().describe(
      "CloudEvents attributes for endpoints with that format: `source`, `dataschema` and extensions.",
    ),
  })
  .meta({ id: "CustomEvent", description: "An event that an account publishes." })
  .register(examples, { example: customEventExample });

export type CustomEvent = z.output<typeof CustomEventBody>;

export const PublishBody = z
  .union([CustomEventBody, z.array(CustomEventBody).min(1).max(eventsMax)], { error: unionFault })
  .meta({ id: "PublishEvents" })
  .register(examples, { example: customEventExample });

/** Says what to do about an unknown member, such as a list in an object. */
function unionFault(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_union") return undefined;
  const faults = issue.errors[Array.isArray(issue.input) ? 1 : 0] ?? [];
  const unknown = faults.find(({ code }) => code === "unrecognized_keys");
  if (unknown?.code !== "unrecognized_keys") return undefined;
  const names = unknown.keys.map((key) => `\`${key}\``).join(", ");
  return `An event has no member ${names}. Send one event, or a plain list of events.`;
}

export function customEventOf(custom: CustomEvent, accountId: string, at: Date, traceparent?: string): OutgoingEvent {
  const id = custom.id ?? newId("evt", at.getTime());
  const { type, data, subject, cloudevents } = custom;
  const before = { id, type, created_at: custom.created_at ?? at.toISOString() };
  const after = { api_version: "v1", account_id: accountId, subject, cloudevents };
  return {
    id,
    accountId,
    type,
    createdAt: at,
    traceparent: traceparent ?? null,
    body: envelopeOf(before, Buffer.from(data.text), after),
    names: [type],
    version: 1,
    subject: subject ?? null,
    data: data.value,
    aboutEndpoint: null,
  };
}

/**
 * Returns a digest that is equal for two publications with the same content, in any order of members. Of data that a
 * double or a recursive reader would lose some of, the text is the content. Other attributes of a CloudEvent do not
 * count: those who forward it may add some.
 */
export function digestOf({ type, data, subject, created_at, cloudevents }: CustomEvent): Buffer {
  const content = [type, sorted(data.toJSON()), subject ?? null];
  if (cloudevents?.id !== undefined) content.push(cloudevents.data_base64 ?? null);
  else content.push(created_at ?? null, ...(cloudevents === undefined ? [] : [sorted(cloudevents)]));
  return hash("sha256", JSON.stringify(content), "buffer");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

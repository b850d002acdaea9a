import { hash } from "node:crypto";
import { examples, timestamp } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { z } from "zod";
import { customTypePattern, isCustomName } from "../event-types/event-type.ts";
import { CloudEventAttributes } from "./cloud-event.ts";
import type { OutgoingEvent } from "./outgoing-event.ts";

/** An event in examples. */
export const customEventExample = {
  id: "order-17-created",
  type: "order.created",
  data: { order: 17, total: "12.50" },
  subject: "order-17",
};

/** An event that an account publishes. */
export const CustomEventBody = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9._:-]{1,128}$/)
      .optional()
      .describe("Your own id makes the publication safe to repeat. Default: a new id."),
    type: z
      .string()
      .max(128)
      .regex(customTypePattern)
      .refine(isCustomName, { error: "This prefix belongs to the events of the service." })
      .describe("Name of your event type: two to five words with dots between them."),
    data: z.record(z.string(), z.unknown()).describe("A JSON object, delivered unchanged."),
    subject: z.string().min(1).max(255).optional().describe("Subject of the event, such as an order number."),
    created_at: timestamp.optional().describe("Time of the event. Default: now."),
    cloudevents: CloudEventAttributes.optional().describe(
      "Attributes of CloudEvents that endpoints of this format get: `source`, `dataschema` and extensions.",
    ),
  })
  .meta({ id: "CustomEvent", description: "An event that an account publishes." })
  .register(examples, { example: customEventExample });

export type CustomEvent = z.output<typeof CustomEventBody>;

export const eventsMax = 100;
/** Input of a publication: one event, or a list. */
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
  return `An event has no member ${names}. Send one event, or a list of events without an object around it.`;
}

/** Returns the event as subscribers get it, with the time of its acceptance. */
export function customEventOf(custom: CustomEvent, accountId: string, at: Date, traceparent?: string): OutgoingEvent {
  const id = custom.id ?? newId("evt", at.getTime());
  const envelope = {
    id,
    type: custom.type,
    created_at: custom.created_at ?? at.toISOString(),
    data: custom.data,
    api_version: "v1",
    account_id: accountId,
    // JSON leaves out what is undefined.
    subject: custom.subject,
    cloudevents: custom.cloudevents,
  };
  return {
    id,
    accountId,
    type: custom.type,
    createdAt: at,
    traceparent: traceparent ?? null,
    body: Buffer.from(JSON.stringify(envelope)),
    names: [custom.type],
    version: 1,
    subject: custom.subject ?? null,
    data: custom.data,
    aboutEndpoint: null,
  };
}

/** Returns a digest that is equal for two publications with the same content, in any order of members. */
export function digestOf({ type, data, subject, created_at, cloudevents }: CustomEvent): Buffer {
  const attributes = cloudevents === undefined ? [] : [sorted(cloudevents)];
  const content = [type, sorted(data), subject ?? null, created_at ?? null, ...attributes];
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

import { hash } from "node:crypto";
import { catalogue } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import type { OutgoingEvent } from "../deliveries/outgoing-event.ts";

/** An event that an account publishes. */
export interface CustomEvent {
  readonly id?: string | undefined;
  readonly type: string;
  readonly data: unknown;
  readonly subject?: string | undefined;
  /** Time of the event, as its publisher states it. */
  readonly created_at?: string | undefined;
}

/** Name of a custom event type: two to five words with dots between them. */
export const customTypePattern = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+){1,4}$/;

/** First words of the whole catalogue, internal events included, of the aliases of received webhooks, and of the product. */
const reservedPrefixes = new Set(["received", "signalbox", ...catalogue.map(({ name }) => name.split(".")[0])]);

/** Returns true when a type or filter is outside the service's own event names. */
export const isCustomName = (type: string): boolean => !reservedPrefixes.has(type.split(".")[0]?.replace(/\*$/, ""));

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
    ...(custom.subject !== undefined && { subject: custom.subject }),
  };
  return {
    ...{ id, accountId, type: custom.type, createdAt: at, traceparent: traceparent ?? null },
    body: Buffer.from(JSON.stringify(envelope)),
    names: [custom.type],
    version: 1,
    subject: custom.subject ?? null,
    data: custom.data,
    aboutEndpoint: null,
  };
}

/** Returns a digest that is equal for two publications with the same content, in any order of members. */
export function digestOf({ type, data, subject, created_at }: CustomEvent): Buffer {
  return hash("sha256", JSON.stringify([type, sorted(data), subject ?? null, created_at ?? null]), "buffer");
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

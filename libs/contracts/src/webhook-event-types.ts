import { catalogue } from "./catalogue.ts";

/** A type that a webhook endpoint can subscribe to. */
export interface WebhookEventType {
  readonly name: string;
  /** Operators see the events of everyone, and those that belong to nobody. */
  readonly audience: "account" | "operator";
  readonly description: string;
  readonly example: unknown;
}

/** Every public event type, by name. Webhooks name events without their version; the version is in `api_version`. */
export const webhookEventTypes: readonly WebhookEventType[] = catalogue.flatMap(
  ({ name, audience, description, example }) =>
    audience === "internal" ? [] : [{ name, audience, description, example }],
);

/** The second name of `webhook.received`, by which a filter can pick what one partner calls it (CONTRACT §7). */
export function receivedAlias(scheme: string, partnerType: string): string {
  return `received.${scheme}.${partnerType}`;
}

/** Tells if `filter`, a name or a prefix that ends in `*`, takes an event of this type. `*` alone takes every type. */
export function matchesEventType(filter: string, type: string): boolean {
  return filter.endsWith("*") ? type.startsWith(filter.slice(0, -1)) : filter === type;
}

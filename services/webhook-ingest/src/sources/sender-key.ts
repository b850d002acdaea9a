import type { readableSenders, WebhookSourceResource } from "@signalbox/contracts";
import type { SchemeName } from "@signalbox/webhook-signatures";
import type { Camel, SourceSettings } from "./source-settings.ts";

export type SenderName = (typeof readableSenders)[number];

export type RefusedKeyReason = "unauthorized" | "forbidden" | "not_found";

/** The read key of a sender, without its text. Times are RFC 3339, as they are stored. */
export interface SenderKey extends Omit<Camel<NonNullable<WebhookSourceResource["sender_key"]>>, "reason"> {
  readonly reason: RefusedKeyReason | null;
}

/** The place of the sender's list; `apiUrl` has no slash at its end. */
export type SenderPlace = Omit<SenderKey, "state" | "reason" | "since" | "setAt">;

/** Senders that list what they sent. `place` names the webhook of a list: `hook`, or nothing where the key does. */
export const readable: Readonly<Record<SenderName, { scheme: SchemeName; apiUrl: string; place: "hook" | "key" }>> = {
  github: { scheme: "github", apiUrl: "https://api.github.com", place: "hook" },
  stripe: { scheme: "stripe", apiUrl: "https://api.stripe.com", place: "key" },
};

/** Returns the problem of a place for a source as the field and a sentence; null for one that fits. */
export function placeProblem(
  { sender, repository, organization, hookId }: SenderPlace,
  { scheme, settings }: { readonly scheme: SchemeName; readonly settings: SourceSettings },
): { readonly field: string; readonly message: string } | null {
  const { scheme: right, place } = readable[sender];
  if (scheme !== right)
    return { field: "sender", message: `The key of ${sender} is for sources of the scheme ${right}.` };
  if (settings.deliveryIdFrom !== undefined)
    return { field: "sender", message: "The source must take the delivery id of its scheme, not delivery_id_from." };
  const isNamed = repository !== null || organization !== null || hookId !== null;
  if (place === "key")
    return isNamed ? { field: "hook_id", message: `${sender} needs the key alone, without a webhook.` } : null;
  if ((repository === null) === (organization === null))
    return { field: "repository", message: "Give either the repository or the organization of the webhook." };
  return hookId === null ? { field: "hook_id", message: "Give the id of the webhook at the sender." } : null;
}

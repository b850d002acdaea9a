import type { IncomingHttpHeaders } from "node:http";
import type { IngestService } from "../context/ingest-service.ts";
import type { RefusedKeyReason, SenderPlace } from "../sources/sender-key.ts";

/** Access to the list of a sender: its place, and the text of the read key. */
export interface SenderAccess extends SenderPlace {
  readonly key: string;
}

/** A webhook as the sender has it; of several bodies one is what it signed. */
export interface WebhookCopy {
  readonly headers: IncomingHttpHeaders;
  readonly bodies: readonly Buffer[];
}

/** A webhook that the sender lists and could not deliver. */
export interface ListedWebhook {
  /** The sender's name of the delivery, by which it is fetched or sent again. */
  readonly reference: string;
  readonly deliveryId: string;
  readonly eventType: string | null;
  readonly sentAt: Date;
  /** The webhook itself, where the list has it. */
  readonly copy: WebhookCopy | null;
}

export type SenderFailure =
  /** The key does not open the list. */
  | { readonly outcome: "refused"; readonly reason: RefusedKeyReason }
  /** The sender asks for a pause. */
  | { readonly outcome: "limited"; readonly until: Date }
  | { readonly outcome: "away"; readonly reason: string };

/** `waitUntil`: the time of the next request, when the sender allows no more before it. */
export type SenderAnswer<Value> =
  | { readonly outcome: "answered"; readonly value: Value; readonly waitUntil: Date | null }
  | SenderFailure;

/** The list that one sender keeps of the webhooks it sent: one file a sender. */
export interface SenderHistory {
  readonly keepsMs: number;
  /** Requests of a step, one after another, and the least time from its start to that of the next. */
  readonly pace: { readonly requests: number; readonly perMs: number };
  /** Reads a page of the list, newest first, from one time, inclusive, to another; `next` is null at its end. */
  readonly list: (
    service: IngestService,
    access: SenderAccess,
    window: { readonly fromAt: Date; readonly toAt: Date },
    position: string | null,
  ) => Promise<SenderAnswer<{ readonly webhooks: readonly ListedWebhook[]; readonly next: string | null }>>;
  /** Reads a webhook that the list only names; null for one that is gone. Absent where the list has the webhooks. */
  readonly fetch?: Ask<WebhookCopy | null>;
  /** Asks the sender to send a webhook again; false when it cannot. Absent where the list has the webhooks. */
  readonly ask?: Ask<boolean>;
}

type Ask<Value> = (service: IngestService, access: SenderAccess, reference: string) => Promise<SenderAnswer<Value>>;

import type { AccessKind } from "./access/account-state.ts";
import type { Scope } from "./access/scopes.ts";
import type { EventData, EventName } from "./catalogue.ts";

/** An event as a subscription looks at it. */
export interface SubscriptionEvent {
  readonly name: EventName;
  readonly data: EventData<EventName>;
}

/** A field of the graph's `Subscription` type: which events it tells of, to whom, and what it says of them. */
interface SubscriptionDeclaration<Payload> {
  readonly field: string;
  readonly description: string;
  readonly events: readonly EventName[];
  /** Asked for at the start, and held against the caller again with every event. */
  readonly scope: Scope;
  readonly access: AccessKind;
  /**
   * The members of the payload; null for an event that this does not tell of. Entities are references, which their subgraph
   * resolves as the caller may see them.
   */
  readonly payloadOf: (event: SubscriptionEvent) => Payload | null;
}

/** A reference to an entity, as federation writes it. */
interface EntityReference<Type extends string> {
  readonly __typename: Type;
  readonly id: string;
}

interface AccountChange {
  readonly account: EntityReference<"Account">;
  /** The name of the event: `account.updated`. */
  readonly event: string;
  /** Names of the fields that changed. */
  readonly changed: readonly string[];
}

const accountEvents = [
  "account.updated",
  "account.settings_updated",
  "account.status_changed",
  "account.contact_verified",
] as const;

const accountChanged: SubscriptionDeclaration<AccountChange> = {
  field: "accountChanged",
  description: "The caller's account, its settings or its status changed.",
  events: accountEvents,
  scope: "account:read",
  access: "subscribe",
  payloadOf({ name, data }) {
    if (!accountEvents.some((known) => known === name)) return null;
    const { changed, ...rest } = data as EventData<(typeof accountEvents)[number]>;
    const id = "account_id" in rest ? rest.account_id : rest.id;
    return { account: { __typename: "Account", id }, event: name, changed };
  },
};

interface WebhookArrival {
  /** Null for one that was accepted before events said which it was. */
  readonly receivedWebhook: EntityReference<"ReceivedWebhook"> | null;
  /** Whether its owner had it published again. */
  readonly replayed: boolean;
}

const webhookReceived: SubscriptionDeclaration<WebhookArrival> = {
  field: "webhookReceived",
  description: "A webhook of a partner was accepted, or published again.",
  events: ["webhook.received"],
  scope: "webhooks:read",
  access: "subscribe",
  payloadOf({ name, data }) {
    if (name !== "webhook.received") return null;
    const { received_id: id, replay_of: replayOf } = data as EventData<"webhook.received">;
    return {
      receivedWebhook: id === undefined ? null : { __typename: "ReceivedWebhook", id },
      replayed: replayOf !== undefined,
    };
  },
};

/** Every subscription of the graph, by its field. */
export const subscriptions = { accountChanged, webhookReceived } as const;

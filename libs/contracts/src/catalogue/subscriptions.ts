import { camelCase } from "@signalbox/core";
import type { AccessKind } from "../access/account-state.ts";
import type { Audience, Scope } from "../access/scopes.ts";
import type { EventData, EventName } from "./event-catalogue.ts";

/** An event as a subscription looks at it. */
interface SubscriptionEvent {
  readonly name: EventName;
  readonly data: EventData<EventName>;
}

/** A reference to an entity, as federation writes it. */
interface EntityReference {
  readonly __typename: string;
  readonly id: string;
}

/** A field of the graph's `Subscription` type: its events, their audience, and its payload. */
export interface SubscriptionDeclaration {
  readonly field: string;
  readonly description: string;
  readonly events: readonly EventName[];
  /**
   * The audience. With a scope: the account of the event, whose credential needs the scope and whose state the access,
   * at the start and at every event. Without one the event itself names its audience.
   */
  readonly access: { readonly scope: Scope; readonly access: AccessKind } | { readonly audienceOf: AudienceOf };
  /** The argument that narrows it to one resource, and that resource's id in an event. */
  readonly only?: { readonly argument: string; readonly idOf: (data: Readonly<Record<string, unknown>>) => unknown };
  /** Admits portal sessions: to the events of those endpoints of theirs that `only` finds in them. */
  readonly portal?: true;
  /** The member of the payload that is an entity. */
  readonly entity?: string;
  /**
   * Returns the members of the payload; null for an event without one. The entity is a reference, which its subgraph
   * resolves as the caller may see it, and null if it is gone.
   */
  readonly payloadOf: (event: SubscriptionEvent) => Readonly<Record<string, unknown>> | null;
}

type AudienceOf = (data: Readonly<Record<string, unknown>>) => Audience;
type Data = Readonly<Record<string, unknown>>;

/** Names the changed members as the fields of the graph. */
const fieldsOf = (changed: unknown): string[] => ((changed as readonly string[] | undefined) ?? []).map(camelCase);

const reference = (type: string, id: unknown): EntityReference => ({ __typename: type, id: String(id) });

function declare(
  declaration: Omit<SubscriptionDeclaration, "payloadOf">,
  payloadOf: (data: Data, name: EventName) => Data,
): SubscriptionDeclaration {
  const eventNames: ReadonlySet<string> = new Set(declaration.events);
  return {
    ...declaration,
    payloadOf: ({ name, data }) => (eventNames.has(name) ? payloadOf(data as Data, name) : null),
  };
}

const subscribe = (scope: Scope) => ({ scope, access: "subscribe" }) as const;

const accountChanged = declare(
  {
    field: "accountChanged",
    description: "The caller's account, its settings or its status changed.",
    events: ["account.updated", "account.settings_updated", "account.status_changed", "account.contact_verified"],
    access: subscribe("account:read"),
    entity: "account",
  },
  ({ account_id, id, changed }) => ({
    account: reference("Account", account_id ?? id),
    changed: fieldsOf(changed),
  }),
);

const imageChanged = declare(
  {
    field: "imageChanged",
    description: "An image of the caller was created, changed or deleted, or its variants are ready.",
    events: ["image.created", "image.updated", "image.deleted", "image.rendition_ready", "image.processing_failed"],
    access: subscribe("images:read"),
    only: { argument: "id", idOf: ({ id }) => id },
    entity: "image",
  },
  ({ id, changed }, name) => ({
    imageId: id,
    image: name === "image.deleted" ? null : reference("Image", id),
    changed: fieldsOf(changed),
  }),
);

const webhookReceived = declare(
  {
    field: "webhookReceived",
    description: "A webhook of a partner was accepted, or published again.",
    events: ["webhook.received"],
    access: subscribe("webhooks:read"),
    only: { argument: "sourceId", idOf: ({ source_id }) => source_id },
    entity: "receivedWebhook",
  },
  ({ received_id, delivery_id, event_type, replay_of }) => ({
    // Null for an event accepted before events had this member.
    receivedWebhook: received_id === undefined ? null : reference("ReceivedWebhook", received_id),
    deliveryId: delivery_id,
    eventType: event_type,
    replayed: replay_of !== undefined,
    changed: [],
  }),
);

const webhookRejected = declare(
  {
    field: "webhookRejected",
    description: "A webhook of a partner was refused.",
    events: ["webhook.rejected"],
    access: subscribe("webhooks:read"),
    only: { argument: "sourceId", idOf: ({ source_id }) => source_id },
    entity: "source",
  },
  (rejection) => ({
    source: reference("WebhookSource", rejection.source_id),
    rejectionId: rejection.id,
    reason: rejection.reason,
    status: rejection.status,
    bodyBytes: rejection.body_bytes,
    address: rejection.address,
    kept: rejection.kept,
    signedAt: rejection.signed_at,
    ageSeconds: rejection.age_seconds,
    toleranceSeconds: rejection.tolerance_seconds,
    expected: rejection.expected,
    found: rejection.found,
    headersSeen: rejection.headers_seen,
    headersMissing: rejection.headers_missing,
    verifyUrl: rejection.verify_url,
    rejectedAt: rejection.rejected_at,
    changed: [],
  }),
);

const deliveryAttempted = declare(
  {
    field: "deliveryAttempted",
    description: "A delivery to an endpoint of the caller was attempted.",
    events: ["webhook_delivery.attempted"],
    access: subscribe("webhooks:read"),
    only: { argument: "endpointId", idOf: ({ endpoint_id }) => endpoint_id },
    portal: true,
    entity: "endpoint",
  },
  ({ endpoint_id, delivery_id, event_type, number, outcome, status, error, duration_ms }) => ({
    endpoint: reference("WebhookEndpoint", endpoint_id),
    endpointId: endpoint_id,
    deliveryId: delivery_id,
    eventType: event_type,
    number,
    outcome,
    status,
    error,
    durationMs: duration_ms,
    changed: [],
  }),
);

const eventPublished = declare(
  {
    field: "eventPublished",
    description: "Events of the caller's account were published: its own, or those of the service.",
    events: ["webhook_event.published"],
    access: subscribe("webhooks:read"),
  },
  ({ id, type, count }) => ({ eventId: id, eventType: type, count, changed: [] }),
);

const configChanged = declare(
  {
    field: "configChanged",
    description: "An override of a property was set or removed; callers receive the properties that they may read.",
    events: ["config.changed"],
    access: { audienceOf: ({ audience = "operator" }) => audience as Audience },
  },
  ({ property, revision }) => ({ revision, changed: [property] }),
);

/** Every subscription of the graph, by its field. */
export const subscriptions = {
  accountChanged,
  imageChanged,
  webhookReceived,
  webhookRejected,
  deliveryAttempted,
  eventPublished,
  configChanged,
} as const;

import type { z } from "zod";
import type { Scope } from "../access/scopes.ts";
import * as access from "../events/account-events.ts";
import * as account from "../events/account-events.ts";
import * as application from "../events/application-events.ts";
import { auditRecordedEvent } from "../events/audit-events.ts";
import * as config from "../events/config-events.ts";
import * as apiKey from "../events/credential-events.ts";
import * as passkey from "../events/credential-events.ts";
import * as serviceClient from "../events/credential-events.ts";
import * as image from "../events/image-events.ts";
import * as imageRender from "../events/image-events.ts";
import * as invitation from "../events/invitation-events.ts";
import * as member from "../events/member-events.ts";
import * as signIn from "../events/sign-in-events.ts";
import * as delivery from "../events/webhook-delivery-events.ts";
import * as endpoint from "../events/webhook-endpoint-events.ts";
import * as source from "../events/webhook-source-events.ts";
import { webhookReceivedEvent, webhookRejectedEvent } from "../events/webhook-source-events.ts";
import type { EventDeclaration, EventVersion } from "../topics/define-event.ts";

const declarations = [
  account.accountCreatedEvent,
  account.accountUpdatedEvent,
  account.accountSettingsUpdatedEvent,
  account.accountContactVerifiedEvent,
  account.accountStatusChangedEvent,
  account.accountDeletedEvent,
  account.accountCanaryChangedEvent,
  apiKey.apiKeyCreatedEvent,
  apiKey.apiKeyUpdatedEvent,
  apiKey.apiKeyRevokedEvent,
  serviceClient.serviceClientCreatedEvent,
  serviceClient.serviceClientUpdatedEvent,
  serviceClient.serviceClientRevokedEvent,
  invitation.invitationCreatedEvent,
  invitation.invitationAcceptedEvent,
  invitation.invitationRevokedEvent,
  member.memberInvitedEvent,
  member.memberJoinedEvent,
  member.memberRoleChangedEvent,
  member.memberLeftEvent,
  application.applicationCreatedEvent,
  application.applicationUpdatedEvent,
  application.applicationDeletedEvent,
  passkey.passkeyCreatedEvent,
  passkey.passkeyUpdatedEvent,
  passkey.passkeyDeletedEvent,
  signIn.signInSucceededEvent,
  signIn.signInRefusedEvent,
  signIn.signInEndedEvent,
  signIn.stepUpPassedEvent,
  signIn.consentGrantedEvent,
  image.imageCreatedEvent,
  image.imageUpdatedEvent,
  image.imageDeletedEvent,
  image.imageErasedEvent,
  image.imageRenditionReadyEvent,
  image.imageProcessingFailedEvent,
  imageRender.imageRenderRequestedEvent,
  imageRender.imageRenderedEvent,
  config.configChangedEvent,
  config.configCanaryChangedEvent,
  config.configAppliedEvent,
  config.flagChangedEvent,
  source.webhookSourceCreatedEvent,
  source.webhookSourceUpdatedEvent,
  source.webhookSourceDeletedEvent,
  endpoint.webhookEndpointCreatedEvent,
  endpoint.webhookEndpointUpdatedEvent,
  endpoint.webhookEndpointDeletedEvent,
  endpoint.webhookEndpointFailingEvent,
  endpoint.webhookEndpointDisabledEvent,
  endpoint.webhookEndpointEnabledEvent,
  delivery.webhookDeliveryExhaustedEvent,
  delivery.webhookDeliveryRecoveredEvent,
  delivery.webhookDeliveryParkedEvent,
  delivery.webhookDeliveryAttemptedEvent,
  delivery.webhookEventPublishedEvent,
  delivery.webhookEventTypeDowngradedEvent,
  webhookReceivedEvent,
  webhookRejectedEvent,
  access.accessChangedEvent,
  auditRecordedEvent,
] as const;

type Declaration = (typeof declarations)[number];

/** The name of an event, without its version. */
export type EventName = Declaration["name"];

/** The data of an event of this name. */
export type EventData<N extends EventName> = z.output<Extract<Declaration, { readonly name: N }>["data"]>;

/** Every event of the product (CONTRACT §9), in the order of its documents. */
export const catalogue: readonly EventDeclaration<EventName>[] = declarations;

const byName = new Map<string, EventDeclaration<EventName>>(declarations.map((event) => [event.name, event]));

/** Finds the declaration of an event, or undefined for an unknown name. */
export function findEvent(name: string): EventDeclaration<EventName> | undefined {
  return byName.get(name);
}

/** The declaration of an event whose name is known to the compiler. */
export function eventOf<N extends EventName>(name: N): Extract<Declaration, { readonly name: N }> {
  return byName.get(name) as unknown as Extract<Declaration, { readonly name: N }>;
}

/** The name with its version, as `ce_type` carries it: `image.created.v1`. */
export function eventType(event: EventVersion): string {
  return `${event.name}.v${event.version}`;
}

/** Splits `image.created.v1` into name and version; null when it is not of that form. */
export function parseEventType(type: string): { name: string; version: number } | null {
  const match = /^([a-z0-9_]+(?:\.[a-z0-9_]+)+)\.v([1-9][0-9]{0,5})$/.exec(type);
  return match ? { name: match[1] as string, version: Number(match[2]) } : null;
}

/** Names the JSON Schema of the event's data inside a deployment. Readers outside get its address: `schemaRegistry.headers`. */
export function dataSchemaOf(event: EventVersion): string {
  return `urn:signalbox:event:${eventType(event)}`;
}

/** A type that a webhook endpoint can subscribe to. */
export interface WebhookEventType {
  readonly name: string;
  /** Operators see the events of all accounts, and events without an account. */
  readonly audience: "account" | "operator";
  readonly description: string;
  readonly example: unknown;
}

/** Every public event type, by name. Webhooks name events without their version; the version is in `api_version`. */
export const webhookEventTypes: readonly WebhookEventType[] = catalogue.flatMap(
  ({ name, audience, description, example }) =>
    audience === "internal" ? [] : [{ name, audience, description, example }],
);

/**
 * Builds the second name of `webhook.received`, by which a filter can select a partner's own name of it (CONTRACT §7).
 */
export function receivedAlias(scheme: string, partnerType: string): string {
  return `received.${scheme}.${partnerType}`;
}

const scopeOfType: ReadonlyMap<string, Scope> = new Map(
  catalogue.flatMap(({ name, scope }) => (scope ? [[name, scope]] : [])),
);

/**
 * Returns true if `filter`, a name or a prefix that ends in `*`, matches this type. `*` alone matches every type but
 * those that need a scope, whose first word a prefix has to name.
 */
export function matchesEventType(filter: string, type: string): boolean {
  if (!filter.endsWith("*")) return filter === type;
  return type.startsWith(filter.slice(0, -1)) && (filter.includes(".") || !scopeOfType.has(type));
}

/** Returns the scopes that a subscription by these filters needs. */
export function scopesOfEventTypes(filters: readonly string[]): readonly Scope[] {
  const needed = [...scopeOfType].filter(([type]) => filters.some((filter) => matchesEventType(filter, type)));
  return [...new Set(needed.map(([, scope]) => scope))];
}

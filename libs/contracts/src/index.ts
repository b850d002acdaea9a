export { type ServiceName, serviceNames } from "@signalbox/core";
export {
  type AccessKind,
  type AccountState,
  accountStateRules,
  accountStates,
  mayAccess,
  mayTransition,
  type TransitionActor,
} from "./access/account-state.ts";
export { isRole, type Role, roles, scopesOfRole } from "./access/roles.ts";
export { isScope, privilegedScopes, type Scope, scopes } from "./access/scopes.ts";
export {
  catalogue,
  dataSchemaOf,
  type EventData,
  type EventName,
  eventOf,
  eventType,
  findEvent,
  parseEventType,
} from "./catalogue.ts";
export { reviewSchemas, type SchemaReview } from "./compatibility/accepted-schemas.ts";
export { defineEvent, type EventAudience, type EventDeclaration } from "./define-event.ts";
export { asyncApiDocument } from "./documents/asyncapi.ts";
export { eventsReference } from "./documents/events-reference.ts";
export { eventJsonSchema, type JsonSchema } from "./documents/json-schema.ts";
export { draft, draftProblems, type EventDraft } from "./draft.ts";
export { accessStates } from "./events/access-events.ts";
export { RenditionRequest, RenditionResult } from "./events/image-render-events.ts";
export {
  capabilityProperties,
  defaultProperties,
  featureProperties,
  featureStates,
  limitProperties,
  publishedProperties,
  supportedProperties,
} from "./published-properties.ts";
export {
  AccountResource,
  AccountSettingsResource,
  AdministeredAccountResource,
  accountExample,
  accountSettingsExample,
} from "./resources/account.ts";
export { ApiKeyResource, apiKeyExample } from "./resources/api-key.ts";
export { AuditEntryResource } from "./resources/audit-entry.ts";
export { changed, identifier, jsonValue, timestamp } from "./resources/fields.ts";
export { ImageResource, imageExample, imageStatuses, imageVisibilities, namedVariants } from "./resources/image.ts";
export { ServiceClientResource } from "./resources/service-client.ts";
export {
  WebhookDeliveryResource,
  webhookDeliveryExample,
  webhookDeliveryStatuses,
} from "./resources/webhook-delivery.ts";
export {
  WebhookEndpointResource,
  WebhookEndpointSettings,
  webhookEndpointExample,
  webhookEndpointStatuses,
} from "./resources/webhook-endpoint.ts";
export {
  WebhookSourceResource,
  webhookSchemes,
  webhookSourceExample,
  webhookSourceStatuses,
} from "./resources/webhook-source.ts";
export {
  type AccountChange,
  type EntityReference,
  type SubscriptionDeclaration,
  type SubscriptionEvent,
  subscriptions,
} from "./subscriptions.ts";
export { deadLetterTopic, findTopic, type TopicDeclaration, type TopicName, topics } from "./topics.ts";
export { unknownMembers } from "./unknown-members.ts";
export {
  matchesEventType,
  receivedAlias,
  type WebhookEventType,
  webhookEventTypes,
} from "./webhook-event-types.ts";

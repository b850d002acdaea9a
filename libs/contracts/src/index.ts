export {
  detailCodes,
  errorCodes,
  type ServiceName,
  serviceNames,
} from "@signalbox/core";
export {
  type AccessKind,
  type AccountState,
  accountStateRules,
  accountStates,
  mayAccess,
  mayTransition,
  type TransitionActor,
} from "./access/account-state.ts";
export { type Audience, audienceOf, isVisibleTo } from "./access/audience.ts";
export {
  isRole,
  isScope,
  privilegedScopes,
  type Role,
  roles,
  type Scope,
  scopes,
  scopesInEvent,
  scopesOfRole,
} from "./access/scopes.ts";
export { type AuditAction, type Audited, actionsOf, auditActions, type ThingAction } from "./audit/audit-actions.ts";
export { draft, draftProblems, type EventDraft, unknownMembers } from "./catalogue/draft.ts";
export {
  catalogue,
  dataSchemaOf,
  type EventData,
  type EventName,
  eventOf,
  eventType,
  findEvent,
  matchesEventType,
  parseEventType,
  receivedAlias,
  webhookEventTypes,
} from "./catalogue/event-catalogue.ts";
export { type SubscriptionDeclaration, type SubscriptionEvent, subscriptions } from "./catalogue/subscriptions.ts";
export { type TopicAccess, topicAccess } from "./catalogue/topic-access.ts";
export { asyncApiDocument, asyncApiOutline } from "./documents/asyncapi.ts";
export { errorsReference } from "./documents/errors-reference.ts";
export { eventsReference } from "./documents/events-reference.ts";
export { eventJsonSchema } from "./documents/json-schema.ts";
export { maskEventData } from "./documents/mask-event.ts";
export {
  envelopeProperties,
  publishedSchemas,
  type RegisteredSchema,
  registeredSchemas,
  registryHeader,
  schemaHeaders,
  schemaPathOf,
} from "./documents/published-schemas.ts";
export { detailCatalogue } from "./errors/detail-catalogue.ts";
export { errorCatalogue } from "./errors/error-catalogue.ts";
export { canaryAccountId } from "./events/account-events.ts";
export { RenditionRequest, RenditionResult } from "./events/image-events.ts";
export { endpointSettingsInEvent } from "./events/webhook-endpoint-events.ts";
export { KnownEndpoints, knownEndpointsPath, portalEndpointsMax } from "./known-endpoints.ts";
export { publishedProperties } from "./published-properties.ts";
export {
  AccountResource,
  AccountSettingsResource,
  AdministeredAccountResource,
  accountExample,
  accountSettingsExample,
} from "./resources/account.ts";
export { ApplicationResource, applicationExample, applicationTypes } from "./resources/application.ts";
export { AuditEntryResource, auditEntryExample } from "./resources/audit-entry.ts";
export {
  ApiKeyResource,
  apiKeyExample,
  CurrentCredentialResource,
  PasskeyResource,
  PortalSessionResource,
  PortalTheme,
  passkeyExample,
  portalAccess,
  portalAccessMeaning,
  portalSessionExample,
  ServiceClientResource,
  serviceClientExample,
} from "./resources/credentials.ts";
export { displayName, displayNameOr } from "./resources/display-name.ts";
export { examples, identifier, liveValues, overlapSeconds, timestamp } from "./resources/fields.ts";
export { FlagDefinition } from "./resources/flag.ts";
export {
  ImageDeletionResource,
  ImageResource,
  imageExample,
  imageStatuses,
  imageVisibilities,
} from "./resources/image.ts";
export { InvitationResource, invitationExample, invitationStatuses } from "./resources/invitation.ts";
export {
  BackupResource,
  ConsumerGroupResource,
  DeadEventDetail,
  DeadEventResource,
  DeadLetterDetail,
  DeadLetterResource,
  InstanceResource,
  OperationInput,
  OperationWithReasonInput,
  OutboxResource,
  operationOutcome,
  ParkedKeyDetail,
  ParkedKeyResource,
  ParkedMessageResource,
  UnavailableService,
  WorkerResource,
} from "./resources/operations.ts";
export {
  WebhookDeliveryResource,
  WebhookEndpointResource,
  webhookDeliveryExample,
  webhookDeliveryStatuses,
  webhookEndpointExample,
  webhookEndpointScopes,
  webhookEndpointStatuses,
  webhookEndpointTypes,
  webhookFormats,
  webhookSignatures,
} from "./resources/webhook-endpoint.ts";
export { WebhookRejectionResource, webhookRejectionExample } from "./resources/webhook-rejection.ts";
export {
  readableSenders,
  WebhookSourceResource,
  webhookSchemes,
  webhookSourceExample,
  webhookSourceStatuses,
} from "./resources/webhook-source.ts";
export { WhyPart, WhyStep, whyId } from "./resources/why.ts";
export { deadLetterTopic, topics } from "./topics/topics.ts";

import * as schemaRegistry from "./documents/schema-registry.ts";

export {
  type AccessKind,
  type AccountState,
  accountStateRules,
  accountStates,
  mayAccess,
  mayTransition,
  type TransitionActor,
} from "./access/account-state.ts";
export {
  type Audience,
  audienceOf,
  invitationRoles,
  isMemberRole,
  isRole,
  isScope,
  isVisibleTo,
  type MemberRole,
  memberRoles,
  privilegedScopes,
  type Role,
  roles,
  type Scope,
  scopes,
  scopesInEvent,
  scopesOfMember,
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
  scopesOfEventTypes,
  webhookEventTypes,
} from "./catalogue/event-catalogue.ts";
export { type SubscriptionDeclaration, subscriptions } from "./catalogue/subscriptions.ts";
export { type TopicAccess, topicAccess } from "./catalogue/topic-access.ts";
export { asyncApiDocument, asyncApiOutline } from "./documents/asyncapi.ts";
export { errorsReference } from "./documents/errors-reference.ts";
export { eventsReference } from "./documents/events-reference.ts";
export { eventJsonSchema } from "./documents/json-schema.ts";
export { maskEventData } from "./documents/mask-event.ts";
export { canaryAccountId } from "./events/account-events.ts";
export { RenditionRequest, RenditionResult } from "./events/image-events.ts";
export { endpointSettingsInEvent } from "./events/webhook-endpoint-events.ts";
export { publishedProperties } from "./published-properties.ts";
export {
  AccountResource,
  AccountSettingsResource,
  AdministeredAccountResource,
  accountExample,
} from "./resources/account.ts";
export { ApplicationResource } from "./resources/application.ts";
export { AuditEntryResource } from "./resources/audit-entry.ts";
export {
  ApiKeyResource,
  apiKeyExample,
  CurrentCredentialResource,
  PasskeyResource,
  PortalSessionResource,
  ServiceClientResource,
} from "./resources/credentials.ts";
export {
  dateInput,
  displayName,
  displayNameOr,
  exampleOf,
  examples,
  identifier,
  nameFrom,
  overlapSeconds,
  readable,
  timeInput,
  timestamp,
} from "./resources/fields.ts";
export { FlagDefinition } from "./resources/flag.ts";
export {
  ImageDeletionResource,
  ImageResource,
  imageExample,
} from "./resources/image.ts";
export {
  ImageSigningKeyResource,
  ImageSigningKeys,
  IssuedImageSigningKey,
  ListedImageSigningKey,
  RotateImageSigningKey,
  SignedImageUrl,
  SignedImageUrls,
} from "./resources/image-signing.ts";
export { InvitationResource } from "./resources/invitation.ts";
export { MembershipResource } from "./resources/membership.ts";
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
export { viewOf } from "./resources/view-of.ts";
export {
  KnownEndpoints,
  knownEndpointsPath,
  portalEndpointsMax,
  WebhookDeliveryResource,
  WebhookEndpointResource,
  webhookDeliveryExample,
  webhookEndpointExample,
} from "./resources/webhook-endpoint.ts";
export { WebhookRejectionResource } from "./resources/webhook-rejection.ts";
export {
  readableSenders,
  WebhookSourceResource,
  webhookSchemes,
  webhookSourceExample,
} from "./resources/webhook-source.ts";
export { WhyPart, WhyStep, whyId } from "./resources/why.ts";
export { deadLetterTopic, topics } from "./topics/topics.ts";

export { schemaRegistry };

/** An action that leaves an entry in the audit. */
interface AuditActionDeclaration {
  /** The action as a sentence for people. */
  readonly meaning: string;
  /** The kind of thing that an entry names by its id; null for the account itself. */
  readonly subject: AuditSubject | null;
  /** The audit that holds the entry: that of the account that owns the thing, or of the account that acted. */
  readonly keptFor: "owner" | "actor";
}

type AuditSubject =
  | "api_key"
  | "client"
  | "portal_session"
  | "application"
  | "passkey"
  | "identity"
  | "token"
  | "sign_in"
  | "invitation"
  | "membership"
  | "image"
  | "image_upload"
  | "image_signing_key"
  | "image_transformation"
  | "webhook_source"
  | "webhook_endpoint"
  | "webhook_delivery"
  | "webhook_signing_key"
  | "webhook_event_type"
  | "property"
  | "flag"
  | "service"
  | "dead_letter"
  | "dead_event"
  | "parked_key";

const ofAccount = (meaning: string) => ({ meaning, subject: null, keptFor: "owner" }) as const;
const of = <const S extends AuditSubject>(subject: S, meaning: string) =>
  ({ meaning, subject, keptFor: "owner" }) as const;

const byOperator = <const S extends AuditSubject>(subject: S, meaning: string) =>
  ({ meaning, subject, keptFor: "actor" }) as const;

/** Every audited action of every service, by its name. Names are stored in entries: they are never renamed. */
export const auditActions = {
  "account.create": ofAccount("The account was created, at the first use of a login."),
  "account.update": ofAccount("The account or its settings were changed."),
  "account.activate": ofAccount("The account was made active."),
  "account.suspend": ofAccount("The account was suspended."),
  "account.disable": ofAccount("The account was disabled."),
  "account.delete": ofAccount("The account was deleted; its data stays until the purge."),
  "account.purge": ofAccount("The personal data of the deleted account was erased."),
  "account.grant_role": ofAccount("Roles were granted to the account; the reason names them."),
  "account.take_role": ofAccount("Roles were removed from the account; the reason names them."),
  "account.create_first_link": ofAccount("A sign-in link for the first administrator was created on the host."),
  "account.request_recovery": ofAccount("The owner requested the recovery of the disabled account."),
  "account.contact_confirm": ofAccount("The pending contact address was confirmed."),
  "account.contact_cancel": ofAccount("The change of the contact address was cancelled."),
  "account.contact_object": ofAccount("The holder of the former contact address objected to its change."),
  "account.contact_set": ofAccount("An administrator set the contact address and vouched for it."),
  "account.begin_purge": ofAccount("An administrator purged the deleted account early."),
  "account.read_passkeys": ofAccount("An administrator read the list of the account's passkeys."),
  "account.contact_release": ofAccount(
    "The contact address lost its verification because another account verified it.",
  ),
  "account.step_up": ofAccount("A person confirmed their identity with a code (step-up)."),
  "account.create_recovery_codes": ofAccount("Recovery codes were made; earlier ones no longer work."),
  "account.use_recovery_code": ofAccount("A person signed in with a recovery code."),
  "account.sign_out": ofAccount("Every sign-in was ended."),
  "account.end_other_sign_ins": ofAccount("Every sign-in except the one in the owner's browser was ended."),
  "account.export": ofAccount("All data of the account was exported."),
  "account.read": ofAccount("An administrator read the account."),
  "account.read_audit": ofAccount("An administrator read the audit of the account."),
  "account.read_api_keys": ofAccount("An administrator read the list of the account's API keys."),
  "account.read_clients": ofAccount("An administrator read the list of the account's service clients."),
  "account.read_sign_ins": ofAccount("An administrator read the list of sign-ins to the account."),
  "account.list": { ...ofAccount("An administrator listed accounts."), keptFor: "actor" },
  "account.list_audit": { ...ofAccount("An administrator read the audit of all accounts."), keptFor: "actor" },
  sign_in: ofAccount("A person signed in at the built-in issuer."),
  "sign_in.end": of("sign_in", "A sign-in was ended along with its session and tokens."),
  "identity.link": of("identity", "A login was added to the account."),
  "identity.unlink": of("identity", "A login was removed from the account."),
  "invitation.create": of("invitation", "An administrator or an owner invited a person."),
  "invitation.resend": of("invitation", "An invitation was sent again, with a new link."),
  "invitation.revoke": of("invitation", "An invitation was revoked."),
  "invitation.accept": of("invitation", "An invitation was accepted with this account."),
  "member.join": of("membership", "A person joined the account by an invitation."),
  "member.change_role": of("membership", "A member's role was changed; the reason names the new one."),
  "member.remove": of("membership", "A member was removed from the account."),
  "member.leave": of("membership", "A member left the account."),
  "api_key.create": of("api_key", "An API key was created."),
  "api_key.update": of("api_key", "An API key was renamed."),
  "api_key.rotate": of("api_key", "An API key was replaced by another one."),
  "api_key.revoke": of("api_key", "An API key was revoked."),
  "api_key.expire": of("api_key", "An API key expired."),
  "api_key.use": of("api_key", "A request used an API key that is no longer valid."),
  "client.create": of("client", "A service client was created."),
  "client.update": of("client", "A service client was renamed."),
  "client.rotate_secret": of(
    "client",
    "The secret of a service client was rotated, or the overlap of a rotation was ended.",
  ),
  "client.revoke": of("client", "A service client was revoked."),
  "client.expire": of("client", "A service client expired."),
  "client.use": of("client", "A token was requested with a wrong secret or for a client that is no longer valid."),
  "portal_session.create": of("portal_session", "A portal link was created for a subscriber."),
  "portal_session.end": of("portal_session", "A portal session was ended early."),
  "passkey.add": of("passkey", "A passkey was added to the account."),
  "passkey.update": of("passkey", "A passkey was renamed."),
  "passkey.remove": of("passkey", "A passkey was removed from the account."),
  "application.create": {
    ...of("application", "An application for people to sign in to was created."),
    keptFor: "actor",
  },
  "application.update": { ...of("application", "An application was changed."), keptFor: "actor" },
  "application.rotate_secret": {
    ...of("application", "The secret of an application was rotated, or the overlap of a rotation was ended."),
    keptFor: "actor",
  },
  "application.delete": { ...of("application", "An application was deleted; its tokens ended."), keptFor: "actor" },
  "application.consent": of("application", "A person granted an application the access that the reason names."),
  "token.revoke": of("token", "An access token of the built-in issuer was revoked."),
  "image.create": of("image", "An image was uploaded or imported."),
  "image.update": of("image", "The description or the visibility of an image was changed."),
  "image.reprocess": of("image", "The named variants of a failed image were requested again."),
  "image.delete": of("image", "An image was deleted."),
  "image.erase": of("image", "The bytes of a deleted image were erased, or kept for another image of the account."),
  "image_upload.create": of("image_upload", "A direct upload was started."),
  "image_upload.cancel": of("image_upload", "An upload was cancelled before it became an image."),
  "image.sign_url": of(
    "image",
    "Signed URLs, which show an image to anyone who has them, were created; the reason names the other images of the request.",
  ),
  "image.rotate_signing_key": ofAccount("The signing key of image URLs was rotated."),
  "image_signing_key.create": of("image_signing_key", "A key with which the owner signs image URLs was created."),
  "image_signing_key.rotate": of("image_signing_key", "The owner's key was replaced by the subject of the entry."),
  "image_signing_key.delete": of("image_signing_key", "A key that signs image URLs was deleted; its URLs have ended."),
  "image_transformation.set": of("image_transformation", "A transformation of images was created or changed."),
  "image_transformation.delete": of("image_transformation", "A transformation of images was deleted."),
  "webhook_source.create": of("webhook_source", "A source of webhooks was created."),
  "webhook_source.update": of(
    "webhook_source",
    "A source was changed; `secret` among the fields means that it has a new one.",
  ),
  "webhook_source.rotate_secret": of("webhook_source", "The secret of a source was rotated to its partner's new one."),
  "webhook_source.rotate_url": of("webhook_source", "The address of a source was rotated."),
  "webhook_source.replay": of("webhook_source", "Webhooks that a source received were published again."),
  "webhook_source.cancel_replay": of("webhook_source", "A replay of received webhooks was cancelled."),
  "webhook_source.retry_rejection": of("webhook_source", "A rejected webhook was verified again and accepted."),
  "webhook_source.set_sender_key": of("webhook_source", "A sender's read key was stored for a source."),
  "webhook_source.delete_sender_key": of("webhook_source", "The read key of a source's sender was removed."),
  "webhook_source.reconcile": of("webhook_source", "A source was compared with its sender's list on request."),
  "webhook_source.bookmark": of("webhook_source", "A received webhook was bookmarked."),
  "webhook_source.delete_bookmark": of("webhook_source", "A bookmark of a received webhook was deleted."),
  "webhook_source.delete": of("webhook_source", "A source was deleted with its received webhooks."),
  "webhook_endpoint.create": of("webhook_endpoint", "An endpoint was created."),
  "webhook_endpoint.update": of(
    "webhook_endpoint",
    "An endpoint was changed; `url` among the fields means that it was redirected.",
  ),
  "webhook_endpoint.pause": of("webhook_endpoint", "An endpoint was paused."),
  "webhook_endpoint.resume": of("webhook_endpoint", "A paused endpoint was resumed."),
  "webhook_endpoint.enable": of("webhook_endpoint", "A disabled endpoint was enabled."),
  "webhook_endpoint.disable": of(
    "webhook_endpoint",
    "An endpoint was disabled because its receiver answered 410, asked for it with a header, or failed for too long.",
  ),
  "webhook_endpoint.rotate_secret": of("webhook_endpoint", "The secret of an endpoint was rotated."),
  "webhook_endpoint.reveal_secret": of("webhook_endpoint", "The secret of an endpoint was shown."),
  "webhook_endpoint.replay": of("webhook_endpoint", "Deliveries of an endpoint were replayed."),
  "webhook_endpoint.cancel_replay": of("webhook_endpoint", "A replay of an endpoint's deliveries was cancelled."),
  "webhook_endpoint.test": of("webhook_endpoint", "A test event was sent to an endpoint."),
  "webhook_endpoint.delete": of("webhook_endpoint", "An endpoint was deleted with its deliveries."),
  "webhook_delivery.retry": of("webhook_delivery", "A delivery was retried on request."),
  "webhook_delivery.cancel": of("webhook_delivery", "A waiting delivery was cancelled."),
  "webhook_event.publish": ofAccount(
    "Events were published: one entry per credential and hour; the reason states the count and the hour.",
  ),
  "webhook_signing_key.rotate": of("webhook_signing_key", "The account's key for `v1a` signatures was rotated."),
  "webhook_event_type.create": of("webhook_event_type", "A type of the account's own events was declared."),
  "webhook_event_type.update": of("webhook_event_type", "A type of the account's own events was changed."),
  "webhook_event_type.downgrade": of(
    "webhook_event_type",
    "The schema of an event type timed out; its events are accepted unchecked.",
  ),
  "webhook_event_type.delete": of("webhook_event_type", "A type of the account's own events was deleted."),
  "property.set": { ...of("property", "A property was overridden."), keptFor: "actor" },
  "property.unset": { ...of("property", "The override of a property was removed."), keptFor: "actor" },
  "property.rollback": {
    ...of("property", "The override of a property was rolled back to an earlier revision."),
    keptFor: "actor",
  },
  "property.expire": { ...of("property", "An override expired."), keptFor: "actor" },
  "property.propose": {
    ...of("property", "A change was proposed for approval by a second operator."),
    keptFor: "actor",
  },
  "property.approve": { ...of("property", "A change that another operator proposed was approved."), keptFor: "actor" },
  "property.withdraw": { ...of("property", "A proposed change was withdrawn."), keptFor: "actor" },
  "flag.set": { ...of("flag", "A flag was set."), keptFor: "actor" },
  "flag.archive": { ...of("flag", "A flag was archived."), keptFor: "actor" },
  "management.read_env": {
    ...of("service", "The configuration of a process was read on its management port."),
    keptFor: "actor",
  },
  "dead_letter.read": byOperator("dead_letter", "The masked body of a dead letter was read."),
  "dead_letter.replay": byOperator("dead_letter", "A dead letter was replayed to its consumer."),
  "dead_letter.drop": byOperator("dead_letter", "A dead letter was removed for good."),
  "dead_event.read": byOperator("dead_event", "The masked body of an event that the log had refused was read."),
  "dead_event.replay": byOperator("dead_event", "An event that the log had refused was put back into its outbox."),
  "dead_event.drop": byOperator("dead_event", "An event that the log had refused was removed for good."),
  "parked_key.read": byOperator("parked_key", "The masked body of a parked key's first message was read."),
  "parked_key.retry": byOperator("parked_key", "The first message of a parked key was made due at once."),
  "parked_key.skip": byOperator("parked_key", "The first message of a parked key was moved to the dead letters."),
  "audit.limit": ofAccount(
    "A credential was refused so often that its further refusals in this minute are not listed.",
  ),
} as const satisfies Readonly<Record<string, AuditActionDeclaration>>;

export type AuditAction = keyof typeof auditActions;

/** The actions on things of which an account may have many: their entries name the thing. */
export type ThingAction = {
  [A in AuditAction]: (typeof auditActions)[A]["subject"] extends null ? never : A;
}[AuditAction];

/** The audit entry of an operation, or the reason why it has none. */
export type Audited = AuditAction | readonly AuditAction[] | { readonly unaudited: string };

/** Returns the actions that a declaration names. */
export function actionsOf(audited: Audited | undefined): readonly AuditAction[] {
  if (typeof audited === "string") return [audited];
  return audited === undefined || "unaudited" in audited ? [] : audited;
}

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
  "account.grant_role": ofAccount("The account was given the roles that the reason names."),
  "account.take_role": ofAccount("The roles that the reason names were taken from the account."),
  "account.create_first_link": ofAccount("A link that signs the first administrator in was made on the host."),
  "account.request_recovery": ofAccount("The owner asked to have the disabled account back."),
  "account.contact_confirm": ofAccount("The pending contact address was confirmed."),
  "account.contact_cancel": ofAccount("The change of the contact address was cancelled."),
  "account.contact_object": ofAccount("The holder of the former contact address objected to its change."),
  "account.contact_set": ofAccount("An administrator set the contact address and vouched for it."),
  "account.begin_purge": ofAccount("An administrator had the deleted account purged before its time."),
  "account.read_passkeys": ofAccount("An administrator read the list of the account's passkeys."),
  "account.contact_release": ofAccount("The contact address lost its verification, because another account has it."),
  "account.step_up": ofAccount("A person proved their identity again, with a code."),
  "account.create_recovery_codes": ofAccount("Recovery codes were made; earlier ones no longer work."),
  "account.use_recovery_code": ofAccount("A person signed in with a recovery code."),
  "account.sign_out": ofAccount("Every sign-in was ended."),
  "account.end_other_sign_ins": ofAccount("Every sign-in but that of the owner's browser was ended."),
  "account.export": ofAccount("Everything the account has was exported."),
  "account.read": ofAccount("An administrator read the account."),
  "account.read_audit": ofAccount("An administrator read the audit of the account."),
  "account.read_api_keys": ofAccount("An administrator read the list of the account's API keys."),
  "account.read_clients": ofAccount("An administrator read the list of the account's service clients."),
  "account.read_sign_ins": ofAccount("An administrator read the list of sign-ins to the account."),
  "account.list": { ...ofAccount("An administrator listed accounts."), keptFor: "actor" },
  "account.list_audit": { ...ofAccount("An administrator read the audit of all accounts."), keptFor: "actor" },
  sign_in: ofAccount("A person signed in at the built-in issuer."),
  "sign_in.end": of("sign_in", "A sign-in was ended with all that came of it."),
  "identity.link": of("identity", "A login was added to the account."),
  "identity.unlink": of("identity", "A login was removed from the account."),
  "invitation.create": of("invitation", "An administrator or an owner invited a person."),
  "invitation.resend": of("invitation", "An invitation was sent again, with a new link."),
  "invitation.revoke": of("invitation", "An invitation was revoked."),
  "invitation.accept": of("invitation", "An invitation was accepted with this account."),
  "member.join": of("membership", "A person joined the account by an invitation."),
  "member.change_role": of("membership", "A member was given the role that the reason names."),
  "member.remove": of("membership", "A member was removed from the account."),
  "member.leave": of("membership", "A member left the account."),
  "api_key.create": of("api_key", "An API key was created."),
  "api_key.update": of("api_key", "An API key was renamed."),
  "api_key.rotate": of("api_key", "An API key was replaced by another one."),
  "api_key.revoke": of("api_key", "An API key was revoked."),
  "api_key.expire": of("api_key", "An API key expired."),
  "api_key.use": of("api_key", "A request came with an API key that had ended."),
  "client.create": of("client", "A service client was created."),
  "client.update": of("client", "A service client was renamed."),
  "client.rotate_secret": of("client", "A service client was given a new secret, or its older one was ended."),
  "client.revoke": of("client", "A service client was revoked."),
  "client.expire": of("client", "A service client expired."),
  "client.use": of("client", "A token was asked for with a wrong secret, or for a client that had ended."),
  "portal_session.create": of("portal_session", "A link into the portal was made for a subscriber."),
  "portal_session.end": of("portal_session", "A portal session was ended before its time."),
  "passkey.add": of("passkey", "A passkey was added to the account."),
  "passkey.update": of("passkey", "A passkey was renamed."),
  "passkey.remove": of("passkey", "A passkey was removed from the account."),
  "application.create": {
    ...of("application", "An application for people to sign in to was created."),
    keptFor: "actor",
  },
  "application.update": { ...of("application", "An application was changed."), keptFor: "actor" },
  "application.rotate_secret": {
    ...of("application", "An application was given a new secret, or its older one was ended."),
    keptFor: "actor",
  },
  "application.delete": { ...of("application", "An application was deleted; its tokens ended."), keptFor: "actor" },
  "application.consent": of("application", "A person allowed an application to have what the reason names."),
  "token.revoke": of("token", "An access token of the built-in issuer was revoked."),
  "image.create": of("image", "An image was uploaded or imported."),
  "image.update": of("image", "The description or the visibility of an image was changed."),
  "image.reprocess": of("image", "The named variants of a failed image were asked for again."),
  "image.delete": of("image", "An image was deleted."),
  "image.erase": of("image", "The bytes of a deleted image were erased, or kept for another image of the account."),
  "image_upload.create": of("image_upload", "A file was announced, to be sent straight to the store."),
  "image_upload.cancel": of("image_upload", "An upload was cancelled before it became an image."),
  "image.sign_url": of(
    "image",
    "URLs were signed that show an image to everyone who has them; the fields name further images of the request.",
  ),
  "image.rotate_signing_key": ofAccount("The signed URLs of images were given a new key."),
  "webhook_source.create": of("webhook_source", "A source of webhooks was created."),
  "webhook_source.update": of(
    "webhook_source",
    "A source was changed; `secret` among the fields means that it has a new one.",
  ),
  "webhook_source.rotate_secret": of("webhook_source", "A source was given its partner's next secret."),
  "webhook_source.rotate_url": of("webhook_source", "A source was given another address."),
  "webhook_source.replay": of("webhook_source", "Webhooks that a source received were published again."),
  "webhook_source.cancel_replay": of("webhook_source", "A replay of received webhooks was cancelled."),
  "webhook_source.retry_rejection": of(
    "webhook_source",
    "A webhook that a source had refused was verified again and taken.",
  ),
  "webhook_source.set_sender_key": of("webhook_source", "A source was given a read key of its sender."),
  "webhook_source.delete_sender_key": of("webhook_source", "The read key of a source's sender was removed."),
  "webhook_source.reconcile": of("webhook_source", "A source was compared with its sender's list on request."),
  "webhook_source.bookmark": of("webhook_source", "A webhook that a source received was kept under a name."),
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
    "An endpoint was disabled because its receiver is gone, asked for it, or failed for long.",
  ),
  "webhook_endpoint.rotate_secret": of("webhook_endpoint", "An endpoint was given a new secret."),
  "webhook_endpoint.reveal_secret": of("webhook_endpoint", "The secret of an endpoint was shown."),
  "webhook_endpoint.replay": of("webhook_endpoint", "Deliveries of an endpoint were made once more."),
  "webhook_endpoint.cancel_replay": of("webhook_endpoint", "A replay of an endpoint's deliveries was cancelled."),
  "webhook_endpoint.test": of("webhook_endpoint", "A test event was sent to an endpoint."),
  "webhook_endpoint.delete": of("webhook_endpoint", "An endpoint was deleted with its deliveries."),
  "webhook_delivery.retry": of("webhook_delivery", "A delivery was attempted once more, by request."),
  "webhook_delivery.cancel": of("webhook_delivery", "A delivery that waited was cancelled."),
  "webhook_event.publish": ofAccount(
    "Events were published: an entry per credential and hour, whose reason has the count and the hour.",
  ),
  "webhook_signing_key.rotate": of("webhook_signing_key", "The account was given a new key for `v1a` signatures."),
  "webhook_event_type.create": of("webhook_event_type", "A type of the account's own events was declared."),
  "webhook_event_type.update": of("webhook_event_type", "A type of the account's own events was changed."),
  "webhook_event_type.downgrade": of(
    "webhook_event_type",
    "The schema of a type ran out of time; its events are accepted unchecked.",
  ),
  "webhook_event_type.delete": of("webhook_event_type", "A type of the account's own events was deleted."),
  "property.set": { ...of("property", "A property was overridden."), keptFor: "actor" },
  "property.unset": { ...of("property", "The override of a property was removed."), keptFor: "actor" },
  "property.rollback": {
    ...of("property", "The override of a property was set back to an earlier revision."),
    keptFor: "actor",
  },
  "property.expire": { ...of("property", "An override expired."), keptFor: "actor" },
  "property.propose": { ...of("property", "A change was proposed to a second operator."), keptFor: "actor" },
  "property.approve": { ...of("property", "A change that another operator proposed was approved."), keptFor: "actor" },
  "property.withdraw": { ...of("property", "A proposed change was withdrawn."), keptFor: "actor" },
  "flag.set": { ...of("flag", "A flag was set."), keptFor: "actor" },
  "flag.archive": { ...of("flag", "A flag was archived."), keptFor: "actor" },
  "management.read_env": {
    ...of("service", "The configuration of a process was read at its management port."),
    keptFor: "actor",
  },
  "dead_letter.read": byOperator("dead_letter", "The masked body of a dead letter was read."),
  "dead_letter.replay": byOperator("dead_letter", "A message was put back for the consumer that had given it up."),
  "dead_letter.drop": byOperator("dead_letter", "A dead letter was removed for good."),
  "dead_event.read": byOperator("dead_event", "The masked body of an event was read that the log had refused."),
  "dead_event.replay": byOperator("dead_event", "An event that the log had refused was put back into its outbox."),
  "dead_event.drop": byOperator("dead_event", "An event that the log had refused was removed for good."),
  "parked_key.read": byOperator("parked_key", "The masked body of the first message of a parked key was read."),
  "parked_key.retry": byOperator("parked_key", "The first message of a parked key was made due at once."),
  "parked_key.skip": byOperator("parked_key", "The first message of a parked key was moved to the dead letters."),
  "audit.limit": ofAccount(
    "A credential was refused so often that the refusals that follow in this minute are not listed.",
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

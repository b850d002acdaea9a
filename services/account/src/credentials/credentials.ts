import { type Caller, requireStepUp } from "@signalbox/auth";
import type { EventData, EventDraft, EventName } from "@signalbox/contracts";
import type { Tx } from "@signalbox/storage";
import { announceAccess } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import { type Actor, recordInAudit, systemActor } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { type Notice, queueNotice, shownAddress } from "../notices/notices.ts";
import {
  type Credential,
  type CredentialOrigin,
  type CredentialView,
  creatorOf,
  judgeNewCredential,
  type NewCredential,
  type NewCredentialProblems,
  requireWritable,
} from "./credential.ts";
import type { CredentialStore } from "./credential-store.ts";

export type EndReason = Exclude<EventData<"api_key.revoked">["reason"], "account">;

/** The differences between API keys and service clients. */
export interface CredentialKind<C extends Credential> {
  /** Its type in the audit and on the state topic. */
  readonly audited: "api_key" | "client";
  readonly access: "key" | "client";
  readonly store: CredentialStore<C>;
  /** Shows one to its owner. */
  readonly view: (credential: C, now: Date) => CredentialView;
  /** Maximum number of live ones per account. */
  readonly max: (service: AccountService) => number;
  /** True when only the built-in issuer has a use for it. */
  readonly needsIssuer: boolean;
  /** True when it may have scopes that otherwise only roles bring. */
  readonly mayBePrivileged: boolean;
  /** Creates one with a new secret. */
  readonly make: (service: AccountService, wanted: NewCredential & CredentialOrigin, now: Date) => Issued<C>;
  readonly created: (credential: C) => EventDraft<EventName>;
  /** Builds the notice to the owner of a new one. */
  readonly notice: (credential: C, address: string) => Notice;
  readonly updated: (credential: C, changed: string[], now: Date) => EventDraft<EventName>;
  readonly revoked: (credential: C, reason: EndReason, now: Date) => EventDraft<EventName>;
}

/** A credential with the only copy of its secret. */
export interface Issued<C extends Credential> {
  readonly credential: C;
  readonly secret: string;
}

export type CreateOutcome<C extends Credential> =
  | ({ outcome: "issued" } & Issued<C>)
  | NewCredentialProblems
  | { outcome: "limit-reached"; max: number }
  | { outcome: "no-issuer" };

/** Keeps each transaction short, and with it the wait of other outbox writers. */
const expiredAtOnce = 100;

/** Creates a credential of a locked account; `by` is the actor in the audit when it is not the caller as owner. */
export async function createCredential<C extends Credential>(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  kind: CredentialKind<C>,
  account: Account,
  wanted: NewCredential,
  by: Caller | Actor = caller,
): Promise<CreateOutcome<C>> {
  const { hasIssuer, clock, outbox } = service;
  if (kind.needsIssuer && !hasIssuer) return { outcome: "no-issuer" };
  const { store, audited } = kind;
  const now = clock.now();
  const problems = judgeNewCredential(wanted, caller, { ...kind, now });
  if (problems) return problems;
  requireWritable(account);
  const max = kind.max(service);
  if ((await store.countLive(tx, account.id, now)).current >= max) return { outcome: "limit-reached", max };
  const issued = kind.make(service, { ...wanted, accountId: account.id, createdBy: creatorOf(caller) }, now);
  await store.insert(tx, issued.credential);
  const [subject, fields] = [issued.credential.id, ["name", "scopes", "expires_at"]];
  await recordInAudit(service, tx, by, { action: `${audited}.create`, accountId: account.id, subject, fields });
  await outbox.append(tx, [kind.created(issued.credential)]);
  await queueNotice(service, tx, account, kind.notice(issued.credential, shownAddress(caller)));
  return { outcome: "issued", ...issued };
}

/** Renames a credential, even one that has ended. The same name needs no recent sign-in and leaves no trace. */
export async function renameCredential<C extends Credential>(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  { store, audited, updated }: CredentialKind<C>,
  credential: C,
  name = credential.name,
): Promise<C> {
  const { clock, outbox } = service;
  if (name === credential.name) return credential;
  requireStepUp(caller, clock);
  const renamed = { ...credential, name };
  await store.save(tx, renamed);
  await recordInAudit(service, tx, caller, { action: `${audited}.update`, subject: credential.id, fields: ["name"] });
  await outbox.append(tx, [updated(renamed, ["name"], clock.now())]);
  return renamed;
}

/** Ends a credential for good, by its owner or an administrator. A revoked one stays as it is. */
export async function revokeCredential<C extends Credential>(
  service: AccountService,
  tx: Tx,
  by: Caller | Actor,
  kind: CredentialKind<C>,
  credential: C,
): Promise<C> {
  if (credential.revokedAt !== null) return credential;
  const now = service.clock.now();
  const revoked = { ...credential, revokedAt: now, accessEpoch: credential.accessEpoch + 1 };
  await kind.store.save(tx, revoked);
  const { accountId, id: subject } = credential;
  await recordInAudit(service, tx, by, { action: `${kind.audited}.revoke`, accountId, subject, fields: ["status"] });
  await service.outbox.append(tx, [kind.revoked(revoked, "revoked", now)]);
  await announceEnd(service, tx, kind, revoked);
  return revoked;
}

/**
 * Announces expired credentials, each once, and returns true when there may be more. Every service already refuses such
 * a credential by its own clock; the announcement closes open connections. Several instances share the work.
 */
export async function announceExpired<C extends Credential>(
  service: AccountService,
  tx: Tx,
  kind: CredentialKind<C>,
): Promise<"again" | "done"> {
  const now = service.clock.now();
  const expired = await kind.store.takeExpired(tx, now, expiredAtOnce);
  for (const credential of expired) {
    const { accountId, id: subject } = credential;
    const reason = isReplaced(credential) ? "rotated" : "expired";
    const action = `${kind.audited}.expire` as const;
    const entry = { action, accountId, subject, fields: ["status"], reason };
    await recordInAudit(service, tx, systemActor("expiry"), entry);
    await service.outbox.append(tx, [kind.revoked(credential, reason, now)]);
    await announceEnd(service, tx, kind, credential);
  }
  return expired.length === expiredAtOnce ? "again" : "done";
}

/** Announces the end on the state topic; every service then refuses the credential, cached or not. */
async function announceEnd<C extends Credential>(
  service: AccountService,
  tx: Tx,
  { access: kind }: CredentialKind<C>,
  { id, accountId, accessEpoch: epoch }: C,
): Promise<void> {
  await announceAccess(service, tx, { kind, id, accountId, state: "revoked", epoch });
}

const isReplaced = (credential: Credential & { readonly replacedBy?: string | null }): boolean =>
  typeof credential.replacedBy === "string";

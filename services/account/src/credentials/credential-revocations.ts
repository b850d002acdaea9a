import type { Caller } from "@signalbox/auth";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { type Actor, actorOf } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice } from "../notices/notices.ts";
import { apiKeyKind, apiKeyStore } from "./api-key.ts";
import type { Credential } from "./credential.ts";
import type { CredentialStore } from "./credential-store.ts";
import { type CredentialKind, revokeCredential } from "./credentials.ts";
import { serviceClientKind, serviceClientStore } from "./service-client.ts";

/** A credential and its account, both locked. */
export interface HeldCredential<C extends Credential> {
  readonly account: Account;
  readonly credential: C;
}

/** A revoked credential, with the number of live credentials that it created. */
export interface Revoked<C extends Credential> {
  readonly credential: C;
  readonly createdLive: number;
}

/**
 * Ends a credential of any account, in every state of the account: an administrator answers a leak that its owner has
 * not noticed. The owner gets a notice, and the audit of the account names the administrator.
 */
export async function revokeByAdministrator<C extends Credential>(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  kind: CredentialKind<C>,
  { account, credential }: HeldCredential<C>,
  revokeCreated: boolean,
): Promise<Revoked<C>> {
  const revoked = await revokeWithCreated(
    service,
    tx,
    actorOf(caller, "administrator"),
    kind,
    credential,
    revokeCreated,
  );
  const notice = { kind: "access-ended", id: credential.id } as const;
  if (credential.revokedAt === null) await queueNotice(service, tx, account, notice);
  return revoked;
}

/**
 * Ends a credential, even one that has ended before, and counts or, on request, ends those that it created, directly or
 * through others.
 */
export async function revokeWithCreated<C extends Credential>(
  service: AccountService,
  tx: Tx,
  by: Caller | Actor,
  kind: CredentialKind<C>,
  credential: C,
  revokeCreated: boolean,
): Promise<Revoked<C>> {
  if (revokeCreated) {
    const created = await lockCreated(service, tx, credential);
    for (const key of created.keys) await revokeCredential(service, tx, by, apiKeyKind, key);
    for (const client of created.clients) await revokeCredential(service, tx, by, serviceClientKind, client);
  }
  const revoked = await revokeCredential(service, tx, by, kind, credential);
  const created = await lockCreated(service, tx, credential);
  return { credential: revoked, createdLive: created.keys.length + created.clients.length };
}

async function lockCreated({ clock }: AccountService, tx: Tx, { accountId, id }: Credential) {
  const now = clock.now();
  return {
    keys: await apiKeyStore.lockLiveCreatedBy(tx, accountId, id, now),
    clients: await serviceClientStore.lockLiveCreatedBy(tx, accountId, id, now),
  };
}

export async function lockWithAccount<C extends Credential>(
  { accountStore }: AccountService,
  tx: Tx,
  store: CredentialStore<C>,
  accountId: string,
  id: string,
): Promise<HeldCredential<C> | null> {
  const account = await accountStore.lock(tx, accountId);
  const credential = account && (await store.lock(tx, accountId, id));
  return account && credential && { account, credential };
}

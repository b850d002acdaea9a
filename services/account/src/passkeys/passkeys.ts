import { type Caller, requireState, requireStepUp } from "@signalbox/auth";
import { randomId } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { type Actor, actorOf, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { hasWayIn } from "../identities/identities.ts";
import { hasManagingKey, identitiesOf } from "../identities/identity.ts";
import { queueNotice } from "../notices/notices.ts";
import type { NewPasskey } from "./ceremonies.ts";
import { type Passkey, passkeyEvent, passkeysMax } from "./passkey.ts";
import { deletePasskey, insertPasskey, passkeysOf, savePasskeyName } from "./passkey-store.ts";

type AddOutcome =
  | { readonly outcome: "added"; readonly passkey: Passkey }
  | { readonly outcome: "limit-reached" | "known" };

type RemoveOutcome = { readonly outcome: "removed" | "last-way-in" };

// The passkeys of people: added, renamed and removed. Nothing but a verified device adds one.

/** Adds a verified passkey to a locked account, and tells its owner. */
export async function addPasskey(
  service: AccountService,
  tx: Tx,
  account: Account,
  name: string,
  made: NewPasskey,
  by: Actor,
): Promise<AddOutcome> {
  requireState(stateOf(account), "own-account:write");
  if ((await passkeysOf(tx, account.id)).length >= passkeysMax) return { outcome: "limit-reached" };
  const id = randomId("psk");
  const passkey = { ...made, id, accountId: account.id, name, createdAt: service.clock.now(), lastUsedAt: null };
  if (!(await insertPasskey(tx, passkey))) return { outcome: "known" };
  await recordInAudit(service, tx, by, { action: "passkey.add", accountId: account.id, subject: id });
  await service.outbox.append(tx, [passkeyEvent("passkey.created", passkey)]);
  const notice = { kind: "passkey-added", name, address: by.address ?? "–" } as const;
  await queueNotice(service, tx, account, notice);
  return { outcome: "added", passkey };
}

/** Renames a passkey. @throws AppError `forbidden` without a recent sign-in */
export async function renamePasskey(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  passkey: Passkey,
  name: string = passkey.name,
): Promise<Passkey> {
  if (name === passkey.name) return passkey;
  requireStepUp(caller, service.clock);
  const renamed = { ...passkey, name };
  await savePasskeyName(tx, renamed);
  await recordInAudit(service, tx, caller, { action: "passkey.update", subject: passkey.id, fields: ["name"] });
  await service.outbox.append(tx, [passkeyEvent("passkey.updated", renamed, ["name"])]);
  return renamed;
}

/** Removes a passkey of a locked account, unless its owner could not sign in any more. */
export async function removePasskey(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  passkey: Passkey,
): Promise<RemoveOutcome> {
  requireState(stateOf(account), "own-account:write");
  return remove(service, tx, actorOf(caller), account, passkey, null);
}

/** Removes a passkey of a person, who gets a notice, as `removePasskey` does. */
export async function removePasskeyByAdministrator(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  passkey: Passkey,
  reason: string,
): Promise<RemoveOutcome> {
  const removed = await remove(service, tx, actorOf(caller, "administrator"), account, passkey, reason);
  if (removed.outcome === "removed") await queueNotice(service, tx, account, { kind: "access-ended", id: passkey.id });
  return removed;
}

async function remove(
  service: AccountService,
  tx: Tx,
  by: Actor,
  account: Account,
  passkey: Passkey,
  reason: string | null,
): Promise<RemoveOutcome> {
  if (await isLastWayIn(service, tx, account)) return { outcome: "last-way-in" };
  await deletePasskey(tx, passkey.id);
  const { id: accountId } = account;
  await recordInAudit(service, tx, by, { action: "passkey.remove", accountId, subject: passkey.id, reason });
  await service.outbox.append(tx, [passkeyEvent("passkey.deleted", passkey)]);
  return { outcome: "removed" };
}

/** Without a verified address, only a passkey, a login elsewhere or a key that manages the account is a way in. */
async function isLastWayIn(service: AccountService, tx: Tx, { id, contactAddressVerified }: Account): Promise<boolean> {
  if (contactAddressVerified || (await passkeysOf(tx, id)).length > 1) return false;
  if (hasWayIn(service, await identitiesOf(tx, id))) return false;
  return !(await hasManagingKey(tx, id, service.clock.now()));
}

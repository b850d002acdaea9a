import type { Caller } from "@signalbox/auth";
import { displayName, draft, type PasskeyResource } from "@signalbox/contracts";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { type Actor, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";

/** A passkey of a person: a key pair of a device, whose public half is known here (Web Authentication, level 3). */
export interface Passkey {
  readonly id: string;
  readonly accountId: string;
  /** The authenticator's id of the credential. */
  readonly credentialId: Buffer;
  readonly name: string;
  readonly publicKey: Buffer;
  /** The number of uses that the authenticator last counted; 0 for one that does not count. */
  readonly counter: bigint;
  /** The ways in which a browser can reach it, such as `internal` or `hybrid`. */
  readonly transports: readonly string[];
  /** True for one that is copied to the holder's other devices. */
  readonly synced: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The most passkeys of an account. */
export const passkeysMax = 10;

/** Only the name of a passkey can change. */
export const PasskeyPatch = z.strictObject({ name: displayName.meta({ examples: ["Phone"] }) }).partial();

/** Shows a passkey to its holder. */
export const viewPasskey = (passkey: Passkey): PasskeyResource => ({
  id: passkey.id,
  name: passkey.name,
  synced: passkey.synced,
  created_at: passkey.createdAt.toISOString(),
  last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
});

/** Events hold nothing of the key itself. */
function eventOf(name: `passkey.${"created" | "updated" | "deleted"}`, passkey: Passkey, changed: string[] = []) {
  const { id: subject, accountId } = passkey;
  return draft(name, { subject, accountId, data: { ...viewPasskey(passkey), changed } });
}

// Records what happens to passkeys, in the audit and as events; a use is a sign-in, and no event.

export async function recordPasskeyAdded(service: AccountService, tx: Tx, by: Actor, passkey: Passkey): Promise<void> {
  const { id: subject, accountId } = passkey;
  await recordInAudit(service, tx, by, { action: "passkey.add", accountId, subject });
  await service.outbox.append(tx, [eventOf("passkey.created", passkey)]);
}

export async function recordPasskeyRenamed(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  passkey: Passkey,
): Promise<void> {
  await recordInAudit(service, tx, caller, { action: "passkey.update", subject: passkey.id, fields: ["name"] });
  await service.outbox.append(tx, [eventOf("passkey.updated", passkey, ["name"])]);
}

export async function recordPasskeyRemoved(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  passkey: Passkey,
): Promise<void> {
  await recordInAudit(service, tx, caller, { action: "passkey.remove", subject: passkey.id });
  await service.outbox.append(tx, [eventOf("passkey.deleted", passkey)]);
}

export const recordPasskeySignIn = (service: AccountService, tx: Tx, by: Actor, accountId: string) =>
  recordInAudit(service, tx, by, { action: "sign_in", accountId });

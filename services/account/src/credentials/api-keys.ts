import { type Caller, requireScopes } from "@signalbox/auth";
import { AppError, seconds } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { type Notice, shownAddress } from "../mail/notices.ts";
import { type ApiKey, apiKeyEvents, expiryOfReplacement, makeApiKey, replacedKey } from "./api-key.ts";
import { type CredentialStatus, creatorOf, requireNoLongerLife, requireWritable, statusOf } from "./credential.ts";
import type { CredentialStore } from "./credential-store.ts";
import { type CredentialDependencies, createCredentials, type Issued } from "./credentials.ts";

export type RotateKeyOutcome =
  | ({ outcome: "issued" } & Issued<ApiKey>)
  | { outcome: "ended"; status: Exclude<CredentialStatus, "active"> }
  | { outcome: "already-replaced"; by: string }
  | { outcome: "limit-reached"; max: number };

interface Dependencies extends CredentialDependencies {
  readonly apiKeys: CredentialStore<ApiKey>;
  /** Stands in every key, so that a key of a test system is told from a real one at sight. */
  readonly keyEnvironment: string;
  readonly keysMax: () => number;
}

/** As many keys again may be in the overlap of their rotation: a full account can still rotate, not without end. */
const liveShare = 2;

const noticeOf = ({ hint: key }: ApiKey, address: string): Notice => ({ kind: "api-key-created", key, address });

/** The API keys of an account. Each is shown once, by the answer that made it; only its digest is kept. */
export function createApiKeys(dependencies: Dependencies) {
  const { apiKeys: store, keyEnvironment, keysMax, outbox, audit, clock } = dependencies;
  const shared = createCredentials<ApiKey>(
    {
      audited: "api_key",
      access: "key",
      store,
      max: keysMax,
      mayBePrivileged: true,
      make: (wanted, now) => makeApiKey(wanted, keyEnvironment, now),
      notice: noticeOf,
      ...apiKeyEvents,
    },
    dependencies,
  );

  return {
    ...shared,

    /** Makes a key that takes the place of another: same name, scopes and lifetime. The old one ends with the overlap. */
    async rotate(
      tx: Tx,
      caller: Caller,
      account: Account,
      old: ApiKey,
      overlapSeconds: number,
    ): Promise<RotateKeyOutcome> {
      requireWritable(account);
      const now = clock.now();
      const status = statusOf(old, now);
      if (status !== "active") return { outcome: "ended", status };
      if (old.replacedBy !== null) return { outcome: "already-replaced", by: old.replacedBy };
      requireNoWider(caller, old);
      const max = liveShare * keysMax();
      if ((await store.countLive(tx, account.id, now)).live >= max) return { outcome: "limit-reached", max };

      const expiresAt = endOfReplacement(caller, old, now);
      const wanted = { ...old, expiresAt, createdBy: creatorOf(caller), replaces: old.id };
      const issued = makeApiKey(wanted, keyEnvironment, now);
      await store.insert(tx, issued.credential);
      await outbox.append(tx, [apiKeyEvents.created(issued.credential)]);
      await retire(tx, old, issued.credential, overlapSeconds, dependencies);
      await audit.record(tx, caller, { action: "api_key.rotate", subject: old.id, fields: ["replaced_by"] });
      await dependencies.notices.tell(tx, account, noticeOf(issued.credential, shownAddress(caller)));
      return { outcome: "issued", ...issued };
    },
  };
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

/** As long as the old one was made to live. A key that expires replaces itself until its own end, so that it has one. */
function endOfReplacement(caller: Caller, old: ApiKey, now: Date): Date | null {
  const end = expiryOfReplacement(old, now);
  if (caller.credential.id === old.id) return old.expiresAt;
  requireNoLongerLife(caller, end);
  return end;
}

/** A higher epoch makes every service ask again, and so learn of the new end before it comes. */
async function retire(
  tx: Tx,
  old: ApiKey,
  successor: ApiKey,
  overlapSeconds: number,
  { apiKeys: store, outbox, access }: Pick<Dependencies, "apiKeys" | "outbox" | "access">,
): Promise<void> {
  const now = successor.createdAt;
  const { key, changed } = replacedKey(old, successor.id, seconds(overlapSeconds), now);
  const { id, accountId, accessEpoch: epoch, revokedAt } = key;
  const isEnded = revokedAt !== null;
  await store.save(tx, key);
  await outbox.append(tx, [
    isEnded ? apiKeyEvents.revoked(key, "rotated", now) : apiKeyEvents.updated(key, changed, now),
  ]);
  await access.announce(tx, { kind: "key", id, accountId, state: isEnded ? "revoked" : "active", epoch });
}

/** The answer shows a working key, so whoever rotates must be allowed all that it is. */
function requireNoWider(caller: Caller, { scopes, roles }: ApiKey): void {
  requireScopes(caller, scopes);
  const beyond = roles.filter((role) => !caller.roles.includes(role));
  if (beyond.length === 0) return;
  const message = `The key has the role ${beyond.join(" and ")}, and you do not.`;
  throw new AppError("forbidden", message, { details: [{ field: "roles", code: "beyond_creator", message }] });
}

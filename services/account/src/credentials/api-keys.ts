import { type Caller, requireScopes } from "@signalbox/auth";
import { AppError, changedMembers, seconds } from "@signalbox/core";
import { rotate, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { type Notice, shownAddress } from "../mail/notices.ts";
import {
  type ApiKey,
  apiKeyEvents,
  expiryOfReplacement,
  lockLivePredecessors,
  makeApiKey,
  replacedKey,
} from "./api-key.ts";
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
  /** Part of every key's text, so that test keys and real keys differ at sight. */
  readonly keyEnvironment: string;
  readonly keysMax: () => number;
}

/**
 * The overlap of rotations may double the number of live keys: a full account can still rotate, but not without end.
 */
const liveShare = 2;

const noticeOf = ({ hint: key }: ApiKey, address: string): Notice => ({ kind: "api-key-created", key, address });

/** The API keys of an account. The answer that creates a key shows it, once; only its digest is stored. */
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

    /**
     * Creates a key that replaces another: same name, scopes and lifetime. The old one ends with the overlap; without
     * one it ends at once, and so do the keys that it replaced.
     */
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
      const keys = [old, ...(await lockLivePredecessors(tx, old.id, now))];
      const max = liveShare * keysMax();
      const others = (await store.countLive(tx, account.id, now)).live - keys.length;
      const values = keys.map(({ expiresAt: endsAt }) => ({ endsAt }));
      const rotation = rotate(values, { max: max - others, overlapMs: seconds(overlapSeconds), now });
      if (rotation.outcome !== "rotated") return { outcome: "limit-reached", max };

      const expiresAt = endOfReplacement(caller, old, now);
      const wanted = { ...old, expiresAt, createdBy: creatorOf(caller), replaces: old.id };
      const issued = makeApiKey(wanted, keyEnvironment, now);
      await store.insert(tx, issued.credential);
      await outbox.append(tx, [apiKeyEvents.created(issued.credential)]);
      const [kept] = rotation.older;
      for (const key of kept ? [old] : keys) {
        const replaced = replacedKey(key, key.replacedBy ?? issued.credential.id, kept?.endsAt ?? null, now);
        await retire(tx, key, replaced, now, dependencies);
      }
      await audit.record(tx, caller, { action: "api_key.rotate", subject: old.id, fields: ["replaced_by"] });
      await dependencies.notices.queue(tx, account, noticeOf(issued.credential, shownAddress(caller)));
      return { outcome: "issued", ...issued };
    },
  };
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

/** The lifetime of the old key, counted from now. A key that expires and rotates itself keeps its own end. */
function endOfReplacement(caller: Caller, old: ApiKey, now: Date): Date | null {
  const end = expiryOfReplacement(old, now);
  if (caller.credential.id === old.id) return old.expiresAt;
  requireNoLongerLife(caller, end);
  return end;
}

/** A higher epoch makes every service look the key up again, and so learn of the new end in time. */
async function retire(
  tx: Tx,
  old: ApiKey,
  key: ApiKey,
  now: Date,
  { apiKeys: store, outbox, access }: Pick<Dependencies, "apiKeys" | "outbox" | "access">,
): Promise<void> {
  const { id, accountId, accessEpoch: epoch, revokedAt } = key;
  const changed = changedMembers(old, key, { expiresAt: "expires_at", replacedBy: "replaced_by" });
  const state = revokedAt === null ? "active" : "revoked";
  const { revoked, updated } = apiKeyEvents;
  await store.save(tx, key);
  await outbox.append(tx, [state === "revoked" ? revoked(key, "rotated", now) : updated(key, changed, now)]);
  await access.announce(tx, { kind: "key", id, accountId, state, epoch });
}

/** The answer shows a working key, so the caller needs every scope and role of the key. */
function requireNoWider(caller: Caller, { scopes, roles }: ApiKey): void {
  requireScopes(caller, scopes);
  const beyond = roles.filter((role) => !caller.roles.includes(role));
  if (beyond.length === 0) return;
  const message = `The key has the role ${beyond.join(" and ")}, and you do not.`;
  throw new AppError("forbidden", message, { details: [{ field: "roles", code: "beyond_creator", message }] });
}

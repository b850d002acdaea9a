import { type Principal, requireScopes, requireState } from "@signalbox/auth";
import { AppError, type Clock, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { type ApiKey, type ApiKeyStatus, statusOf } from "./api-key.ts";
import { apiKeyCreated, apiKeyRevoked, apiKeyUpdated } from "./api-key-events.ts";
import type { ApiKeyStore } from "./api-key-store.ts";
import { newApiKey } from "./new-api-key.ts";
import { expiryOfReplacement, type ReplacedKey, replacedKey } from "./rotation.ts";

export interface RotateApiKey {
  readonly principal: Principal;
  readonly keyId: string;
  /** How long the old key keeps working beside the new one. */
  readonly overlapSeconds: number;
  readonly by: Actor;
  /** Looks at the locked key before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (key: ApiKey) => void;
  /** Runs in the transaction of the rotation. `text` is the new key itself, its only copy. */
  readonly alongside?: (tx: Tx, key: ApiKey, text: string) => Promise<void>;
}

export type RotateApiKeyOutcome =
  | { outcome: "rotated"; key: ApiKey; text: string }
  | { outcome: "ended"; status: Exclude<ApiKeyStatus, "active"> }
  | { outcome: "already-replaced"; by: string }
  | { outcome: "too-many-keys"; max: number }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly apiKeys: Pick<ApiKeyStore, "countLive" | "lock" | "insert" | "save">;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly keyEnvironment: string;
  readonly keysMax: () => number;
}

/** As many keys again may be in the overlap of their rotation: a full account can still rotate, not without end. */
const liveShare = 2;

/** Makes a key that takes the place of another: same name, scopes and lifetime. The old one ends with the overlap. */
export function createRotateApiKey(dependencies: Dependencies) {
  const { pool, accounts, apiKeys, accessLog, outbox, audit, clock, keyEnvironment, keysMax } = dependencies;

  return function rotateApiKey(input: RotateApiKey): Promise<RotateApiKeyOutcome> {
    const { principal, keyId, overlapSeconds, by, expect, alongside } = input;
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "write");
      const now = clock.now();
      const max = liveShare * keysMax();
      const { live } = await apiKeys.countLive(tx, principal.accountId, now);
      const old = await apiKeys.lock(tx, principal.accountId, keyId);
      if (!old) return { outcome: "not-found" };
      expect?.(old);
      const status = statusOf(old, now);
      if (status !== "active") return { outcome: "ended", status };
      if (old.replacedBy !== null) return { outcome: "already-replaced", by: old.replacedBy };
      requireNoWider(principal, old);
      if (live >= max) return { outcome: "too-many-keys", max };

      const wanted = { ...old, expiresAt: expiryOfReplacement(old, now), replaces: old.id };
      const { key, text } = newApiKey(wanted, keyEnvironment, now);
      await apiKeys.insert(tx, key);
      await outbox.append(tx, [apiKeyCreated(key)]);
      await retire(tx, replacedKey(old, key.id, seconds(overlapSeconds), now), now);
      const { accountId, id: subject } = old;
      await audit.record(tx, { action: "api_key.rotate", accountId, subject, fields: ["replaced_by"], by });
      await alongside?.(tx, key, text);
      return { outcome: "rotated", key, text };
    });
  };

  /** A higher epoch makes every service ask again, and so learn of the new end before it comes. */
  async function retire(tx: Tx, { key, changed }: ReplacedKey, now: Date): Promise<void> {
    const { id, accountId, accessEpoch: epoch, revokedAt } = key;
    const state = revokedAt === null ? "active" : "revoked";
    await apiKeys.save(tx, key);
    await outbox.append(tx, [
      revokedAt === null ? apiKeyUpdated(key, changed, now) : apiKeyRevoked(key, "rotated", now),
    ]);
    await accessLog.announce(tx, { kind: "key", id, accountId, state, epoch }, now);
  }
}

export type RotateApiKeyVerb = ReturnType<typeof createRotateApiKey>;

/** The answer shows a working key, so whoever rotates must be allowed all that it is. */
function requireNoWider(principal: Principal, { scopes, roles }: ApiKey): void {
  requireScopes(principal, scopes);
  const beyond = roles.filter((role) => !principal.roles.includes(role));
  if (beyond.length === 0) return;
  const message = `The key has the role ${beyond.join(" and ")}, and you have not.`;
  throw new AppError("forbidden", message, { details: [{ field: "roles", code: "beyond_creator", message }] });
}

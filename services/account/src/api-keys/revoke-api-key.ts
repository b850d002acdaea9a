import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ApiKey } from "./api-key.ts";
import { apiKeyRevoked } from "./api-key-events.ts";
import type { ApiKeyStore } from "./api-key-store.ts";

export interface RevokeApiKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly by: Actor;
  /** Looks at the locked key before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (key: ApiKey) => void;
  /** Runs in the transaction of the revocation. */
  readonly alongside?: (tx: Tx) => Promise<void>;
}

export type RevokeApiKeyOutcome = "revoked" | "already-revoked" | "not-found";

interface Dependencies {
  readonly pool: Pool;
  readonly apiKeys: Pick<ApiKeyStore, "lock" | "save">;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Ends a key for good. Every service hears of it on the state topic and refuses the key, remembered or not. */
export function createRevokeApiKey({ pool, apiKeys, accessLog, outbox, audit, clock }: Dependencies) {
  return function revokeApiKey(input: RevokeApiKey): Promise<RevokeApiKeyOutcome> {
    const { accountId, keyId, by, expect, alongside } = input;
    return inTransaction(pool, async (tx) => {
      const key = await apiKeys.lock(tx, accountId, keyId);
      if (!key) return "not-found";
      expect?.(key);
      if (key.revokedAt === null) await revoke(tx, key, by);
      await alongside?.(tx);
      return key.revokedAt === null ? "revoked" : "already-revoked";
    });
  };

  async function revoke(tx: Tx, key: ApiKey, by: Actor): Promise<void> {
    const now = clock.now();
    const { id, accountId } = key;
    const revoked: ApiKey = { ...key, revokedAt: now, accessEpoch: key.accessEpoch + 1 };
    await apiKeys.save(tx, revoked);
    await audit.record(tx, { action: "api_key.revoke", accountId, subject: id, fields: ["status"], by });
    await outbox.append(tx, [apiKeyRevoked(revoked, "revoked", now)]);
    await accessLog.announce(tx, { kind: "key", id, accountId, state: "revoked", epoch: revoked.accessEpoch }, now);
  }
}

export type RevokeApiKeyVerb = ReturnType<typeof createRevokeApiKey>;

import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ApiKey } from "./api-key.ts";
import { apiKeyRevoked } from "./api-key-events.ts";
import type { ApiKeyStore } from "./api-key-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly apiKeys: Pick<ApiKeyStore, "takeEnded">;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

const by: Actor = { kind: "system", accountId: null, credential: "expiry", address: null, requestId: null };
/** Keeps one transaction, and with it the outbox of other writers, short. */
const batch = 100;

/**
 * Tells of every key whose time is over, once: the key is marked in the transaction of its event. Every service refuses
 * such a key by its own clock already; the access change ends what is open. Several instances share the work.
 */
export function createAnnounceEndedKeys({ pool, apiKeys, accessLog, outbox, audit, clock }: Dependencies) {
  return async function announceEndedKeys(): Promise<number> {
    let total = 0;
    for (;;) {
      const found = await inTransaction(pool, announceSome);
      total += found;
      if (found < batch) return total;
    }
  };

  async function announceSome(tx: Tx): Promise<number> {
    const now = clock.now();
    const ended = await apiKeys.takeEnded(tx, now, batch);
    for (const key of ended) await announce(tx, key, now);
    return ended.length;
  }

  async function announce(tx: Tx, key: ApiKey, now: Date): Promise<void> {
    const { id, accountId, accessEpoch: epoch } = key;
    const reason = key.replacedBy === null ? "expired" : "rotated";
    await audit.record(tx, { action: "api_key.expire", accountId, subject: id, fields: ["status"], reason, by });
    await outbox.append(tx, [apiKeyRevoked(key, reason, now)]);
    await accessLog.announce(tx, { kind: "key", id, accountId, state: "revoked", epoch }, now);
  }
}

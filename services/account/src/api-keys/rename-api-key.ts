import { type Principal, requireStepUp } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ApiKey } from "./api-key.ts";
import { apiKeyUpdated } from "./api-key-events.ts";
import type { ApiKeyStore } from "./api-key-store.ts";

export interface RenameApiKey {
  readonly principal: Principal;
  readonly keyId: string;
  /** Absent, or the name it has, changes nothing. */
  readonly name?: string | undefined;
  readonly by: Actor;
  /** Looks at the locked key before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (key: ApiKey) => void;
  /** Runs in the transaction of the change. */
  readonly alongside?: (tx: Tx, key: ApiKey) => Promise<void>;
}

export type RenameApiKeyOutcome =
  | { outcome: "renamed"; key: ApiKey }
  | { outcome: "unchanged"; key: ApiKey }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly apiKeys: Pick<ApiKeyStore, "lock" | "save">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Gives a key another name, also one that has ended. Sending the same name needs no recent sign-in and leaves no trace. */
export function createRenameApiKey({ pool, apiKeys, outbox, audit, clock }: Dependencies) {
  return function renameApiKey(input: RenameApiKey): Promise<RenameApiKeyOutcome> {
    const { principal, keyId, name, by, expect, alongside } = input;
    return inTransaction(pool, async (tx) => {
      const key = await apiKeys.lock(tx, principal.accountId, keyId);
      if (!key) return { outcome: "not-found" };
      expect?.(key);
      const renamed = { ...key, name: name ?? key.name };
      const isChanged = renamed.name !== key.name;
      if (isChanged) {
        requireStepUp(principal, clock);
        await apiKeys.save(tx, renamed);
        const { accountId, id: subject } = key;
        await audit.record(tx, { action: "api_key.update", accountId, subject, fields: ["name"], by });
        await outbox.append(tx, [apiKeyUpdated(renamed, ["name"], clock.now())]);
      }
      await alongside?.(tx, renamed);
      return { outcome: isChanged ? "renamed" : "unchanged", key: renamed };
    });
  };
}

export type RenameApiKeyVerb = ReturnType<typeof createRenameApiKey>;

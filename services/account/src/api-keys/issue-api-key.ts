import { requireState } from "@signalbox/auth";
import type { Role, Scope } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ApiKey } from "./api-key.ts";
import { apiKeyCreated } from "./api-key-events.ts";
import type { ApiKeyStore } from "./api-key-store.ts";
import { newApiKey } from "./new-api-key.ts";

export interface IssueApiKey {
  readonly accountId: string;
  /** What the creator may do: a key never may more. */
  readonly grantable: ReadonlySet<Scope>;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly roles: readonly Role[];
  readonly expiresAt: Date | null;
  readonly by: Actor;
  /** Runs in the transaction of the new key. `text` is the key itself, its only copy. */
  readonly alongside?: (tx: Tx, key: ApiKey, text: string) => Promise<void>;
}

export type IssueApiKeyOutcome =
  | { outcome: "issued"; key: ApiKey; text: string }
  | { outcome: "refused"; beyondCreator: readonly Scope[]; isExpiryPassed: boolean }
  | { outcome: "too-many-keys"; max: number }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly apiKeys: Pick<ApiKeyStore, "insert" | "countLive">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Stands in every key, so that a key of a test system is told from a real one at sight. */
  readonly keyEnvironment: string;
  /** How many keys of an account may be good at a time. */
  readonly keysMax: () => number;
}

/** Makes an API key. It is shown once, by the answer to this; only its digest is kept. */
export function createIssueApiKey(dependencies: Dependencies) {
  const { pool, accounts, apiKeys, outbox, audit, clock, keyEnvironment, keysMax } = dependencies;

  return async function issueApiKey(input: IssueApiKey): Promise<IssueApiKeyOutcome> {
    const now = clock.now();
    const beyondCreator = input.scopes.filter((scope) => !input.grantable.has(scope));
    const isExpiryPassed = input.expiresAt !== null && input.expiresAt <= now;
    if (beyondCreator.length > 0 || isExpiryPassed) return { outcome: "refused", beyondCreator, isExpiryPassed };

    const { accountId, name, scopes, roles, expiresAt, by, alongside } = input;
    const wanted = { accountId, name, scopes, roles, expiresAt, replaces: null };
    const { key, text } = newApiKey(wanted, keyEnvironment, now);
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "write");
      const max = keysMax();
      if ((await apiKeys.countLive(tx, accountId, now)).current >= max) return { outcome: "too-many-keys", max };
      await apiKeys.insert(tx, key);
      const fields = ["name", "scopes", "expires_at"];
      await audit.record(tx, { action: "api_key.create", accountId, subject: key.id, fields, by });
      await outbox.append(tx, [apiKeyCreated(key)]);
      await alongside?.(tx, key, text);
      return { outcome: "issued", key, text };
    });
  };
}

export type IssueApiKeyVerb = ReturnType<typeof createIssueApiKey>;

import { createApiKey, digestApiKey, parseApiKey } from "@signalbox/auth";
import type { Role, Scope } from "@signalbox/contracts";
import { type Clock, randomId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ApiKey } from "./api-key.ts";
import { apiKeyCreated } from "./api-key-events.ts";
import type { ApiKeyStore } from "./api-key-store.ts";

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
  | { outcome: "scopes-beyond-creator"; scopes: readonly Scope[] }
  | { outcome: "expiry-passed" };

interface Dependencies {
  readonly pool: Pool;
  readonly apiKeys: Pick<ApiKeyStore, "insert">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Stands in every key, so that a key of a test system is told from a real one at sight. */
  readonly keyEnvironment: string;
}

/** Makes an API key. It is shown once, by the answer to this; only its digest is kept. */
export function createIssueApiKey(dependencies: Dependencies) {
  const { pool, apiKeys, outbox, audit, clock, keyEnvironment } = dependencies;

  return async function issueApiKey(input: IssueApiKey): Promise<IssueApiKeyOutcome> {
    const now = clock.now();
    const beyond = input.scopes.filter((scope) => !input.grantable.has(scope));
    if (beyond.length > 0) return { outcome: "scopes-beyond-creator", scopes: beyond };
    if (input.expiresAt !== null && input.expiresAt <= now) return { outcome: "expiry-passed" };

    const { key, text } = newKey(input, keyEnvironment, now);
    await inTransaction(pool, async (tx) => {
      await apiKeys.insert(tx, key);
      const { accountId } = key;
      await audit.record(tx, {
        action: "api_key.create",
        accountId,
        fields: ["name", "scopes", "expires_at"],
        by: input.by,
      });
      await outbox.append(tx, [apiKeyCreated(key)]);
      await input.alongside?.(tx, key, text);
    });
    return { outcome: "issued", key, text };
  };
}

export type IssueApiKeyVerb = ReturnType<typeof createIssueApiKey>;

function newKey(input: IssueApiKey, keyEnvironment: string, now: Date): { key: ApiKey; text: string } {
  const text = createApiKey(keyEnvironment);
  const key: ApiKey = {
    id: randomId("key"),
    accountId: input.accountId,
    name: input.name,
    hint: parseApiKey(text)?.hint ?? "",
    digest: digestApiKey(text),
    scopes: [...new Set(input.scopes)],
    roles: input.roles,
    accessEpoch: 0,
    createdAt: now,
    expiresAt: input.expiresAt,
    lastUsedAt: null,
    revokedAt: null,
  };
  return { key, text };
}

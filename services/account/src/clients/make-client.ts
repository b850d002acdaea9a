import { requireState } from "@signalbox/auth";
import { privilegedScopes, type Scope } from "@signalbox/contracts";
import { type Clock, randomId } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { newClientSecret } from "./client-secret.ts";
import type { ClientStore } from "./client-store.ts";
import type { ServiceClient } from "./service-client.ts";

export interface MakeClient {
  readonly accountId: string;
  /** What the creator may do: a client never may more. */
  readonly grantable: ReadonlySet<Scope>;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly by: Actor;
  /** Runs in the transaction of the new client. `secret` is its only copy. */
  readonly alongside?: (tx: Tx, client: ServiceClient, secret: string) => Promise<void>;
}

export type MakeClientOutcome =
  | { outcome: "made"; client: ServiceClient; secret: string }
  | {
      outcome: "refused";
      privileged: readonly Scope[];
      beyondCreator: readonly Scope[];
      isExpiryPassed: boolean;
    }
  | { outcome: "too-many"; max: number }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly clients: Pick<ClientStore, "insert" | "countLive">;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly clientsMax: () => number;
}

/** Makes a service client. Its secret is shown once, by the answer to this; only its digest is kept. */
export function createMakeClient({ pool, accounts, clients, audit, clock, clientsMax }: Dependencies) {
  return async function makeClient(input: MakeClient): Promise<MakeClientOutcome> {
    const now = clock.now();
    const privileged = input.scopes.filter((scope) => privilegedScopes.has(scope));
    const beyondCreator = input.scopes.filter((scope) => !input.grantable.has(scope));
    const isExpiryPassed = input.expiresAt !== null && input.expiresAt <= now;
    if (privileged.length + beyondCreator.length > 0 || isExpiryPassed) {
      return { outcome: "refused", privileged, beyondCreator, isExpiryPassed };
    }

    const { text: secret, digest } = newClientSecret();
    const client = clientFrom(input, digest, now);
    return inTransaction(pool, async (tx) => {
      const { accountId } = client;
      // Behind the lock, or two at once would both find room, and one that was just suspended would get another way in.
      const account = await accounts.lock(tx, accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "write");
      const max = clientsMax();
      if ((await clients.countLive(tx, accountId, now)) >= max) return { outcome: "too-many", max };
      await clients.insert(tx, client);
      const fields = ["name", "scopes", "expires_at"];
      await audit.record(tx, { action: "client.create", accountId, subject: client.id, fields, by: input.by });
      await input.alongside?.(tx, client, secret);
      return { outcome: "made", client, secret };
    });
  };
}

export type MakeClientVerb = ReturnType<typeof createMakeClient>;

function clientFrom({ accountId, name, scopes, expiresAt }: MakeClient, digest: Buffer, now: Date): ServiceClient {
  return {
    id: randomId("cli"),
    accountId,
    name,
    scopes: [...new Set(scopes)],
    digest,
    previousDigest: null,
    previousUntil: null,
    accessEpoch: 0,
    createdAt: now,
    expiresAt,
    lastUsedAt: null,
    revokedAt: null,
  };
}

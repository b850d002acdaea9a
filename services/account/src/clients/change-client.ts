import { type Principal, requireScopes, requireState, requireStepUp } from "@signalbox/auth";
import { type Clock, seconds } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit, ThingAction } from "../audit/audit.ts";
import { newClientSecret } from "./client-secret.ts";
import type { ClientStore } from "./client-store.ts";
import { previousSecretUntil, type ServiceClient, statusOf } from "./service-client.ts";

interface Change {
  readonly accountId: string;
  readonly clientId: string;
  readonly by: Actor;
  /** Looks at the locked client before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (client: ServiceClient) => void;
}

export interface RenameClient extends Omit<Change, "accountId"> {
  /** Who asks: another name needs their recent sign-in. */
  readonly principal: Principal;
  /** Undefined leaves it. */
  readonly name: string | undefined;
  /** Runs in the transaction of the change. */
  readonly alongside?: (tx: Tx, client: ServiceClient) => Promise<void>;
}

export interface RotateClientSecret extends Omit<Change, "accountId"> {
  /** Who asks, and will know the secret: it must not let them do more than they may. */
  readonly principal: Principal;
  /** For how long the secret that was good until now stays good beside the new one. */
  readonly overlapSeconds: number;
  /** Runs in the transaction of the change. `secret` is its only copy. */
  readonly alongside?: (tx: Tx, client: ServiceClient, secret: string) => Promise<void>;
}

export interface RevokeClient extends Change {
  readonly alongside?: (tx: Tx) => Promise<void>;
}

export type RenameClientOutcome = { outcome: "renamed"; client: ServiceClient } | { outcome: "not-found" };
export type RotateClientSecretOutcome =
  | { outcome: "rotated"; client: ServiceClient; secret: string }
  | { outcome: "not-active" }
  | { outcome: "already-rotated"; previousUntil: Date }
  | { outcome: "not-found" };
export type RevokeClientOutcome = "revoked" | "already-revoked" | "not-found";

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly clients: Pick<ClientStore, "lock" | "save">;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** What an owner does to a service client that is there: another name, another secret, its end. */
export function createChangeClient({ pool, accounts, clients, accessLog, audit, clock }: Dependencies) {
  return {
    /** A name that is the same already leaves no trace. */
    rename({ principal, clientId, name, by, expect, alongside }: RenameClient): Promise<RenameClientOutcome> {
      const { accountId } = principal;
      return inTransaction(pool, async (tx) => {
        const client = await clients.lock(tx, accountId, clientId);
        if (!client) return { outcome: "not-found" };
        expect?.(client);
        const renamed = { ...client, name: name ?? client.name };
        if (client.name !== renamed.name) {
          requireStepUp(principal, clock);
          await save(tx, { accountId, clientId, by }, renamed, "client.update", ["name"]);
        }
        await alongside?.(tx, renamed);
        return { outcome: "renamed", client: renamed };
      });
    },

    /** Two secrets at most are good at once, so that one which is still in use does not end before it was said to. */
    rotateSecret({ principal, ...input }: RotateClientSecret): Promise<RotateClientSecretOutcome> {
      const { accountId } = principal;
      return inTransaction(pool, async (tx) => {
        const account = await accounts.lock(tx, accountId);
        if (!account) return { outcome: "not-found" };
        requireState({ state: account.status }, "write");
        const now = clock.now();
        const client = await clients.lock(tx, accountId, input.clientId);
        if (!client) return { outcome: "not-found" };
        input.expect?.(client);
        if (statusOf(client, now) !== "active") return { outcome: "not-active" };
        const previousUntil = previousSecretUntil(client, now);
        if (previousUntil && input.overlapSeconds > 0) return { outcome: "already-rotated", previousUntil };
        requireScopes(principal, client.scopes);
        const { text: secret, digest } = newClientSecret();
        const rotated = { ...client, digest, ...previousOf(client, input.overlapSeconds, now) };
        await save(tx, { ...input, accountId }, rotated, "client.rotate_secret", ["client_secret"]);
        await input.alongside?.(tx, rotated, secret);
        return { outcome: "rotated", client: rotated, secret };
      });
    },

    /** Ends a client for good. Every service hears of it on the state topic and refuses its tokens. */
    revoke({ alongside, ...change }: RevokeClient): Promise<RevokeClientOutcome> {
      return inTransaction(pool, async (tx) => {
        const client = await clients.lock(tx, change.accountId, change.clientId);
        if (!client) return "not-found";
        change.expect?.(client);
        if (client.revokedAt === null) await end(tx, change, client);
        await alongside?.(tx);
        return client.revokedAt === null ? "revoked" : "already-revoked";
      });
    },
  };

  async function end(tx: Tx, change: Change, client: ServiceClient): Promise<void> {
    const now = clock.now();
    const { id, accountId } = client;
    const epoch = client.accessEpoch + 1;
    const revoked = { ...client, revokedAt: now, accessEpoch: epoch };
    await save(tx, change, revoked, "client.revoke", ["status"]);
    await accessLog.announce(tx, { kind: "client", id, accountId, state: "revoked", epoch }, now);
  }

  async function save(tx: Tx, { accountId, by }: Change, client: ServiceClient, action: ThingAction, fields: string[]) {
    await clients.save(tx, client);
    await audit.record(tx, { action, accountId, subject: client.id, fields, by });
  }
}

export type ChangeClient = ReturnType<typeof createChangeClient>;

function previousOf({ digest }: ServiceClient, overlapSeconds: number, now: Date) {
  if (overlapSeconds === 0) return { previousDigest: null, previousUntil: null };
  return { previousDigest: digest, previousUntil: new Date(now.getTime() + seconds(overlapSeconds)) };
}

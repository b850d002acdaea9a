import type { Caller } from "@signalbox/auth";
import { scopes } from "@signalbox/contracts";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { ProvisionAccountVerb } from "../accounts/provision-account.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ChangeAccountStatusVerb } from "../statuses/change-account-status.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { NewCredential } from "./credential.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly audit: Pick<Audit, "record">;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly provisionAccount: ProvisionAccountVerb;
  readonly changeAccountStatus: ChangeAccountStatusVerb;
  readonly apiKeys: Pick<ApiKeys, "create">;
}

/** The identity of the account that a new house starts with. No issuer of tokens can have this name. */
const firstIdentity = { issuer: "@first-key", subject: "administrator" };
const credential = "first-key";

const grantRole = sql(
  "account.make-administrator",
  "update accounts set roles = array['admin'] where id = $1 and roles <> array['admin']",
);

/**
 * Makes the key a new house starts with: of an active account with the role `admin`, with every scope (CONTRACT §1).
 * Called again, it makes another key of the same account.
 */
export function createFirstKeyMaker(dependencies: Dependencies) {
  const { pool, audit, accounts, provisionAccount, changeAccountStatus, apiKeys } = dependencies;

  return async function createFirstKey(): Promise<string> {
    const claims = { name: "Administrator" };
    const { id: accountId, status } = await provisionAccount({ identity: firstIdentity, claims, credential });
    // Whoever may run this on the host is an administrator.
    const by: Actor = { kind: "administrator", accountId, credential, address: null, requestId: null };
    await inTransaction(pool, async (tx) => {
      const { rowCount } = await tx.query(grantRole, [accountId]);
      if (rowCount === 1) await audit.record(tx, { action: "account.grant_role", accountId, fields: ["roles"], by });
    });
    if (status !== "active") {
      await changeAccountStatus({ accountId, to: "active", reason: "first key", principal: null, by });
    }
    const result = await inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, accountId);
      return account && apiKeys.create(tx, operatorOf(account), account, firstKey);
    });
    if (result?.outcome !== "issued") throw new Error(`the first key could not be made: ${result?.outcome}`);
    return result.secret;
  };
}

const firstKey: NewCredential = { name: "First key", scopes, roles: ["admin"], expiresAt: null };

/** Whoever may run this on the host, acting for the account. */
function operatorOf({ id, status, accessEpoch }: Account): Caller {
  return {
    accountId: id,
    state: status,
    epoch: accessEpoch,
    scopes: new Set(scopes),
    roles: ["admin"],
    credential: { kind: "api-key", id: credential, authTimeMs: null },
    expiresAt: null,
    requestId: credential,
    clientAddress: null,
  };
}

import { scopes } from "@signalbox/contracts";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import type { ProvisionAccountVerb } from "../accounts/provision-account.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ChangeAccountStatusVerb } from "../statuses/change-account-status.ts";
import type { IssueApiKeyVerb } from "./issue-api-key.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly audit: Pick<Audit, "record">;
  readonly provisionAccount: ProvisionAccountVerb;
  readonly changeAccountStatus: ChangeAccountStatusVerb;
  readonly issueApiKey: IssueApiKeyVerb;
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
export function createCreateFirstKey(dependencies: Dependencies) {
  const { pool, audit, provisionAccount, changeAccountStatus, issueApiKey } = dependencies;

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
    const result = await issueApiKey({
      accountId,
      grantable: new Set(scopes),
      name: "First key",
      scopes,
      roles: ["admin"],
      expiresAt: null,
      by,
    });
    if (result.outcome !== "issued") throw new Error(`the first key could not be made: ${result.outcome}`);
    return result.text;
  };
}

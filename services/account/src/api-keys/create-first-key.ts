import { scopes } from "@signalbox/contracts";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import type { ProvisionAccountVerb } from "../accounts/provision-account.ts";
import type { IssueApiKeyVerb } from "./issue-api-key.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly provisionAccount: ProvisionAccountVerb;
  readonly issueApiKey: IssueApiKeyVerb;
}

/** The identity of the account that a new house starts with. No issuer of tokens can have this name. */
const firstIdentity = { issuer: "@first-key", subject: "administrator" };
const credential = "first-key";

const grantRole = sql(
  "account.make-administrator",
  "update accounts set roles = array['admin'], status = 'active' where id = $1",
);

/**
 * Makes the key a new house starts with: of an active account with the role `admin`, with every scope (CONTRACT §1).
 * Called again, it makes another key of the same account.
 */
export function createCreateFirstKey({ pool, provisionAccount, issueApiKey }: Dependencies) {
  return async function createFirstKey(): Promise<string> {
    const claims = { name: "Administrator" };
    const { id: accountId } = await provisionAccount({ identity: firstIdentity, claims, credential });
    await inTransaction(pool, (tx) => tx.query(grantRole, [accountId]));
    const result = await issueApiKey({
      accountId,
      grantable: new Set(scopes),
      name: "First key",
      scopes,
      roles: ["admin"],
      expiresAt: null,
      by: { accountId, credential, address: null, requestId: null },
    });
    if (result.outcome !== "issued") throw new Error(`the first key could not be made: ${result.outcome}`);
    return result.text;
  };
}

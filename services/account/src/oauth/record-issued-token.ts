import { inTransaction, type Pool } from "@signalbox/storage";
import type { IssuedToken, IssuedTokenStore } from "./issued-token-store.ts";
import type { OauthStateStore } from "./oauth-state-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly issuedTokens: Pick<IssuedTokenStore, "insert">;
  readonly oauthState: Pick<OauthStateStore, "holdGrant">;
}

export type RecordIssuedTokenOutcome = "recorded" | "grant-ended";

/** Writes an access token down before it leaves. A grant that ends meanwhile takes the token along, or prevents it. */
export function createRecordIssuedToken({ pool, issuedTokens, oauthState }: Dependencies) {
  return function recordIssuedToken(token: IssuedToken): Promise<RecordIssuedTokenOutcome> {
    return inTransaction(pool, async (tx) => {
      if (token.grantId !== null && !(await oauthState.holdGrant(tx, token.grantId))) return "grant-ended";
      await issuedTokens.insert(tx, token);
      return "recorded";
    });
  };
}

export type RecordIssuedTokenVerb = ReturnType<typeof createRecordIssuedToken>;

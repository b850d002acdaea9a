import { builtInIssuer } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { IssuedToken, IssuedTokenStore } from "./issued-token-store.ts";
import type { OauthStateStore } from "./oauth-state-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly issuedTokens: Pick<IssuedTokenStore, "take" | "takeOfGrant">;
  readonly oauthState: Pick<OauthStateStore, "removeGrant">;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Ends access tokens before their time. Every service hears of it on the state topic and refuses them. */
export function createRevokeTokens(dependencies: Dependencies) {
  const { pool, issuedTokens, oauthState, accessLog, audit, clock } = dependencies;

  return {
    /** Ends one access token, and nothing else of what it came from. */
    revokeAccessToken(jti: string): Promise<void> {
      return inTransaction(pool, async (tx) => {
        const token = await issuedTokens.take(tx, jti);
        if (token) await end(tx, token);
      });
    },

    /** Ends what a person agreed to: refresh tokens, codes, and the access tokens that came of them. */
    revokeGrant(grantId: string): Promise<void> {
      return inTransaction(pool, async (tx) => {
        await oauthState.removeGrant(tx, grantId);
        for (const token of await issuedTokens.takeOfGrant(tx, grantId)) await end(tx, token);
      });
    },
  };

  async function end(tx: Tx, { jti, accountId, expiresAt }: IssuedToken): Promise<void> {
    const now = clock.now();
    if (expiresAt <= now) return;
    const id = `jti:${builtInIssuer}:${jti}`;
    // A token is spoken of once: its row is gone.
    await accessLog.announce(tx, { kind: "token", id, accountId, state: "revoked", epoch: 1 }, now);
    const by = ownerOf(accountId, id);
    await audit.record(tx, { action: "token.revoke", accountId, subject: id, fields: ["status"], by });
  }
}

export type RevokeTokens = ReturnType<typeof createRevokeTokens>;

/** Whoever holds a token may end it, so its holder is who did. */
const ownerOf = (accountId: string, credential: string): Actor => ({
  kind: "owner",
  accountId,
  credential,
  address: null,
  requestId: null,
});

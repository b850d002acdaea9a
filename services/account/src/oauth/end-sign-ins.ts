import { builtInIssuer } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { AccountSignInStore } from "./account-sign-in-store.ts";

interface Dependencies {
  readonly signIns: AccountSignInStore;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly clock: Clock;
}

/** Ends every sign-in that the built-in issuer keeps for an account, with the access tokens that came of it. */
export function createEndSignIns({ signIns, accessLog, clock }: Dependencies) {
  return async function endSignIns(tx: Tx, accountId: string): Promise<void> {
    const now = clock.now();
    await signIns.removeState(tx, accountId);
    for (const { jti, expiresAt } of await signIns.takeTokens(tx, accountId)) {
      if (expiresAt <= now) continue;
      const id = `jti:${builtInIssuer}:${jti}`;
      await accessLog.announce(tx, { kind: "token", id, accountId, state: "revoked", epoch: 1 }, now);
    }
  };
}

export type EndSignIns = ReturnType<typeof createEndSignIns>;

import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccessLog } from "./access-log.ts";

interface Dependencies {
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly clock: Clock;
}

/**
 * Makes every service ask again who the account's credentials are, since something about one of them has changed;
 * answers the account with its next epoch, for the caller to save. Said of the account and not of the one credential:
 * the state topic then has as many keys as accounts, however often people prove who they are.
 */
export function createAskAgain({ accessLog, clock }: Dependencies) {
  return async function askAgain(tx: Tx, account: Account): Promise<Account> {
    const { id, status: state } = account;
    const epoch = account.accessEpoch + 1;
    await accessLog.announce(tx, { kind: "account", id, accountId: id, state, epoch }, clock.now());
    return { ...account, accessEpoch: epoch };
  };
}

export type AskAgain = ReturnType<typeof createAskAgain>;

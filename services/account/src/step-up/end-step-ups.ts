import type { Tx } from "@signalbox/storage";
import type { AskAgain } from "../access/ask-again.ts";
import type { Account } from "../accounts/account.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { StepUpStore } from "./step-up-store.ts";

interface Dependencies {
  readonly stepUps: Pick<StepUpStore, "endAll">;
  readonly oneTimeCodes: Pick<OneTimeCodes, "endAll">;
  readonly askAgain: AskAgain;
}

/** Nothing counts any more that a code proved, and no code that is on its way; answers the account to be saved. */
export function createEndStepUps({ stepUps, oneTimeCodes, askAgain }: Dependencies) {
  return async function endStepUps(tx: Tx, account: Account): Promise<Account> {
    await stepUps.endAll(tx, account.id);
    await oneTimeCodes.endAll(tx, account.id);
    return askAgain(tx, account);
  };
}

export type EndStepUps = ReturnType<typeof createEndStepUps>;

import { type Principal, requireState } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountChanged } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { EndConfirmation } from "./end-confirmation.ts";
import { withPendingCancelled } from "./move-contact.ts";

export interface CancelContactChange {
  readonly principal: Principal;
  readonly by: Actor;
  /** Looks at the locked account before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (account: Account) => void;
  /** Runs in the transaction of the change. */
  readonly alongside?: (tx: Tx) => Promise<void>;
}

export type CancelContactChangeOutcome = { outcome: "cancelled"; account: Account } | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly endConfirmation: EndConfirmation;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Gives up the address that waits; the one in use stays. Where nothing waits, nothing happens. */
export function createCancelContactChange(dependencies: Dependencies) {
  const { pool, accounts, endConfirmation, outbox, audit, clock } = dependencies;

  return function cancelContactChange(input: CancelContactChange): Promise<CancelContactChangeOutcome> {
    const { principal, by } = input;
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "own-account:write");
      input.expect?.(account);
      const changed = withPendingCancelled(account, clock.now());
      const { accountFields: fields } = changed;
      if (fields.length > 0) {
        await accounts.save(tx, changed.account);
        await endConfirmation(tx, account.id);
        await audit.record(tx, { action: "account.contact_cancel", accountId: account.id, fields, by });
        await outbox.append(tx, accountChanged(changed));
      }
      await input.alongside?.(tx);
      return { outcome: "cancelled", account: changed.account };
    });
  };
}

export type CancelContactChangeVerb = ReturnType<typeof createCancelContactChange>;

import { type Principal, requireState, requireStepUp } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Actor, Audit } from "../audit/audit.ts";
import type { Account } from "./account.ts";
import { accountChanged } from "./account-events.ts";
import type { AccountStore } from "./account-store.ts";
import { type AccountChanges, changeAccount, touchesContact } from "./change-account.ts";

export interface UpdateAccount {
  readonly principal: Principal;
  readonly changes: AccountChanges;
  readonly by: Actor;
  /** Looks at the locked account before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (account: Account) => void;
  /** Runs in the transaction of the change, as the stored answer of an `Idempotency-Key` does. */
  readonly alongside?: (tx: Tx, account: Account) => Promise<void>;
}

export type UpdateAccountOutcome =
  | { outcome: "updated"; account: Account }
  | { outcome: "unchanged"; account: Account }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: AccountStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Changes the caller's account or its settings. A write that changes nothing leaves no trace. */
export function createUpdateAccount({ pool, accounts, outbox, audit, clock }: Dependencies) {
  return function updateAccount(input: UpdateAccount): Promise<UpdateAccountOutcome> {
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, input.principal.accountId);
      if (!account) return { outcome: "not-found" };
      // The edge knows the state as of moments ago; the row knows it now.
      requireState({ ...input.principal, state: account.status }, "own-account:write");
      input.expect?.(account);

      const changed = changeAccount(account, input.changes, clock.now());
      const fields = [...new Set([...changed.accountFields, ...changed.settingsFields])];
      if (touchesContact(changed)) requireStepUp(input.principal, clock);
      if (fields.length > 0) {
        await accounts.save(tx, changed.account);
        await audit.record(tx, { action: "account.update", accountId: account.id, fields, by: input.by });
        await outbox.append(tx, accountChanged(changed));
      }
      await input.alongside?.(tx, changed.account);
      return { outcome: fields.length > 0 ? "updated" : "unchanged", account: changed.account };
    });
  };
}

export type UpdateAccountVerb = ReturnType<typeof createUpdateAccount>;

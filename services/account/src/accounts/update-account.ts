import { type Principal, requireState, requireStepUp } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { type Pool, requireTransaction, type Tx, writeRow } from "@signalbox/storage";
import type { Actor, Audit } from "../audit/audit.ts";
import type { ContactChanges } from "../contacts/contact-changes.ts";
import type { Account } from "./account.ts";
import { accountChanged } from "./account-events.ts";
import type { AccountStore } from "./account-store.ts";
import { type AccountChanges, type ChangedAccount, changeAccount, touchesContact } from "./change-account.ts";

export interface UpdateAccount {
  readonly principal: Principal;
  readonly changes: AccountChanges;
  readonly by: Actor;
  /** Looks at the account as it is before it changes; throws to refuse, as `If-Match` does. */
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
  readonly contactChanges: Pick<ContactChanges, "request">;
}

/**
 * Changes the caller's account or its settings. A write that changes nothing leaves no trace. Hardly ever do two writes of
 * one account meet, so it is first tried without a lock; a change of address has to know how many were tried, and so
 * needs one.
 */
export function createUpdateAccount({ pool, accounts, outbox, audit, clock, contactChanges }: Dependencies) {
  return async function updateAccount(input: UpdateAccount): Promise<UpdateAccountOutcome> {
    const { accountId } = input.principal;
    const written = await writeRow(pool, {
      read: () => accounts.find(accountId),
      lock: (tx) => accounts.lock(tx, accountId),
      change: (tx, account) => change(tx, account, input),
    });
    return written ? written.result : { outcome: "not-found" };
  };

  async function change(tx: Tx, before: Account, input: UpdateAccount): Promise<UpdateAccountOutcome> {
    const { principal, changes, by } = input;
    // The edge knows the state as of moments ago; the row knows it now.
    requireState({ state: before.status }, "own-account:write");
    input.expect?.(before);
    const changed = changeAccount(before, changes, clock.now());
    const { account } = changed;
    const fields = fieldsOf(changed);
    if (touchesContact(changed)) {
      requireStepUp(principal, clock);
      requireTransaction(tx);
    }
    if (fields.length > 0) {
      await accounts.save(tx, account);
      if (touchesContact(changed)) await contactChanges.request(tx, before, account);
      await audit.record(tx, { action: "account.update", accountId: account.id, fields, by });
      await outbox.append(tx, accountChanged(changed));
    }
    await input.alongside?.(tx, account);
    return { outcome: fields.length > 0 ? "updated" : "unchanged", account };
  }
}

const fieldsOf = ({ accountFields, settingsFields }: ChangedAccount): string[] => [
  ...new Set([...accountFields, ...settingsFields]),
];

export type UpdateAccountVerb = ReturnType<typeof createUpdateAccount>;

import { type Principal, requireState, requireStepUp } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inOneStatement, inTransaction, type Pool, type Tx, type Write } from "@signalbox/storage";
import type { Actor, Audit } from "../audit/audit.ts";
import type { FollowContactChange } from "../contacts/follow-contact-change.ts";
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
  readonly followContactChange: FollowContactChange;
}

/**
 * Changes the caller's account or its settings. A write that changes nothing leaves no trace.
 *
 * Hardly ever do two writes of one account meet, so the first attempt takes no lock: it reads, and then writes the
 * change, its audit entry and its event in one statement that holds only for the row that was read. Whoever came too
 * late for that begins again behind a lock, as does a change of address, which has to know how many were tried.
 */
export function createUpdateAccount(dependencies: Dependencies) {
  const { pool, accounts, outbox, audit, clock, followContactChange } = dependencies;

  return async function updateAccount(input: UpdateAccount): Promise<UpdateAccountOutcome> {
    return (await withoutLock(input)) ?? inTransaction(pool, (tx) => behindLock(tx, input));
  };

  async function withoutLock(input: UpdateAccount): Promise<UpdateAccountOutcome | null> {
    const found = await accounts.read(input.principal.accountId);
    if (!found) return { outcome: "not-found" };
    const changed = decide(input, found.account);
    if (fieldsOf(changed).length === 0 || touchesContact(changed)) return null;
    const save: Write = (tx) => accounts.saveAsRead(tx, changed.account, found.version);
    const written = await inOneStatement(pool, [save, ...announcing(changed, input)]);
    return written ? { outcome: "updated", account: changed.account } : null;
  }

  async function behindLock(tx: Tx, input: UpdateAccount): Promise<UpdateAccountOutcome> {
    const account = await accounts.lock(tx, input.principal.accountId);
    if (!account) return { outcome: "not-found" };
    const changed = decide(input, account);
    if (fieldsOf(changed).length === 0) {
      await input.alongside?.(tx, account);
      return { outcome: "unchanged", account };
    }
    await accounts.save(tx, changed.account);
    await followContactChange(tx, account, changed.account);
    for (const write of announcing(changed, input)) await write(tx);
    return { outcome: "updated", account: changed.account };
  }

  function decide({ principal, changes, expect }: UpdateAccount, account: Account): ChangedAccount {
    // The edge knows the state as of moments ago; the row knows it now.
    requireState({ state: account.status }, "own-account:write");
    expect?.(account);
    const changed = changeAccount(account, changes, clock.now());
    if (touchesContact(changed)) requireStepUp(principal, clock);
    return changed;
  }

  /** What goes with a change: its audit entry, its event, and the stored answer. */
  function announcing(changed: ChangedAccount, { by, alongside }: UpdateAccount): Write[] {
    const { account } = changed;
    return [
      (tx) => audit.record(tx, { action: "account.update", accountId: account.id, fields: fieldsOf(changed), by }),
      (tx) => outbox.append(tx, accountChanged(changed)),
      ...(alongside ? [(tx: Tx) => alongside(tx, account)] : []),
    ];
  }
}

const fieldsOf = ({ accountFields, settingsFields }: ChangedAccount): string[] => [
  ...new Set([...accountFields, ...settingsFields]),
];

export type UpdateAccountVerb = ReturnType<typeof createUpdateAccount>;

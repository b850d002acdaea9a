import { type Principal, requireStepUp } from "@signalbox/auth";
import type { AccountState } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccessLog } from "../access/access-log.ts";
import type { Account } from "../accounts/account.ts";
import { accountStatusChanged } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { AccountAction, Actor, Audit } from "../audit/audit.ts";
import { changeStatus } from "./change-status.ts";

export interface ChangeAccountStatus {
  readonly accountId: string;
  readonly to: AccountState;
  readonly reason: string | null;
  /** Who asks; a deletion needs their recent sign-in. Null for the product and its operators. */
  readonly principal: Principal | null;
  readonly by: Actor;
  /** Looks at the locked account before it changes; throws to refuse, as `If-Match` does. */
  readonly expect?: (account: Account) => void;
  /** Runs in the transaction of the change. */
  readonly alongside?: (tx: Tx, account: Account) => Promise<void>;
}

export type ChangeAccountStatusOutcome =
  | { outcome: "changed"; account: Account }
  | { outcome: "no-such-transition"; from: AccountState }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly accessLog: Pick<AccessLog, "announce">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

const actions: Readonly<Record<Exclude<AccountState, "pending">, AccountAction>> = {
  active: "account.activate",
  suspended: "account.suspend",
  disabled: "account.disable",
  deleted: "account.delete",
};

/** Moves an account to another state. Every service hears of it on the state topic and holds to it within seconds. */
export function createChangeAccountStatus(dependencies: Dependencies) {
  const { pool, accounts, clock } = dependencies;

  return function changeAccountStatus(input: ChangeAccountStatus): Promise<ChangeAccountStatusOutcome> {
    const { accountId, to, reason, principal, by } = input;
    if (to === "deleted" && principal) requireStepUp(principal, clock);
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, accountId);
      if (!account) return { outcome: "not-found" };
      input.expect?.(account);
      const moved = changeStatus(account, { to, actor: by.kind, reason }, clock.now());
      if (!moved) return { outcome: "no-such-transition", from: account.status };
      await write(tx, account, moved, by);
      await input.alongside?.(tx, moved);
      return { outcome: "changed", account: moved };
    });
  };

  async function write(tx: Tx, before: Account, moved: Account, by: Actor): Promise<void> {
    const { accessLog, outbox, audit } = dependencies;
    const { id, status: state, statusReason: reason, accessEpoch: epoch } = moved;
    // No state leads back to pending.
    const action = actions[state as Exclude<AccountState, "pending">];
    await accounts.save(tx, moved);
    await audit.record(tx, { action, accountId: id, fields: ["status"], reason, by });
    await outbox.append(tx, [accountStatusChanged(moved, before.status, by.kind)]);
    await accessLog.announce(tx, { kind: "account", id, accountId: id, state, epoch }, moved.updatedAt);
  }
}

export type ChangeAccountStatusVerb = ReturnType<typeof createChangeAccountStatus>;

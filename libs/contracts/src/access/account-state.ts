/** The states of an account (CONTRACT §1). */
export const accountStates = ["pending", "active", "suspended", "disabled", "deleted"] as const;

export type AccountState = (typeof accountStates)[number];

/**
 * The kinds of access to an account. The `own-account` kinds cover the account record and its settings; `recovery`
 * requests the recovery of a disabled account, `deletion` ends the own account; `subscribe` receives changes as they
 * happen, which ends with a suspension.
 */
export type AccessKind =
  | "read"
  | "write"
  | "own-account:read"
  | "own-account:write"
  | "recovery"
  | "deletion"
  | "subscribe";

/** The actors that move an account from one state to another. `system` is the product itself, as on a verified contact. */
export type TransitionActor = "owner" | "administrator" | "system";

interface StateRules {
  readonly may: readonly AccessKind[];
  readonly leavesTo: Readonly<Partial<Record<AccountState, readonly TransitionActor[]>>>;
}

/** CONTRACT §1 as data: the access that each state permits, the states it leads to, and the actors that may move it. */
export const accountStateRules: Readonly<Record<AccountState, StateRules>> = {
  pending: {
    may: ["read", "own-account:read", "own-account:write", "deletion", "subscribe"],
    leavesTo: { active: ["system", "administrator"], deleted: ["owner", "administrator"] },
  },
  active: {
    may: ["read", "write", "own-account:read", "own-account:write", "deletion", "subscribe"],
    leavesTo: {
      suspended: ["administrator"],
      disabled: ["owner", "administrator"],
      deleted: ["owner", "administrator"],
    },
  },
  suspended: {
    may: ["read", "own-account:read"],
    leavesTo: { active: ["administrator"], disabled: ["administrator"], deleted: ["administrator"] },
  },
  disabled: {
    may: ["own-account:read", "recovery", "deletion"],
    leavesTo: { active: ["administrator"], deleted: ["owner", "administrator"] },
  },
  deleted: {
    may: [],
    // Only until the purge; afterwards the identity starts anew.
    leavesTo: { active: ["administrator"] },
  },
};

/** Returns true when an account in `state` permits the access; scopes are judged separately. */
export function mayAccess(state: AccountState, access: AccessKind): boolean {
  return accountStateRules[state].may.includes(access);
}

/** Returns true when `actor` may move an account from one state to the other. A state never leads to itself. */
export function mayTransition(from: AccountState, to: AccountState, actor: TransitionActor): boolean {
  return accountStateRules[from].leavesTo[to]?.includes(actor) ?? false;
}

import type { AccountState, Scope } from "@signalbox/contracts";
import { AppError, type Clock, minutes } from "@signalbox/core";
import type { Principal } from "./principal.ts";

/**
 * What a route does, as far as the account's state is concerned. The `own-account` kinds are for the account resource
 * and its settings alone: a pending account may edit them, a disabled one may still read them.
 */
export type Access = "read" | "write" | "own-account:read" | "own-account:write";

/** CONTRACT §1, the table of account states: what is left to an account in each. Scopes narrow it further. */
export const accessOfState: Readonly<Record<AccountState, readonly Access[]>> = {
  pending: ["read", "own-account:read", "own-account:write"],
  active: ["read", "write", "own-account:read", "own-account:write"],
  suspended: ["read", "own-account:read"],
  disabled: ["own-account:read"],
  deleted: [],
};

/** How old a sign-in may be for a sensitive change. */
export const stepUpMaxAgeMs = minutes(15);

/** Throws `forbidden` unless the principal has every one of `scopes`. */
export function requireScopes(principal: Principal, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !principal.scopes.has(scope));
  if (missing.length === 0) return;
  throw new AppError("forbidden", `This needs the scope ${missing.join(" and ")}.`, {
    details: missing.map((scope) => ({
      field: "scope",
      code: "scope_required",
      message: `The scope ${scope} is required.`,
    })),
  });
}

/** Throws `forbidden` when the account's state leaves no room for `access`. */
export function requireState(principal: Principal, access: Access): void {
  if (accessOfState[principal.state].includes(access)) return;
  throw new AppError("forbidden", `The account is ${principal.state}.`, {
    details: [{ field: "status", code: `account_${principal.state}`, message: `The account is ${principal.state}.` }],
  });
}

/**
 * Throws `forbidden` with the detail `step_up_required` unless the caller proved who they are at most 15 minutes ago,
 * or the credential is an API key with `account:security`.
 */
export function requireStepUp(principal: Principal, clock: Clock): void {
  const { kind, authTimeMs } = principal.credential;
  if (kind === "api-key" && principal.scopes.has("account:security")) return;
  if (kind === "token" && authTimeMs !== null && clock.nowMs() - authTimeMs <= stepUpMaxAgeMs) return;
  throw new AppError("forbidden", "This change needs a recent sign-in.", {
    details: [{ field: "authorization", code: "step_up_required", message: "Sign in again, then repeat the request." }],
  });
}

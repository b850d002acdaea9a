import { type AccessKind, mayAccess, type Scope } from "@signalbox/contracts";
import { AppError, type Clock, type ErrorDetail, minutes } from "@signalbox/core";
import type { Principal, Viewer } from "./principal.ts";

/** Largest age of a sign-in that permits a sensitive change. */
export const stepUpMaxAgeMs = minutes(15);

/**
 * Throws `forbidden` for a portal session and for a client key, unless what is asked for admits them. Every edge asks
 * here, so that both are refused by whatever does not name them.
 */
export function requireAdmitted(
  principal: Principal,
  { portal = false, client = false }: { readonly portal?: boolean | undefined; readonly client?: boolean } = {},
): void {
  requirePortal(principal, portal);
  if (!client) requireMoreThanClient(principal);
}

/** Throws `forbidden` for a portal session, unless what is asked for admits them. */
export function requirePortal({ portal, state }: Principal, admits: boolean): void {
  if (portal === undefined) return;
  if (admits && state === "active") return;
  const message = admits
    ? "The account of this portal session is not active."
    : "A portal session can only see its endpoints and their deliveries.";
  throw new AppError("forbidden", message, { details: [{ field: "authorization", code: "portal_session", message }] });
}

/** Returns true for an API key without scopes: it is in the hands of everybody, and evaluates flags alone. */
export const isClientKey = ({ credential, scopes }: Principal): boolean =>
  credential.kind === "api-key" && scopes.size === 0;

function requireMoreThanClient(principal: Principal): void {
  if (!isClientKey(principal)) return;
  const message = "A key without scopes can only evaluate flags marked client.";
  throw new AppError("forbidden", message, { details: [{ field: "authorization", code: "client_key", message }] });
}

/**
 * Throws `forbidden` for a member where an operation belongs to the account's own person: its logins, addresses, devices
 * and its end. Whoever could change those could become that person.
 */
export function requireOwnAccount({ member }: Principal): void {
  if (member === undefined) return;
  const message = "This belongs to the person whose account it is. A member cannot see or change it.";
  throw new AppError("forbidden", message, { details: [{ field: "account", code: "not_owner", message }] });
}

/** Returns true when the caller may see the rows of an endpoint of its account. */
export const seesEndpoint = ({ portal }: Viewer, endpointId: string): boolean =>
  portal === undefined || portal.endpointIds === null || portal.endpointIds.includes(endpointId);

/**
 * Throws `forbidden` unless the principal has every one of `scopes`, and for a portal session where none is admitted.
 */
export function requireScopes(
  principal: Principal,
  scopes: readonly Scope[],
  { portal = false }: { readonly portal?: boolean | undefined } = {},
): void {
  requirePortal(principal, portal);
  const missing = scopes.filter((scope) => !principal.scopes.has(scope));
  if (missing.length === 0) return;
  throw new AppError("forbidden", `The scope ${missing.join(" and ")} is required.`, {
    details: missing.map((scope) => ({
      field: "scope",
      code: "scope_required",
      message: `The scope ${scope} is required.`,
    })),
  });
}

/**
 * Throws like `requireScopes`, unless the principal has all of `ofOwn`, which admit to what belongs to its own account:
 * the operation finds out whether it does.
 */
export function requireEitherScopes(
  principal: Principal,
  { scopes, scopesOfOwn }: { readonly scopes: readonly Scope[]; readonly scopesOfOwn?: readonly Scope[] | null },
  portal: { readonly portal?: boolean | undefined } = {},
): void {
  const isOwner = scopesOfOwn?.every((scope) => principal.scopes.has(scope));
  requireScopes(principal, isOwner ? [] : scopes, portal);
}

type StateOfAccount = Pick<Principal, "state" | "stateChange">;

/** Describes the state to the account's owner: since when it holds, and the reason that was given. */
export function describeState({ state, stateChange }: StateOfAccount): string {
  if (!stateChange) return `The account is ${state}.`;
  const { atMs, reason } = stateChange;
  const since = `The account has been ${state} since ${new Date(atMs).toISOString()}.`;
  return reason === null ? since : `${since} Reason: ${reason}`;
}

/** Throws `forbidden` when the account's state does not permit `access` (CONTRACT §1). Scopes restrict it further. */
export function requireState(account: StateOfAccount, access: AccessKind): void {
  const refusal = stateRefusal(account, access);
  if (refusal) throw refusal;
}

/** Creates the refusal of `requireState` for a later throw; null when the state permits the access. */
export function stateRefusal(account: StateOfAccount, access: AccessKind): AppError | null {
  const { state } = account;
  if (mayAccess(state, access)) return null;
  const message = describeState(account);
  return new AppError("forbidden", message, { details: [{ field: "status", code: `account_${state}`, message }] });
}

/**
 * Throws `forbidden` with the detail `step_up_required` unless the caller signed in within the last 15 minutes, or the
 * credential is an API key or a portal session with `account:security`.
 */
export function requireStepUp(principal: Principal, clock: Clock): void {
  if (hasNoPerson.includes(principal.credential.kind) && principal.scopes.has("account:security")) return;
  if (recentUntil(principal, clock) !== null) return;
  throw new AppError("forbidden", "This change needs a recent sign-in.", {
    details: [{ field: "authorization", code: stepUpRequired, message: "Sign in again, then repeat the request." }],
  });
}

/** Returns the end of the time in which the caller's sign-in counts as recent; null for one that does not. */
export function recentUntil({ credential: { kind, authTimeMs } }: Principal, clock: Clock): Date | null {
  if (kind !== "token" || authTimeMs === null) return null;
  const endMs = authTimeMs + stepUpMaxAgeMs;
  return clock.nowMs() <= endMs ? new Date(endMs) : null;
}

/** Credentials that no person can confirm; a portal session got the scope from a caller with a recent sign-in. */
const hasNoPerson: readonly string[] = ["api-key", "portal"] satisfies Principal["credential"]["kind"][];

const stepUpRequired = "step_up_required";

/**
 * Returns the challenge (RFC 9470 §3) for a refusal that requires a recent sign-in; null for any other. A client that
 * knows it asks its issuer again with this `max_age`.
 */
export function stepUpChallenge(details: readonly Pick<ErrorDetail, "code">[] = []): string | null {
  if (!details.some(({ code }) => code === stepUpRequired)) return null;
  const maxAge = stepUpMaxAgeMs / 1000;
  const reason = 'error="insufficient_user_authentication", error_description="A recent sign-in is required"';
  return `Bearer realm="signalbox", ${reason}, max_age="${maxAge}"`;
}

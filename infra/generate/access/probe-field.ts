import type { Principal } from "@signalbox/auth";
import { type AccountState, accountStates, type Scope } from "@signalbox/contracts";
import { type AppError, isAppError } from "@signalbox/core";
import type { Resolvers } from "@signalbox/graphql";
import { standIn } from "./stand-in.ts";

/** Whom a field lets in. */
export interface FieldAccess {
  readonly anonymous: boolean;
  readonly scopes: readonly Scope[];
  readonly states: readonly AccountState[];
  readonly stepUp: boolean;
}

type Resolve = Resolvers<unknown>[string][string];

const accountId = "acc_probe";

/**
 * Finds out whom a field lets in by asking it: as nobody, with fewer scopes than it wants, from an account in each state,
 * without a recent sign-in. What it would do afterwards is done by stand-ins. Null for a field that lets in everybody
 * who may see its parent.
 */
export async function probeField(resolve: Resolve): Promise<FieldAccess | null> {
  const anonymous = (await refusal(resolve, null)) === null;
  const scopes: Scope[] = [];
  for (let missing = await missingScopes(resolve, scopes); missing.length > 0; ) {
    scopes.push(...missing);
    missing = await missingScopes(resolve, scopes);
  }
  const states: AccountState[] = [];
  for (const state of accountStates) {
    const codes = await codesOf(resolve, caller({ state, scopes }));
    if (!codes.includes(`account_${state}`)) states.push(state);
  }
  const stepUp = (await codesOf(resolve, caller({ scopes }))).includes("step_up_required");
  const isOpen = anonymous && states.length === accountStates.length;
  return isOpen ? null : { anonymous, scopes, states, stepUp };
}

async function missingScopes(resolve: Resolve, scopes: readonly Scope[]): Promise<Scope[]> {
  const error = await refusal(resolve, caller({ scopes }));
  const wanted = error?.details.filter(({ code }) => code === "scope_required") ?? [];
  return wanted.flatMap(({ message }) => (/[a-z]+:[a-z]+/.exec(message)?.[0] as Scope | undefined) ?? []);
}

async function codesOf(resolve: Resolve, principal: Principal): Promise<string[]> {
  return (await refusal(resolve, principal))?.details.map(({ code }) => code) ?? [];
}

/** The refusal this caller gets; null when they get past it, whatever the stand-ins make of it then. */
async function refusal(resolve: Resolve, principal: Principal | null): Promise<AppError | null> {
  const caller = () => principal && { ...principal, requestId: "probe", clientAddress: null };
  const parts = { requestId: "probe", clientAddress: null, loaders: standIn, clock: standIn, write: standIn };
  const context = { ...parts, principal, caller: caller() as never, inTransaction: standIn };
  try {
    await resolve({ id: accountId }, { input: {} }, context);
    return null;
  } catch (error) {
    return isAppError(error) && (error.code === "forbidden" || error.code === "unauthorized") ? error : null;
  }
}

function caller({ state = "active", scopes }: { state?: AccountState; scopes: readonly Scope[] }): Principal {
  return {
    accountId,
    state,
    epoch: 1,
    scopes: new Set(scopes),
    roles: [],
    // A sign-in of nobody knows when.
    credential: { kind: "token", id: "jti:probe", authTimeMs: null },
    expiresAt: null,
  };
}

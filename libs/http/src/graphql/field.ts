import {
  type Caller,
  requireAdmitted,
  requireEitherScopes,
  requireOwnAccount,
  requireState,
  requireStepUp,
} from "@signalbox/auth";
import type { AccessKind, Audited, Scope } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import type { z } from "zod";
import { textFlaws } from "../request/text-flaws.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

/**
 * The required authorization of a field. `access` is judged against the account's state: by default `read`, `write` for
 * a mutation.
 */
export interface FieldAccess {
  readonly scopes: readonly Scope[];
  /** Scopes that suffice for what belongs to the caller's own account: the operation checks that it does. */
  readonly scopesOfOwn?: readonly Scope[];
  readonly access?: AccessKind;
  /** Requires a sign-in within the last 15 minutes, or a key with `account:security`. */
  readonly stepUp?: true;
  /** Describes the changes that require a step-up: the operation checks it once it knows the change. */
  readonly stepUpFor?: string;
  /** Admits anonymous callers too. */
  readonly optional?: true;
  /** Restricts a field of an account to the account itself; everyone else gets `FORBIDDEN`. */
  readonly ownOnly?: true;
  /** Refuses members: it belongs to the person whose account it is. */
  readonly ownAccount?: true;
  /** Requirements to see a field of other accounts. For everyone else it is null, as if it were missing. */
  readonly ofOthers?: { readonly scopes: readonly Scope[]; readonly access: AccessKind };
  /** The audit action of a mutation, or of a read that leaves an entry; or the reason why a mutation leaves none. */
  readonly audit?: Audited | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a resolver's parent and arguments are typed by the schema, not by TypeScript.
export type Resolve = (parent: any, args: any, context: SubgraphContext) => unknown;

/** A resolver with its declared access. */
export interface Field extends Resolve {
  readonly declared: FieldAccess;
  /** The rules of the argument `input` of a mutation, where they are the same for every caller. */
  readonly rules?: z.ZodType;
}

/**
 * Declares the access of a field; a refused caller never reaches `resolve`. Root fields and entities must be declared.
 * Others may be plain functions, which are open to every caller that may see their parent.
 */
export function field<Parent, Args>(
  declared: FieldAccess,
  resolve: (parent: Parent, args: Args, context: SubgraphContext) => unknown,
): Field {
  const access = { access: "read", ...declared } as const;
  return declare(access, (parent, args, context) => {
    if (!isLetIn(access, parent, context)) return null;
    assertTexts(args as object);
    return resolve(parent, args, context);
  });
}

/**
 * Refuses arguments with a text that no database stores. An input is judged as a whole, by its schema.
 * @throws AppError `validation_error`
 */
export function assertTexts(args: object): void {
  const details = textFlaws(args);
  if (details.length > 0) throw new AppError("validation_error", "An argument is not valid.", { details });
}

/** Recognizes a resolver created by `field`, `mutation` or `connectionField`. */
export const isDeclared = (resolve: Resolve): resolve is Field => "declared" in resolve;

export function declare(declared: FieldAccess, resolve: Resolve): Field {
  return Object.assign(resolve, { declared });
}

/**
 * Checks the access of a caller. @throws AppError `unauthorized` or `forbidden`. Returns false for a field that reads
 * as missing.
 */
export function isLetIn(
  { access = "read", stepUp, optional, ownAccount, ownOnly, ofOthers, ...declared }: FieldAccess,
  parent: unknown,
  context: SubgraphContext,
): boolean {
  if (context.principal === null && optional) return true;
  const { caller } = context;
  requireAdmitted(caller);
  if (ownAccount) requireOwnAccount(caller);
  if (ofOthers && isOther(parent, caller) && ofOthers.scopes.every((scope) => caller.scopes.has(scope))) {
    requireState(caller, ofOthers.access);
    return true;
  }
  requireState(caller, access);
  requireEitherScopes(caller, declared);
  if (ownOnly && isOther(parent, caller)) throw notOwner();
  if (stepUp) requireStepUp(caller, context.clock);
  return !(ofOthers && isOther(parent, caller));
}

/** Creates the refusal of a field that an account shows only to itself. */
export function notOwner(): AppError {
  const message = "Only the owner of the account can see this.";
  return new AppError("forbidden", message, { details: [{ field: "account", code: "not_owner", message }] });
}

const isOther = (account: unknown, { accountId }: Caller): boolean => (account as { id?: string }).id !== accountId;

import type { Scope } from "./scopes.ts";

/** The audiences of configuration: everyone, signed-in accounts, and operators. */
export type Audience = "public" | "account" | "operator";

/** The audiences that each kind of reader belongs to, at every edge: REST, streams and the graph. */
const audiencesOf: Readonly<Record<Audience, readonly Audience[]>> = {
  public: ["public"],
  account: ["public", "account"],
  operator: ["public", "account", "operator"],
};

/** Returns the audience of a reader by its scopes; null for an anonymous one. `config:read` makes no operator. */
export function audienceOf(scopes: ReadonlySet<Scope> | null): Audience {
  if (scopes === null) return "public";
  return scopes.has("config:admin") ? "operator" : "account";
}

/** Returns true when the reader may see what is declared for an audience; without a declaration it is for operators. */
export const isVisibleTo = (reader: Audience, declared: Audience = "operator"): boolean =>
  audiencesOf[reader].includes(declared);

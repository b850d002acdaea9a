/** Everything a credential can be allowed to do (CONTRACT §1). */
export const scopes = [
  "account:read",
  "account:write",
  "account:security",
  "account:admin",
  "images:read",
  "images:write",
  "config:read",
  "config:admin",
  "env:read",
  "webhooks:read",
  "webhooks:write",
  "events:publish",
  "management:read",
  "operations:read",
  "operations:write",
] as const;

/** Scopes that readers of events refuse, because they came after the first version of the events that list scopes. */
const laterScopes: ReadonlySet<string> = new Set(["operations:read", "operations:write"] satisfies Scope[]);

type LaterScope = "operations:read" | "operations:write";

/** The scopes that the first version of an event may list; `all_scopes` beside them has the others too. */
export const eventScopes = scopes.filter((scope): scope is Exclude<Scope, LaterScope> => !laterScopes.has(scope));

/** Returns the members of an event that list the scopes of a credential. */
export const scopesInEvent = (all: readonly Scope[]) => ({
  scopes: eventScopes.filter((scope) => all.includes(scope)),
  all_scopes: [...all],
});

export type Scope = (typeof scopes)[number];

const known: ReadonlySet<string> = new Set(scopes);

/** Recognizes the name of a scope. */
export function isScope(text: string): text is Scope {
  return known.has(text);
}

/** Scopes that a token's own `scope` claim never grants: only a mapped role or an API key does. */
export const privilegedScopes: ReadonlySet<Scope> = new Set<Scope>([
  "account:admin",
  "config:admin",
  "management:read",
  "operations:read",
  "operations:write",
]);

/** The roles an issuer's claim can be mapped to (CONTRACT §1). */
export const roles = ["viewer", "owner", "operator", "admin"] as const;

export type Role = (typeof roles)[number];

const viewer: readonly Scope[] = ["account:read", "images:read", "webhooks:read", "config:read"];

const granted: Readonly<Record<Role, readonly Scope[]>> = {
  viewer,
  owner: [...viewer, "account:write", "images:write", "webhooks:write", "account:security", "events:publish"],
  operator: [...viewer, "env:read", "config:admin", "management:read"],
  admin: scopes,
};

/** The scopes that a role brings. */
export function scopesOfRole(role: Role): readonly Scope[] {
  return granted[role];
}

/** Recognizes the name of a role. */
export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}

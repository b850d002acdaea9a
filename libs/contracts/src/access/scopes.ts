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
] as const;

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

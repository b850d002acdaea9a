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

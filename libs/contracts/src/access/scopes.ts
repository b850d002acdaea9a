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
const laterScopes = ["operations:read", "operations:write"] as const satisfies readonly Scope[];

type FirstScope = Exclude<Scope, (typeof laterScopes)[number]>;

/** The scopes that the first version of an event may list; `all_scopes` beside them has the others too. */
export const eventScopes = scopes.filter((scope): scope is FirstScope => !laterScopes.some((later) => later === scope));

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

/** The roles of people in an account that is not their own. */
export const memberRoles = ["viewer", "developer", "owner"] as const;

export type MemberRole = (typeof memberRoles)[number];

/** The roles that an invitation brings: in this deployment, or in the inviting account. */
export const invitationRoles = [...roles, "developer"] as const;

const ofMember: Readonly<Record<MemberRole, readonly Scope[]>> = {
  viewer,
  developer: granted.owner.filter((scope) => scope !== "account:security"),
  owner: granted.owner,
};

/** The scopes that a member has at most, whatever their own account may do. */
export const scopesOfMember = (role: MemberRole): readonly Scope[] => ofMember[role];

/** Recognizes the name of a member's role. */
export function isMemberRole(text: string): text is MemberRole {
  return (memberRoles as readonly string[]).includes(text);
}

/** Recognizes the name of a role. */
export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text);
}

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

import { type Scope, scopes } from "./scopes.ts";

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

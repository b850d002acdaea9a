import { type Role, roles, scopes } from "@signalbox/contracts";
import { z } from "zod";

/** Algorithms with public keys only: shared secrets and unsigned tokens are never accepted. */
const tokenAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** Our name of the built-in issuer, which `account.issuer.enabled` switches off. */
export const builtInIssuer = "signalbox";

/** The mapping for an issuer with our own role names. */
export const ownRoleNames: Readonly<Record<string, Role>> = Object.fromEntries(roles.map((role) => [role, role]));

const Issuer = z.strictObject({
  /** Our name of the issuer. Accounts are bound to it, so the issuer may move to another address. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "use a–z, 0–9 and hyphens"),
  /** The `iss` of its tokens and the base URL of its discovery document. */
  issuer: z.url({ protocol: /^https?$/ }),
  audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  /** The claim that names the audience, where it is not `aud`: Cognito's access tokens have `client_id` alone. */
  "audience-claim": z.string().min(1).default("aud"),
  algorithms: z.array(z.enum(tokenAlgorithms)).min(1).default(["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]),
  /** The scopes that `scope` may grant; default: all those of the role `owner`. */
  "scopes-max": z.array(z.enum(scopes)).optional(),
  /** A claim that names scopes, besides `scope` and `scp`: Auth0's `permissions`, Entra ID's `roles`. */
  "scopes-claim": z.string().min(1).optional(),
  /** Prefix of our scopes in its tokens: the identifier of Cognito's resource server and a slash. */
  "scopes-prefix": z.string().min(1).optional(),
  /** The claim that names roles: its name, or a path through nested claims such as `realm_access.roles`. */
  "roles-claim": z.string().min(1).optional(),
  /** Maps the issuer's role names to ours. A missing name counts for nothing; by default our own names count. */
  roles: z.record(z.string(), z.enum(roles)).default(ownRoleNames),
  /**
   * The logins that get an account at their first use: any, or only those whose verified address was invited. People
   * with an account sign in either way.
   */
  provision: z.enum(["any", "invited"]).default("any"),
  /** The mark of a client's token: `claim` (present) or `claim=value`. Default: `sub` equals `client_id`, `azp` or `cid`. */
  "client-claim": z.string().min(1).optional(),
});

export type Issuer = z.output<typeof Issuer>;

/**
 * Parses the property `auth.issuers`: a JSON list, because an issuer is a record and properties are flat. Throws an
 * Error that names every wrong member.
 */
export function parseIssuers(text: string): readonly Issuer[] {
  const parsed = z
    .array(Issuer)
    .refine((all) => isUnique(all.map(({ name }) => name)), "two issuers have the same name")
    .refine(
      (all) => all.every(({ name }) => name !== builtInIssuer),
      `the name ${builtInIssuer} is reserved for the built-in issuer`,
    )
    .refine((all) => isUnique(all.map(({ issuer }) => issuer)), "two entries have the same issuer")
    .safeParse(json(text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the list"}: ${message}`);
  throw new Error(`auth.issuers is not valid: ${problems.join("; ")}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('auth.issuers is not JSON: expected [{ "name", "issuer", "audience", … }]', { cause: error });
  }
}

const isUnique = (values: readonly string[]): boolean => new Set(values).size === values.length;

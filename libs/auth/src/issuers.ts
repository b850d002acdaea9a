import { type Role, roles, scopes } from "@signalbox/contracts";
import { z } from "zod";

/** Only signatures that a public key checks: a shared secret or no signature at all is never a choice. */
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
] as const;

/** Our name of the issuer that runs when no other is configured. */
export const builtInIssuer = "signalbox";

/** The roles of an issuer that calls them as we do. */
export const ownRoleNames: Readonly<Record<string, Role>> = Object.fromEntries(roles.map((role) => [role, role]));

const Issuer = z.strictObject({
  /** Our name of the issuer. Accounts are bound to it, so the issuer may move to another address. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "use a–z, 0–9 and hyphens"),
  /** The `iss` of its tokens, where its discovery document is found. */
  issuer: z.url({ protocol: /^https?$/ }),
  audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  algorithms: z.array(z.enum(tokenAlgorithms)).min(1).default(["RS256", "PS256", "ES256", "EdDSA"]),
  /** The most that `scope` may grant; default: all that the role `owner` has. */
  "scopes-max": z.array(z.enum(scopes)).optional(),
  /** A claim that names scopes, besides `scope` and `scp`: Auth0's `permissions`, Entra ID's `roles`. */
  "scopes-claim": z.string().min(1).optional(),
  /** The claim that names roles: its name, or a path through nested claims such as `realm_access.roles`. */
  "roles-claim": z.string().min(1).optional(),
  /** The issuer's role names and ours. A name that is not here counts for nothing; without the member our own count. */
  roles: z.record(z.string(), z.enum(roles)).default(ownRoleNames),
  /** The mark of a client's token: `claim` (present) or `claim=value`. Default: `sub` equals `client_id`, `azp` or `cid`. */
  "client-claim": z.string().min(1).optional(),
});

export type Issuer = z.output<typeof Issuer>;

/**
 * Reads the property `auth.issuers`: a JSON list, because an issuer is a record and properties are flat.
 * Throws an Error that names every wrong member.
 */
export function parseIssuers(text: string): readonly Issuer[] {
  const parsed = z
    .array(Issuer)
    .refine((all) => isUnique(all.map(({ name }) => name)), "two issuers have one name")
    .refine(
      (all) => all.every(({ name }) => name !== builtInIssuer),
      `the name ${builtInIssuer} is the built-in issuer's`,
    )
    .refine((all) => isUnique(all.map(({ issuer }) => issuer)), "two entries have one issuer")
    .safeParse(json(text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the list"}: ${message}`);
  throw new Error(`auth.issuers is wrong: ${problems.join("; ")}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('auth.issuers is not JSON: expected [{ "name", "issuer", "audience", … }]', { cause: error });
  }
}

const isUnique = (values: readonly string[]): boolean => new Set(values).size === values.length;

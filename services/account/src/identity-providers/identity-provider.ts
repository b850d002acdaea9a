import { builtInIssuer, type Issuer } from "@signalbox/auth";
import { displayName } from "@signalbox/contracts";
import { z } from "zod";
import { canonicalAddress } from "../accounts/account-fields.ts";

const IdentityProvider = z.strictObject({
  /** Our name of it. Accounts are bound to it, as to the name of an issuer. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "use a–z, 0–9 and hyphens")
    .refine((name) => name !== builtInIssuer, `the name ${builtInIssuer} is reserved for the built-in issuer`),
  /** Shown on the sign-in page. */
  title: displayName,
  /** The `iss` of its tokens and the base URL of its discovery document. */
  issuer: z.url({ protocol: /^https?$/ }),
  client_id: z.string().min(1).max(500),
  /** Absent for a public client, which PKCE alone protects. */
  client_secret: z.string().min(1).max(1000).optional(),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/)).default(["openid", "email", "profile"]),
  /** People with an address at these domains are led there. */
  domains: z.array(z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, "use lower case")).default([]),
  /** The claim that says that the address is verified: `xms_edov` at Entra ID. */
  verified_claim: z.string().min(1).default("email_verified"),
});

/** A provider that people sign in with at the sign-in page of the built-in issuer. */
export type IdentityProvider = z.output<typeof IdentityProvider>;

/**
 * Parses the property `account.identity-providers`: a JSON list, because a provider is a record and properties are flat.
 * A name belongs to one issuer, also beside `auth.issuers`: both bind accounts to it.
 *
 * @throws Error that names every wrong member.
 */
export function parseIdentityProviders(text: string, issuers: readonly Issuer[]): readonly IdentityProvider[] {
  const parsed = z
    .array(IdentityProvider)
    .refine((all) => isUnique(all.map(({ name }) => name)), "two providers have the same name")
    .refine((all) => isUnique(all.map(({ issuer }) => issuer)), "two providers have the same issuer")
    .refine((all) => isUnique(all.flatMap(({ domains }) => domains)), "two providers have the same domain")
    .refine((all) => all.every(({ scopes }) => scopes.includes("openid")), "the scope openid is missing")
    .refine(
      (all) => all.every((one) => issuers.every(({ name, issuer }) => (one.name === name) === (one.issuer === issuer))),
      "a provider that is also in auth.issuers must have the same name and issuer there",
    )
    .safeParse(json(text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the list"}: ${message}`);
  throw new Error(`account.identity-providers is not valid: ${problems.join("; ")}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The cause would quote a secret.
    throw new Error('account.identity-providers is not JSON: expected [{ "name", "title", "issuer", "client_id", … }]');
  }
}

const isUnique = (values: readonly string[]): boolean => new Set(values).size === values.length;

/** Finds the provider that the people of an address's domain sign in with. */
export function providerOfAddress(
  providers: readonly IdentityProvider[],
  address: string,
): IdentityProvider | undefined {
  const canonical = canonicalAddress(address);
  const domain = canonical.slice(canonical.lastIndexOf("@") + 1);
  return providers.find(({ domains }) => domains.includes(domain));
}

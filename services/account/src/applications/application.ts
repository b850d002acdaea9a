import { ApplicationResource, displayName, type Scope } from "@signalbox/contracts";
import { z } from "zod";

/** An application that people sign in to through the built-in issuer. */
export interface Application {
  /** Its `client_id`. */
  readonly id: string;
  readonly name: string;
  /**
   * `browser` and `native` run where their users could read a secret, so they have none; `server` has one; `device` has
   * no browser, and its users type a code elsewhere.
   */
  readonly type: ApplicationResource["type"];
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  /** The most that its tokens may do; null for everything that the person may. */
  readonly scopes: readonly Scope[] | null;
  /** Shown where a person is asked for consent. */
  readonly logoUrl: string | null;
  /** `third` was made by somebody else than the deployment. */
  readonly party: "first" | "third";
  /** `ask` shows the person a consent page, once per sign-in. */
  readonly consent: "none" | "ask";
  /** The algorithm that signs its ID tokens. */
  readonly idTokenSignedResponseAlg: ApplicationResource["id_token_signed_response_alg"];
}

/** A first-party application without limits of its own. */
const ours = {
  postLogoutRedirectUris: [],
  scopes: null,
  logoUrl: null,
  party: "first",
  consent: "none",
  idTokenSignedResponseAlg: "RS256",
} as const;

/** The ids of the applications that every deployment has. */
const builtInIds = ["console", "cli"] as const;

/** Returns the applications that every deployment has, for its public address. */
export function builtInApplications(baseUrl: string): readonly Application[] {
  const console = `${baseUrl}/console/`;
  return [
    {
      ...ours,
      id: "console",
      name: "Console",
      type: "browser",
      // The documents and GraphiQL try routes and operations with the same sign-in.
      redirectUris: [`${console}callback`, `${baseUrl}/docs/api`, `${baseUrl}/graphql/signed-in`],
      postLogoutRedirectUris: [console],
    },
    { ...ours, id: "cli", name: "Command line", type: "device", redirectUris: [] },
  ];
}

const loopbacks: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * A redirect URI: a web address, this machine, or the application's own scheme with a dot in it (RFC 8252 §7.1), which
 * excludes `javascript:` and the like.
 */
export const redirectUri = z
  .string()
  .max(2000)
  .meta({ format: "uri" })
  // Before anything removes them: an application that sends a blank in its request would not be recognized.
  .refine((uri) => !/\s/.test(uri), { error: "a redirect must not contain spaces, not even around it", abort: true })
  .refine((uri) => URL.canParse(uri), { error: "a redirect must be an absolute URI", abort: true })
  .refine(
    (uri) => !URL.parse(uri)?.hostname.includes("*"),
    "a redirect is compared exactly and must not contain wildcards",
  )
  .refine((uri) => !uri.includes("#"), "a redirect must not have a fragment")
  .refine((uri) => {
    const { username = "", password = "" } = URL.parse(uri) ?? {};
    return username === "" && password === "";
  }, "a redirect must not have a user or password")
  .refine((uri) => {
    const { protocol = "", hostname = "" } = URL.parse(uri) ?? {};
    return protocol === "https:" || (protocol === "http:" ? loopbacks.has(hostname) : protocol.includes("."));
  }, "use https, a loopback address, or a scheme that contains a dot");

/** Returns true for a redirect to a program on the person's machine. */
function isNative(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== "https:" && (protocol !== "http:" || loopbacks.has(hostname));
}

/** An application of the property `account.oauth.applications`, which is ours and has no secret. */
const DeclaredApplication = z.strictObject({
  client_id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "use a–z, 0–9 and hyphens")
    .refine((id) => !builtInIds.some((own) => own === id), `${builtInIds.join(" and ")} are built in`),
  name: displayName,
  redirect_uris: z.array(redirectUri).min(1),
  post_logout_redirect_uris: z.array(redirectUri).default([]),
  id_token_signed_response_alg: ApplicationResource.shape.id_token_signed_response_alg.default("RS256"),
});

/**
 * Parses the property `account.oauth.applications`: a JSON list, because an application is a record and properties are
 * flat.
 *
 * @throws Error that names every wrong member.
 */
export function parseApplications(text: string): readonly Application[] {
  const parsed = z
    .array(DeclaredApplication)
    .refine((all) => new Set(all.map(({ client_id }) => client_id)).size === all.length, "duplicate client_id")
    .safeParse(json(text));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the list"}: ${message}`);
    throw new Error(`account.oauth.applications is wrong: ${problems.join("; ")}`);
  }
  return parsed.data.map(({ client_id: id, name, redirect_uris: redirectUris, ...rest }) => ({
    ...ours,
    id,
    name,
    type: redirectUris.some(isNative) ? "native" : "browser",
    redirectUris,
    postLogoutRedirectUris: rest.post_logout_redirect_uris,
    idTokenSignedResponseAlg: rest.id_token_signed_response_alg,
  }));
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('account.oauth.applications is not JSON: expected [{ "client_id", "name", "redirect_uris" }]', {
      cause: error,
    });
  }
}

import { createApiKey, digestApiKey, parseApiKey, sameDigest } from "@signalbox/auth";
import { ApplicationResource, displayName, draft, exampleOf, examples, scopes, viewOf } from "@signalbox/contracts";
import { type ErrorDetail, randomId } from "@signalbox/core";
import { isLive, type RotatingValue, viewValue } from "@signalbox/storage";
import { z } from "zod";
import { type Application, redirectUri } from "./application.ts";

/** An application that an administrator created, with its secrets. */
export interface StoredApplication extends Application {
  readonly scopes: NonNullable<Application["scopes"]>;
  /** Newest first; only a `server` has any. */
  readonly secrets: readonly ApplicationSecret[];
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A secret, of which only the digest is stored. */
export interface ApplicationSecret extends RotatingValue {
  readonly digest: Buffer;
}

const uris = (what: string) => z.array(redirectUri).max(20).describe(what);

const fields = {
  name: displayName.meta({ examples: ["Harbour log"] }),
  redirect_uris: uris(
    "The addresses that a sign-in may return to, compared exactly; a loopback address of a native application may have any port. Empty for a device.",
  ),
  post_logout_redirect_uris: uris("The addresses that a sign-out may return to."),
  scopes: z
    .array(z.enum(scopes))
    .max(scopes.length)
    .describe("The scopes that its tokens may have at most; with an empty list people can only sign in."),
  logo_url: z
    .url({ protocol: /^https$/ })
    .max(500)
    .regex(/^[^\s;,'"@]+$/u, "an address without user, spaces, quotes, commas or semicolons")
    .nullable()
    .describe("Shown on the consent page."),
  consent: z
    .enum(["none", "ask"])
    .describe("`ask` shows the person a consent page, once per sign-in; third-party applications always ask."),
  id_token_signed_response_alg: ApplicationResource.shape.id_token_signed_response_alg.describe(
    "The algorithm that signs its ID tokens; every OpenID client takes `RS256`.",
  ),
};

export const NewApplication = z
  .strictObject({
    name: fields.name,
    type: ApplicationResource.shape.type.describe(
      "`browser` (a page with a script), `server` (it keeps a secret), `native` (on the person's machine) or `device` (without a browser).",
    ),
    redirect_uris: fields.redirect_uris.default([]).meta({ examples: [["https://harbour.example/callback"]] }),
    post_logout_redirect_uris: fields.post_logout_redirect_uris.default([]),
    scopes: fields.scopes.meta({ examples: [["account:read", "images:read"]] }),
    logo_url: fields.logo_url.default(null),
    party: z.enum(["first", "third"]).default("first").describe("`third` for an application that somebody else made."),
    consent: fields.consent.optional(),
    id_token_signed_response_alg: fields.id_token_signed_response_alg.default("RS256"),
  })
  .meta({ id: "CreateOauthApplication" })
  .register(examples, {
    example: {
      name: "Harbour log",
      type: "server",
      redirect_uris: ["https://harbour.example/callback"],
      scopes: ["account:read", "images:read"],
      party: "third",
    },
  });

/** The input of a change. Type and party stay: another kind of application is another application. */
export const ApplicationPatch = z
  .strictObject(fields)
  .partial()
  .meta({ id: "OauthApplicationPatch" })
  .register(examples, { example: { name: "Harbour log", scopes: ["account:read"] } });

/** An application with a secret, shown once; null for one that has none. */
export const IssuedApplication = ApplicationResource.extend({
  client_id: z.string().describe("The id under the name that OAuth libraries expect."),
  client_secret: z.string().nullable().describe("The secret, shown only once; null without one."),
})
  .meta({ id: "IssuedOauthApplication" })
  .register(examples, {
    example: {
      ...exampleOf(ApplicationResource),
      client_id: exampleOf(ApplicationResource).id,
      client_secret: "sbx_app_0Signalbox0Example0Secret00000000000",
    },
  });

/** Shows an application to administrators. */
export const viewApplication = viewOf(ApplicationResource, (application: StoredApplication, now: Date) => ({
  secrets: liveSecretsOf(application, now).map(viewValue),
}));

/** Events belong to the deployment, and say nothing about secrets. `changed` has wire names. */
function eventOf(name: `application.${"created" | "updated" | "deleted"}`, one: StoredApplication, changed: string[]) {
  const { secrets: _, ...data } = viewApplication(one, one.updatedAt);
  return draft(name, { subject: one.id, accountId: null, data: { ...data, changed } });
}

export const applicationEvents = {
  created: (application: StoredApplication) => eventOf("application.created", application, []),
  updated: (application: StoredApplication, changed: string[]) => eventOf("application.updated", application, changed),
  deleted: (application: StoredApplication) => eventOf("application.deleted", application, []),
};

export const liveSecretsOf = ({ secrets }: StoredApplication, now: Date) =>
  secrets.filter((secret) => isLive(secret, now));

/** Takes the place of the environment in API keys, so that scanners that know our keys find these secrets too. */
const prefix = "app";

/** Makes a secret `sbx_app_…` with what is stored of it. */
export function makeSecret(now: Date): { readonly secret: string; readonly stored: ApplicationSecret } {
  const secret = createApiKey(prefix);
  const digest = Buffer.from(digestApiKey(secret));
  return { secret, stored: { id: randomId("aps"), createdAt: now, endsAt: null, digest } };
}

/** Returns true for a live secret of the application. Compares all in constant time. */
export function acceptsApplicationSecret(application: StoredApplication, text: string, now: Date): boolean {
  if (parseApiKey(text)?.environment !== prefix) return false;
  const digest = digestApiKey(text);
  return liveSecretsOf(application, now).filter((secret) => sameDigest(secret.digest, digest)).length > 0;
}

/** Lists what does not fit together in an application; each rule spans several fields. */
export function problemsOf({ type, redirectUris, party, consent, ...rest }: Application): readonly ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const wrong = (field: string, message: string) => problems.push({ field, code: "invalid", message });
  if (type === "device" && redirectUris.length > 0)
    wrong("redirect_uris", "A device application has no redirect addresses.");
  if (type !== "device" && redirectUris.length === 0) {
    const message = "Give the addresses that a sign-in may return to.";
    problems.push({ field: "redirect_uris", code: "required", message });
  }
  for (const [field, all] of [
    ["redirect_uris", redirectUris],
    ["post_logout_redirect_uris", rest.postLogoutRedirectUris],
  ] as const) {
    all.forEach((uri, at) => {
      const isWeb = /^https?:/i.test(uri);
      if (!isWeb && type !== "native") wrong(`${field}[${at}]`, "Only a native application may use a custom scheme.");
    });
  }
  if (party === "third" && consent === "none") wrong("consent", "A third-party application must ask for consent.");
  return problems;
}

import { generateKeyPairSync } from "node:crypto";
import type { RequestListener } from "node:http";
import { serveListener } from "@signalbox/testing";
import { Provider } from "oidc-provider";
import { issuer } from "./oauth-fixture.ts";

/** The identity provider `corp` in the property of the account service. */
export const corp = { name: "corp", title: "Corp <b>", client_id: "signalbox", client_secret: "a-secret-of-the-tests" };

export interface ForeignPerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

/**
 * Starts an OpenID provider outside of the system, which signs the expected person in without a question. `callback` is
 * our address that it returns to, read at its first request.
 */
export async function startForeignProvider(callback = () => `${issuer}/callback/${corp.name}`) {
  const known = new Map<string, ForeignPerson>();
  let person: ForeignPerson | null = null;
  let signedInAt: number | undefined;
  let isDown = false;
  let provider: Provider | null = null;
  const server = await serveListener((request, response) => {
    if (isDown) return void response.writeHead(503).end();
    provider ??= createProvider();
    return serve(provider, request, response);
  });
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
  const createProvider = () =>
    new Provider(server.url, {
      jwks: { keys: [{ ...key, use: "sig", alg: "RS256" }] },
      clients: [
        {
          client_id: corp.client_id,
          client_secret: corp.client_secret,
          redirect_uris: [callback()],
        },
      ],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      cookies: { keys: ["key"] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/login/${uid}` },
      findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ ...known.get(id), sub: id }) }),
    });
  const serve = async (provider: Provider, ...[request, response]: Parameters<RequestListener>) => {
    if (!request.url?.startsWith("/login/")) return provider.callback()(request, response);
    if (person === null) {
      const refusal = { error: "access_denied", error_description: "no" };
      return provider.interactionFinished(request, response, refusal);
    }
    known.set(person.sub, person);
    const grant = new provider.Grant({ accountId: person.sub, clientId: corp.client_id });
    grant.addOIDCScope("openid email profile");
    const login = { accountId: person.sub, ts: signedInAt ?? Math.floor(Date.now() / 1000) };
    const consent = { grantId: await grant.save() };
    await provider.interactionFinished(request, response, { login, consent });
  };
  return {
    issuer: server.url,
    /** The next visitor is this person, who has signed in there at this second; null refuses. */
    expect(next: ForeignPerson | null, at?: number) {
      [person, signedInAt] = [next, at];
    },
    /** Answers nothing but 503 while it is down. */
    setDown(next: boolean) {
      isDown = next;
    },
    close: server.close,
  };
}

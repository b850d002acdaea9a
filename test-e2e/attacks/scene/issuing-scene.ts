import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createFormVisitor, createMailbox, createScriptedProvider, type ScriptedProvider } from "@signalbox/testing";
import type { Headers } from "../../audit/world.ts";
import { type Answer, type Client, createClient, expectStatus } from "../../journey/client.ts";
import type { Attacked } from "./start-system.ts";

/** Applications: one with its own server, one on people's machines, and a stranger. */
export const applications = {
  console: { client_id: "desk", name: "Console", redirect_uris: ["https://console.example/back"] },
  cli: { client_id: "desk-cli", name: "CLI", redirect_uris: ["http://127.0.0.1/back"] },
  other: { client_id: "other", name: "Other", redirect_uris: ["https://other.example/back"] },
} as const;
export type Application = (typeof applications)[keyof typeof applications];

/** Allowances per hour; no window ends during the attacks. */
export const allowances = { credential: 30, account: 45 };

type Visitor = ReturnType<typeof createFormVisitor>;

/** A person who has signed in with a browser. */
export interface SignedIn {
  readonly visitor: Visitor;
  readonly headers: Headers;
  readonly tokens: Readonly<Record<string, string>>;
}

/** An authorization request, with its parameters and verifier. */
interface Authorization {
  readonly url: URL;
  readonly verifier: string;
}

/** A system that issues its own tokens, with limits. */
export interface IssuingScene {
  readonly system: Attacked;
  /** The identity provider `corp` of the sign-in page. */
  readonly provider: ScriptedProvider;
  readonly send: Client;
  /** Builds the address that an application sends a browser to. */
  authorization(application?: Application, more?: Readonly<Record<string, string>>): Authorization;
  /** Posts a form to an endpoint of the issuer, such as `token`. */
  post(endpoint: string, form: Readonly<Record<string, string>>, headers?: Headers): Promise<Answer>;
  signIn(application?: Application, scope?: string): Promise<SignedIn>;
}

/** Starts the system and returns its scene. */
export async function openIssuingScene(
  opened: AsyncDisposableStack,
  start: (properties: Readonly<Record<string, string>>) => Promise<Attacked>,
): Promise<IssuingScene> {
  const mailbox = await createMailbox();
  opened.defer(() => mailbox.close());
  const provider = await createScriptedProvider();
  opened.defer(() => provider.close());
  const corp = { name: "corp", title: "Corp", client_id: "signalbox", issuer: provider.issuer };
  const system = await start({
    ...limits(),
    "account.identity-providers": JSON.stringify([corp]),
    "account.outbound.allow": "127.0.0.1:*",
    "mail.url": mailbox.url,
    "account.registration": "open",
    "account.oauth.applications": JSON.stringify(Object.values(applications)),
  });
  const send = createClient(system.baseUrl);
  const post: IssuingScene["post"] = (endpoint, form, headers = {}) =>
    send(`/oauth/${endpoint}`, {
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: Buffer.from(new URLSearchParams(form).toString()),
    });
  const authorization = createAuthorizations(system.baseUrl);

  return {
    system,
    provider,
    send,
    post,
    authorization,
    async signIn(
      application = applications.console,
      scope = "openid offline_access account:read account:write account:security",
    ) {
      const [address, visitor] = [`${crypto.randomUUID()}@example.org`, createFormVisitor(system.baseUrl)];
      const { url, verifier } = authorization(application, { scope });
      const asked = await visitor.submit(await visitor.open(url), { address }, "address");
      const [, code = ""] = /^ {4}(\d{8})$/m.exec((await mailbox.mailTo(address)).text) ?? [];
      const back = (await visitor.submit(asked, { code }, "code")).url;
      const form = { ...exchange(application, verifier), code: back.searchParams.get("code") ?? "" };
      const { json: tokens } = expectStatus(await post("token", form), 200);
      return { visitor, tokens, headers: { authorization: `Bearer ${tokens.access_token}` } };
    },
  };
}

/** The parameters of an application's token request. */
export const exchange = ({ client_id, redirect_uris: [redirect_uri] }: Application, code_verifier: string) => ({
  grant_type: "authorization_code",
  client_id,
  redirect_uri,
  code_verifier,
});

/** Returns a new code of an application for a person who is signed in. */
export async function newCode(visitor: Visitor, { url }: Authorization): Promise<string> {
  const back = (await visitor.open(url)).url.searchParams.get("code");
  assert.ok(back !== null, "who is signed in gets a code in silence");
  return back;
}

function createAuthorizations(baseUrl: string): IssuingScene["authorization"] {
  return ({ client_id, redirect_uris: [redirect_uri] } = applications.console, more = {}) => {
    const verifier = randomBytes(32).toString("base64url");
    const url = new URL(`${baseUrl}/oauth/authorize`);
    url.search = new URLSearchParams({
      client_id,
      redirect_uri,
      response_type: "code",
      scope: "openid account:read",
      state: randomBytes(8).toString("hex"),
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      ...more,
    }).toString();
    return { url, verifier };
  };
}

function limits(): Record<string, string> {
  const hour = "3600000";
  const of = (kind: string, requests: number) => ({
    [`http.rate-limit.${kind}.requests`]: String(requests),
    [`http.rate-limit.${kind}.window`]: hour,
  });
  return {
    ...of("credential", allowances.credential),
    ...of("account", allowances.account),
    "http.rate-limit.credential.burst": "1000000",
  };
}

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { bearer, claimsOf, headerOf, issuer, startIssuer, through } from "./oauth-fixture.ts";
import { codeTo, createVisitor, formTo } from "./oauth-visitor.ts";
import { type RelyingParty, relyingParties, verifier } from "./relying-parties.ts";

const redirect = "https://harbour.example/signin-oidc";
const state = "kept by the application";

let account: Harness;
let client: { readonly client_id: string; readonly client_secret: string };
before(async () => {
  account = await startIssuer();
  const headers = { "x-api-key": await account.firstKey() };
  const body = { name: "Harbour", type: "server", redirect_uris: [redirect], scopes: ["account:read"] };
  client = (await account.send("POST", "/api/v1/oauth/applications", { headers, body })).body;
});
after(() => account.close());

type Metadata = Readonly<Record<string, string | readonly string[]>>;

async function discovered({ discovery }: RelyingParty): Promise<Metadata> {
  const { origin, pathname } = new URL(issuer);
  const isOidc = discovery === "openid-configuration";
  const url = isOidc ? `${issuer}/.well-known/${discovery}` : `${origin}/.well-known/${discovery}${pathname}`;
  return (await (await through(account)(url, { headers: { accept: "*/*" } })).json()) as Metadata;
}

function post(url: string, form: Record<string, string>, secretIn: RelyingParty["secretIn"]): Promise<Response> {
  const { client_id, client_secret } = client;
  const basic = Buffer.from(`${client_id}:${client_secret}`).toString("base64");
  return through(account)(url, {
    method: "POST",
    headers: secretIn === "header" ? { authorization: `Basic ${basic}` } : {},
    body: new URLSearchParams(secretIn === "header" ? form : { ...form, client_id, client_secret }),
  });
}

/** The address that the application sends the browser to. */
async function begun({ request, pushes, secretIn }: RelyingParty, metadata: Metadata): Promise<string> {
  const query = { client_id: client.client_id, redirect_uri: redirect, state, ...request };
  if (!pushes) return `${metadata.authorization_endpoint}?${new URLSearchParams(query)}`;
  const answer = await post(String(metadata.pushed_authorization_request_endpoint), query, secretIn);
  const { request_uri } = (await answer.json()) as { request_uri: string };
  return `${metadata.authorization_endpoint}?${new URLSearchParams({ client_id: client.client_id, request_uri })}`;
}

/** The answer that the browser brings back, by its address or by a form. */
async function answered(url: string): Promise<URLSearchParams> {
  const visitor = createVisitor(account);
  const address = `${crypto.randomUUID()}@example.org`;
  const typed = await visitor.submit(await visitor.open(url), { address }, "address");
  const last = await visitor.submit(typed, { code: await codeTo(account, address) }, "code");
  return formTo(redirect, last.text) ?? last.url.searchParams;
}

for (const party of relyingParties) {
  test(`${party.name} signs a person in with its defaults`, async () => {
    const metadata = await discovered(party);
    assert.equal(metadata.issuer, issuer);
    for (const [member, value] of Object.entries(party.expects)) {
      assert.ok(metadata[member]?.includes(value), `${member} has ${value}`);
    }
    const back = await answered(await begun(party, metadata));
    assert.deepEqual([back.get("state"), back.get("iss"), back.get("error")], [state, issuer, null]);
    const form = { grant_type: "authorization_code", code: back.get("code") ?? "", redirect_uri: redirect };
    const hasChallenge = "code_challenge" in party.request;
    const redeemed = hasChallenge ? { ...form, code_verifier: verifier } : form;
    const answer = await post(String(metadata.token_endpoint), redeemed, party.secretIn);
    const tokens = (await answer.json()) as Readonly<Record<string, string>>;
    assert.equal(answer.status, 200, JSON.stringify(tokens));
    const { id_token = "", access_token = "", token_type = "" } = tokens;
    const { iss, aud, nonce, sub } = claimsOf(id_token);
    assert.deepEqual([headerOf(id_token).alg, token_type.toLowerCase()], ["RS256", "bearer"]);
    assert.deepEqual([iss, aud, nonce], [issuer, client.client_id, party.request.nonce]);
    if (!party.readsUserinfo) return;
    const person = await through(account)(String(metadata.userinfo_endpoint), { headers: bearer(access_token) });
    assert.equal(((await person.json()) as { sub: string }).sub, sub);
  });
}

test("the response type id_token, ASP.NET Core's own default, is refused by a posted answer with its code", async () => {
  const request = { response_type: "id_token", response_mode: "form_post", scope: "openid profile", nonce: "n" };
  const query = new URLSearchParams({ client_id: client.client_id, redirect_uri: redirect, state, ...request });
  const page = await createVisitor(account).open(`${issuer}/authorize?${query}`);
  assert.equal(formTo(redirect, page.text)?.get("error"), "unsupported_response_type");
});

test("a server application without a challenge needs a nonce", async () => {
  const query = { client_id: client.client_id, redirect_uri: redirect, state, scope: "openid", response_type: "code" };
  const { url } = await createVisitor(account).open(`${issuer}/authorize?${new URLSearchParams(query)}`);
  assert.equal(url.searchParams.get("error"), "invalid_request");
});

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { eventually, readFixture } from "@signalbox/testing";
import { type Client, createClient, expectStatus, photoForm } from "../journey/client.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { searchDatabases } from "../systems/search-databases.ts";

const former = `former:${Buffer.alloc(32, 1).toString("base64")}`;
const next = `next:${Buffer.alloc(32, 2).toString("base64")}`;
const application = { client_id: "desk", name: "Console", redirect_uris: ["https://console.example/back"] };
const partnerSecret = "a secret of the shop";

const propertiesWith = (keys: string) => ({
  "secrets.keys": keys,
  "account.oauth.applications": JSON.stringify([application]),
  // No server listens here, so mails wait.
  "mail.url": "smtp://127.0.0.1:1",
});

/** Data sealed with the former key, as its owner sees it. */
interface Sealed {
  readonly keyed: Record<string, string>;
  readonly apiKey: string;
  readonly endpointPath: string;
  readonly endpointSecret: string;
  readonly sourceId: string;
  readonly kid: string;
  readonly signedUrl: string;
}

test("a sealing key is retired once every service has sealed anew with the next one", async () => {
  await using opened = new AsyncDisposableStack();
  let system: EmbeddedSystem = await startEmbeddedSystem({ properties: propertiesWith(former) });
  opened.defer(() => removeData(system));
  opened.defer(async () => void (await system.process.kill()));
  const { dataDirectory } = system;
  const restartWith = async (keys: string): Promise<Client> => {
    await system.stop();
    system = await startEmbeddedSystem({ properties: propertiesWith(keys), dataDirectory });
    return createClient(system.baseUrl, system.apiKey);
  };

  const sealed = await sealEverything(createClient(system.baseUrl, system.apiKey));
  const places = await searchDatabases(system.eventsUrl, ["v1.former."]);
  assert.deepEqual(
    places.map((place) => place.split(":")[0]),
    [
      "signalbox_account public.oauth_signing_keys",
      "signalbox_account public.oauth_state",
      "signalbox_account public.outgoing_mails",
      "signalbox_account signalbox.idempotency",
      "signalbox_images public.signing_keys",
      "signalbox_webhook_delivery public.endpoint_credentials",
      "signalbox_webhook_delivery public.endpoint_secrets",
      "signalbox_webhook_delivery public.signing_keys",
      "signalbox_webhook_delivery signalbox.idempotency",
      "signalbox_webhook_ingest public.sources",
    ],
    "the test knows every place",
  );

  await restartWith(`${next},${former}`);
  await eventually(async () => assert.deepEqual(await searchDatabases(system.eventsUrl, ["v1.former."]), []), {
    message: "nothing is sealed with the former key",
  });
  await stillOpens(await restartWith(next), sealed);
});

async function sealEverything(send: Client): Promise<Sealed> {
  const keyed = { "idempotency-key": crypto.randomUUID() };
  const newKey = { name: "sealed", scopes: ["account:read"] };
  const { key } = expectStatus(await send("/api/account/api-keys/", { headers: keyed, body: newKey }), 201).json;

  const headers = [{ name: "Authorization", value: "Bearer x", secret: true }];
  const settings = { headers, signatures: ["v1a"] };
  const endpoint = { url: "https://hooks.example.org/a", event_types: ["image.*"], settings };
  const made = expectStatus(await send("/api/v1/webhooks/endpoints", { headers: keyed, body: endpoint }), 201).json;
  const endpointPath = `/api/v1/webhooks/endpoints/${made.id}`;
  const rotated = expectStatus(await send(`${endpointPath}/secret/rotate`, { method: "POST" }), 200).json;

  const partner = { name: "Shop", scheme: "hmac", secret: partnerSecret };
  const source = expectStatus(await send("/api/v1/webhooks/sources", { body: partner }), 201).json;

  const { keys } = expectStatus(await send("/oauth/jwks"), 200).json;
  const form = photoForm(await readFixture("photo.jpg"));
  const image = expectStatus(await send("/images", { body: form }), 201).json;
  const asked = { expires_in_seconds: 3600 };
  const signed = expectStatus(await send(`/images/${image.id}/signed-urls`, { body: asked }), 201).json;
  const signedUrl = new URL(signed.url);

  await beginSignIn(send);
  return {
    keyed,
    apiKey: key,
    endpointPath,
    endpointSecret: rotated.secret,
    sourceId: source.id,
    kid: keys[0].kid,
    signedUrl: `${signedUrl.pathname}${signedUrl.search}`,
  };
}

/** Leaves a pending sign-in, and a mail that cannot be delivered. */
async function beginSignIn(send: Client): Promise<void> {
  const { authorization_endpoint } = expectStatus(await send("/oauth/.well-known/openid-configuration"), 200).json;
  const query = new URLSearchParams({
    client_id: application.client_id,
    redirect_uri: application.redirect_uris[0] ?? "",
    response_type: "code",
    scope: "openid",
    state: "any",
    code_challenge: createHash("sha256").update("verifier").digest("base64url"),
    code_challenge_method: "S256",
  });
  // A client without cookies gets no further than this, which is far enough.
  await send(`${authorization_endpoint}?${query}`);
  const body = { contact_address: "ada@example.org" };
  expectStatus(await send("/api/account/", { method: "PATCH", body }), 200);
}

async function stillOpens(send: Client, sealed: Sealed): Promise<void> {
  const newKey = { name: "sealed", scopes: ["account:read"] };
  const again = expectStatus(await send("/api/account/api-keys/", { headers: sealed.keyed, body: newKey }), 201);
  assert.deepEqual([again.json.key, again.headers.get("idempotent-replayed")], [sealed.apiKey, "true"]);
  const revealed = expectStatus(await send(`${sealed.endpointPath}/secret/reveal`, { method: "POST" }), 200).json;
  assert.equal(revealed.secret, sealed.endpointSecret);
  const { keys } = expectStatus(await send("/oauth/jwks"), 200).json;
  assert.equal(keys[0].kid, sealed.kid);
  expectStatus(await send(sealed.signedUrl), 200);

  const time = String(Math.floor(Date.now() / 1000));
  const delivery = Buffer.from('{"id":"d-1","type":"order.created"}');
  const signature = createHmac("sha256", partnerSecret).update(`${time}.`).update(delivery).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-timestamp": time,
    "x-signature": `sha256=${signature}`,
  };
  expectStatus(await send(`/ingest/${sealed.sourceId}`, { headers, body: delivery }), 202);
}

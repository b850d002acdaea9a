import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, createClient, expectStatus } from "../journey/client.ts";
import { type EmbeddedSystem, startEmbeddedIn } from "../systems/embedded-system.ts";

/** No window ends while the test runs. */
const hour = 3_600_000;
const properties = Object.fromEntries(
  Object.entries({ credential: 60, account: 100, "failed-sign-in": 10 }).flatMap(([kind, requests]) => [
    [`http.rate-limit.${kind}.requests`, String(requests)],
    [`http.rate-limit.${kind}.window`, String(hour)],
  ]),
);

/** One read in every service that has one. */
const paths = ["/api/account/", "/images", "/api/v1/config/", "/api/v1/webhooks/sources", "/api/v1/webhooks/endpoints"];

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

let system: EmbeddedSystem;
before(async () => {
  system = await startEmbeddedIn(opened, { ...properties, "http.rate-limit.credential.burst": "1000" });
});

/** Sends requests to all services in turn, and returns the number that the limit did not refuse. */
async function countAnswers(key: string, requests: number, wanted: number): Promise<number> {
  const send = createClient(system.baseUrl, key);
  const answers: Answer[] = [];
  for (let at = 0; at < requests; at++) answers.push(await send(paths[at % paths.length] ?? ""));
  for (const { status, headers } of answers) {
    assert.ok(status === wanted || status === 429, String(status));
    if (status === 429) assert.ok(Number(headers.get("retry-after")) > 0);
  }
  return answers.filter(({ status }) => status !== 429).length;
}

test("in one process a credential, an account and an address each have one allowance for all services", async () => {
  const send = createClient(system.baseUrl, system.apiKey);
  const scopes = ["account:read", "images:read", "webhooks:read"];
  const made = expectStatus(await send("/api/account/api-keys/", { body: { name: "second", scopes } }), 201);
  assert.equal(await countAnswers(system.apiKey, 80, 200), 59, "and one made the other key");
  assert.equal(await countAnswers(made.json.key, 60, 200), 40, "the account's hundred");
  assert.equal(await countAnswers("sbx_live_wrong", 20, 401), 10);
});

test("an answer names every policy that counts it", async () => {
  const { headers } = await createClient(system.baseUrl, system.apiKey)("/images");
  const policies = ['"credential-burst";q=1000;w=1', '"credential";q=60;w=3600', '"account";q=100;w=3600'];
  assert.equal(headers.get("ratelimit-policy"), policies.join(", "));
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf, subscriptions } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import { eventually, type TestPerson, testContext, testPerson } from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { type Harness, startGateway } from "./harness.ts";
import { type Heard, listen, liveClient } from "./live-client.ts";

const origin = "https://app.example";
let gateway: Harness;
before(async () => {
  gateway = await startGateway({ "console.portal.origins": origin });
});
after(() => gateway.close());

const [mine, beside] = [newId("whe", Date.now()), newId("whe", Date.now())];
const sessionOf = (accountId: string, endpointIds: readonly string[] | null) =>
  testPerson({ accountId, kind: "portal", scopes: ["webhooks:read", "webhooks:write"], portal: { endpointIds } });

/** Publishes one attempt at an endpoint; its delivery tells it apart. */
async function attempt({ eventLog, context }: Harness, accountId: string, endpointId: string): Promise<string> {
  const delivery_id = newId("whd", Date.now());
  const data = { ...eventOf("webhook_delivery.attempted").example, endpoint_id: endpointId, delivery_id };
  const event = draft("webhook_delivery.attempted", { subject: endpointId, accountId, data });
  await publishEvents({ ...context, eventLog, service: "webhook-delivery" }, [event]);
  return delivery_id;
}

const document = "subscription { deliveryAttempted { cursor event { id } deliveryId outcome status } }";

const openStream = (who: TestPerson, query: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/graphql`, {
    method: "POST",
    headers: { ...who.headers, "content-type": "application/json", accept: "text/event-stream", ...headers },
    body: JSON.stringify({ query }),
  });

test("a portal session follows the attempts of its endpoints alone, by socket or stream, live or resumed", async () => {
  const owner = testPerson();
  const { accountId } = owner;
  const [bound, whole] = [sessionOf(accountId, [mine]), sessionOf(accountId, null)];
  const clients = [bound, whole].map((who) => liveClient(gateway, who));
  const [seen, all] = clients.map((client) => listen(client, document)) as [Heard, Heard];
  const idsOf = ({ results }: Heard): string[] => results.map(({ data }) => data.deliveryAttempted.deliveryId);
  const ofBeside: string[] = [];
  const gone = new AbortController();
  await eventually(async () => {
    ofBeside.push(await attempt(gateway, accountId, beside));
    await attempt(gateway, accountId, mine);
    return seen.results.length > 0 && all.results.length > 0;
  });
  ofBeside.push(await attempt(gateway, accountId, beside));
  const last = await attempt(gateway, accountId, mine);
  // The attempts of two endpoints are on two partitions: which of them arrives first is open.
  await eventually(() => idsOf(all).includes(ofBeside.at(-1) ?? ""));
  await eventually(() => [seen, all].every((heard) => idsOf(heard).includes(last)));
  assert.deepEqual(
    idsOf(seen).filter((id) => ofBeside.includes(id)),
    [],
  );
  assert.deepEqual([seen.ended, all.ended], [null, null]);

  // A stream that resumes before all of them has those of the endpoint, and no other.
  const { cursor } = all.results[0].data.deliveryAttempted;
  const [hidden, shown] = [await attempt(gateway, accountId, beside), await attempt(gateway, accountId, mine)];
  const stream = await openStream(bound, document, { "last-event-id": cursor });
  assert.equal(stream.status, 200);
  let text = "";
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  await eventually(async () => {
    text += (await reader?.read())?.value ?? "";
    return text.includes(shown);
  });
  assert.ok(!text.includes(hidden), text);
  await reader?.cancel();
  const narrowed = await openStream(bound, `subscription { deliveryAttempted(endpointId: "${beside}") { cursor } }`);
  let told = "";
  const ended = narrowed.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeTo(
      new WritableStream({
        write(chunk) {
          told += chunk;
        },
      }),
      { signal: gone.signal },
    )
    .catch(() => undefined);
  await eventually(() => told.includes("cursor"));
  await attempt(gateway, accountId, beside);
  const end = await attempt(gateway, accountId, mine);
  await eventually(() => idsOf(seen).includes(end));
  assert.doesNotMatch(told, /event: next/, "naming another endpoint shows nothing of it");
  gone.abort();
  await ended;
  for (const client of clients) await client.dispose();
});

test("a portal session may run nothing but its own subscriptions", async () => {
  const session = sessionOf(testPerson().accountId, null);
  for (const { field, portal } of Object.values(subscriptions)) {
    if (portal) continue;
    const answer = await openStream(session, `subscription { ${field} { cursor } }`);
    const body = await answer.text();
    assert.match(body, /FORBIDDEN|"forbidden"/, `${field}: ${answer.status} ${body}`);
  }
  for (const query of [
    "{ viewer { id } }",
    `{ node(id: "${mine}") { id } }`,
    `{ why(id: "${mine}") { service } }`,
    'mutation { updateAccount(input: { displayName: "x" }) { account { id } } }',
    "{ __typename }",
  ]) {
    const { status, body } = await gateway.query(session, query);
    assert.deepEqual([query, status], [query, 403], JSON.stringify(body));
    const inEvents = await openStream(session, query);
    assert.equal(inEvents.status, 403, await inEvents.text());
  }
});

test("the graph refuses client keys, whatever they ask", async () => {
  const browser = testPerson({ scopes: [], kind: "api-key" });
  for (const query of ["{ viewer { id } }", "{ serverSettings { server { name } } }", "{ __typename }"]) {
    const { status, body } = await gateway.query(browser, query);
    assert.deepEqual([status, body.errors[0].extensions.details[0].code], [403, "client_key"], query);
    const inEvents = await openStream(browser, query);
    assert.equal(inEvents.status, 403, await inEvents.text());
  }
});

test("every other route of the gateway refuses portal sessions", async () => {
  const session = sessionOf(testPerson().accountId, null);
  const openapi = await (await fetch(`${gateway.url}/openapi/gateway.json`)).json();
  const routes = Object.entries((openapi as { paths: Record<string, Record<string, { security?: object[] }>> }).paths);
  let count = 0;
  for (const [path, methods] of routes) {
    for (const [method, { security }] of Object.entries(methods)) {
      if (!security || security.length === 0 || path === "/graphql") continue;
      const url = gateway.url + path.replace(/\{[^}]+\}/g, "x");
      const answer = await fetch(url, {
        method,
        headers: { ...session.headers, ...(method !== "get" && { "content-type": "application/json" }) },
        ...(method !== "get" && { body: "{}" }),
      });
      const body = (await answer.json()) as { error: { details: { code: string }[] } };
      assert.deepEqual([path, answer.status, body.error.details[0]?.code], [path, 403, "portal_session"]);
      count++;
    }
  }
  assert.ok(count > 5, `only ${count} routes were asked`);
});

test("the portal's page is framed by the named origins alone, the console's by nobody", async () => {
  const policyOf = async (url: string) => (await fetch(url)).headers.get("content-security-policy") ?? "";
  for (const path of ["/console/portal/", "/console/portal/webhooks/deliveries/whd_1"]) {
    const policy = await policyOf(gateway.url + path);
    assert.ok(policy.includes(`frame-ancestors ${origin};`), policy);
    assert.match(policy, /script-src 'self';.*require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe/);
  }
  for (const path of ["/console/", "/console/portals/", "/console/webhooks/portal/"])
    assert.match(await policyOf(gateway.url + path), /frame-ancestors 'none'/, path);
  const bare = await fetch(`${gateway.url}/console/portal`, { redirect: "manual" });
  assert.deepEqual([bare.status, bare.headers.get("location")], [308, "portal/"]);
  const nobody = await startGateway();
  assert.match(await policyOf(`${nobody.url}/console/portal/`), /frame-ancestors 'none'/);
  await nobody.close();
  for (const wrong of ["https://a.example; script-src *", "https://a.example/path", "http://a.example", "*", "'self'"])
    assert.throws(
      () => testContext("gateway", properties, { "console.portal.origins": wrong }),
      /console\.portal\.origins/,
      wrong,
    );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { sql } from "@signalbox/storage";
import { eventually, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const newEndpoint = (settings: object = {}) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*", "webhook_endpoint.*"], settings });
const publish = async (data: object = {}) => {
  const body = { type: "order.created", data };
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
};
const run = async <Row>(text: string, values: unknown[] = []) =>
  (await delivery.pool.query<Row>(sql("", text), values)).rows;
const read = async ({ id }: { id: string }) => (await delivery.send(who, "GET", `${endpointsPath}/${id}`)).body;
const inStatus = (status: string, count = 1) =>
  eventually(async () => {
    const found = await delivery.deliveriesOf(who, `&status=${status}`);
    return found.length === count && found;
  });
const namesOf = async () => (await delivery.eventsOf(who.accountId, 1)).map(({ name }) => name);

test("a receiver ends its endpoint with a header, also of an acknowledgement", async () => {
  receiver.answer({ status: 200, headers: { "webhook-delivery": "disable" } });
  const endpoint = await newEndpoint();
  await publish();
  await eventually(async () => (await read(endpoint)).status === "disabled");
  assert.equal((await read(endpoint)).disabled_reason, "receiver");
  await inStatus("succeeded");
  const disabled = (await delivery.eventsOf(who.accountId, 2)).find(({ name }) => name === "webhook_endpoint.disabled");
  assert.equal((disabled?.data as { reason?: string } | undefined)?.reason, "receiver");
});

/** Makes the endpoint look as if it had failed this often for this long. */
const failed = ({ id }: { id: string }, failures: number, hours: number) =>
  run(
    `insert into endpoint_health (endpoint_id, failing_since, failures, successes) values ($1, now() - $2::int * interval '1 h', $3, 0)
     on conflict (endpoint_id) do update set failing_since = excluded.failing_since, failures = excluded.failures`,
    [id, hours, failures],
  );

test("failures are counted from the first, a success among few ends the count, and nothing is written for an endpoint that succeeds", async () => {
  const endpoint = await newEndpoint({ retry_schedule_seconds: [0] });
  const health = () =>
    run<{ failing: boolean; failures: number; successes: number }>(
      "select failing_since is not null as failing, failures, successes from endpoint_health where endpoint_id = $1",
      [endpoint.id],
    );
  await publish();
  await inStatus("succeeded");
  assert.deepEqual(await health(), []);
  receiver.answer({ status: 500 });
  for (let count = 1; count <= 3; count++) {
    await publish();
    await inStatus("exhausted", count);
  }
  assert.deepEqual(await health(), [{ failing: true, failures: 3, successes: 0 }]);
  receiver.answer({ status: 200 });
  await publish();
  await inStatus("succeeded", 2);
  assert.deepEqual(await health(), [{ failing: false, failures: 0, successes: 0 }]);
  await failed(endpoint, 100, 1);
  await publish();
  await inStatus("succeeded", 3);
  assert.deepEqual(await health(), [{ failing: true, failures: 100, successes: 1 }]);
});

test("the owner is notified once of a failing endpoint; after days it is disabled, probed, and enabled by the first success", async () => {
  const endpoint = await newEndpoint({ retry_schedule_seconds: [0, 3_600] });
  receiver.answer({ status: 500 });
  await failed(endpoint, 9, 5);
  await publish({ number: 1 });
  await eventually(async () => (await namesOf()).includes("webhook_endpoint.failing"));
  await publish({ number: 2 });
  await eventually(() => receiver.requests.length === 2);
  await failed(endpoint, 20, 121);
  await publish({ number: 3 });
  await eventually(async () => (await read(endpoint)).disabled_reason === "failing");
  assert.equal((await namesOf()).filter((name) => name === "webhook_endpoint.failing").length, 1);
  await publish({ number: 4 });
  await inStatus("held", 4);
  receiver.clear();

  const probe = () => run("update endpoint_health set probe_at = now() where endpoint_id = $1", [endpoint.id]);
  await probe();
  const { headers } = await receiver.waitFor(() => true);
  const probed = String(headers["x-delivery-id"]);
  const [failure] = await eventually(async () => {
    const found = await delivery.attemptsOf(who, probed);
    return found.length === 1 && found;
  });
  assert.equal(failure?.status, 500);
  const held = (await delivery.deliveriesOf(who, "&status=held")).find(({ id }) => id === probed);
  assert.deepEqual([held?.attempts, (await read(endpoint)).status], [0, "disabled"], "a probe costs no attempt");

  receiver.clear();
  receiver.answer({ status: 200 });
  await probe();
  await eventually(async () => (await read(endpoint)).status === "enabled");
  assert.equal((await inStatus("succeeded"))[0]?.id, probed);
  await eventually(async () => (await namesOf()).includes("webhook_endpoint.enabled"));
  assert.deepEqual(await run("select 1 from endpoint_health where endpoint_id = $1", [endpoint.id]), []);
});

test("an endpoint is tested at once at any status, and the answer is the attempt", async () => {
  const endpoint = await newEndpoint();
  const act = (action: string) => delivery.send(who, "POST", `${endpointsPath}/${endpoint.id}/${action}`);
  receiver.answer({ status: 201, body: "thank you" });
  const good = await act("test");
  assert.deepEqual([good.status, good.body.status, good.body.response], [200, 201, "thank you"]);
  assert.equal(good.body.decision, "succeeded");
  const [request] = receiver.requests;
  const body = JSON.parse(request?.body.toString() ?? "");
  assert.deepEqual([body.type, body.data.id], ["webhook_endpoint.test", endpoint.id]);
  assert.equal(request?.headers["x-delivery-id"], good.body.delivery_id);
  const [kept] = await delivery.deliveriesOf(who, "&status=succeeded");
  assert.equal(kept?.id, good.body.delivery_id);

  await act("pause");
  receiver.answer({ status: 410 });
  const bad = await act("test");
  assert.deepEqual([bad.status, bad.body.status, bad.body.decision], [200, 410, "exhausted"]);
  assert.equal((await read(endpoint)).status, "paused", "a test disables nothing");
  const other = await delivery.send(testPerson(), "POST", `${endpointsPath}/${endpoint.id}/test`);
  assert.equal(other.status, 404);
});

test("an attempt shows what was sent and what came back, the time of each phase, and the decision", async () => {
  receiver.answer({
    status: 503,
    headers: { "x-reason": "busy", "content-encoding": "gzip" },
    body: gzipSync("later"),
  });
  const headers = [{ name: "Authorization", value: "Bearer private", secret: true }];
  await newEndpoint({ headers, retry_schedule_seconds: [0, 3_600] });
  await publish();
  const [made] = await eventually(async () => {
    const found = await delivery.deliveriesOf(who);
    return found[0]?.attempts === 1 && found;
  });
  const [attempt] = (await delivery.send(who, "GET", `/api/v1/webhooks/attempts?delivery_id=${made?.id}`)).body.items;
  assert.equal(attempt.request_headers.Authorization, "***");
  assert.equal(attempt.request_headers["X-Delivery-Id"], made?.id);
  assert.equal(attempt.response_headers["x-reason"], "busy");
  assert.deepEqual([attempt.response, attempt.decision, attempt.phase], ["later", "retry", null]);
  assert.ok(Date.parse(attempt.next_attempt_at) > Date.parse(attempt.started_at) + 3_500_000);
  const { tls, ...phases } = attempt.phases;
  assert.equal(tls, null);
  for (const [phase, ms] of Object.entries(phases)) assert.ok(typeof ms === "number" && ms >= 0, phase);

  await receiver.close();
  const failedTo = (await delivery.send(who, "POST", `${endpointsPath}/${made?.endpoint_id}/test`)).body;
  assert.deepEqual([failedTo.error, failedTo.phase, failedTo.phases], ["ECONNREFUSED", "connect", null]);
});

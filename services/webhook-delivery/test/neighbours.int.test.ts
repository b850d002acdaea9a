import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "@signalbox/storage";
import { createReceiver, eventually, testPerson } from "@signalbox/testing";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const path = "/api/v1/webhooks/events";
const ordersOf = (count: number) => ({
  body: Array.from({ length: count }, () => ({ type: "order.created", data: {} })),
});

/** Counts an account's deliveries, and compares the order of those that wait at an endpoint with that of the events. */
async function waitingOf(accountId: string, published: readonly string[]) {
  const { rows } = await delivery.pool.query<{ deliveries: number; waiting: string[] }>(
    sql(
      "",
      `select count(*)::int as deliveries, array_agg(event_id order by due_at) filter (where leased_by is null) as waiting
       from deliveries d left join delivery_queue q on q.delivery_id = d.id and q.created_at = d.created_at
       where d.account_id = $1 group by d.endpoint_id`,
    ),
    [accountId],
  );
  const places = new Map(published.map((id, place) => [id, place]));
  const isInOrder = ({ waiting }: { waiting: string[] }) =>
    waiting.every((id, at) => at === 0 || Number(places.get(waiting[at - 1] ?? "")) < Number(places.get(id)));
  return { deliveries: rows.reduce((sum, row) => sum + row.deliveries, 0), inOrder: rows.every(isInOrder) };
}

// It took 27 s: the hanging deliveries filled the memory of the instance, and nobody's were leased until they ended.
test("a hundred hanging endpoints of one account delay no delivery of another", async (t) => {
  const hanging = await createReceiver({ instead: "hang" });
  t.after(hanging.close);
  const neighbour = testPerson();
  for (let count = 0; count < 100; count++) {
    await delivery.newEndpoint(neighbour, {
      url: `${hanging.url}/${count}`,
      event_types: ["order.*"],
      settings: { timeout_seconds: 30, retry_schedule_seconds: [0, 3_600] },
    });
  }
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  async function publish(by: typeof who, count: number): Promise<string[]> {
    const { status, body } = await delivery.send(by, "POST", path, ordersOf(count));
    assert.equal(status, 202);
    return body.items.map(({ id }: { id: string }) => id);
  }
  const published = [...(await publish(neighbour, 100)), ...(await publish(neighbour, 100))];
  assert.deepEqual(
    await waitingOf(neighbour.accountId, published),
    { deliveries: 20_000, inOrder: true },
    "of forty statements each",
  );
  await eventually(() => hanging.requests.length > 0);
  for (let count = 1; count <= 20; count++) {
    await publish(who, 5);
    await eventually(() => receiver.requests.length === count * 5);
  }
  const ended = sql("", "select 1 from delivery_attempts where account_id = $1");
  assert.deepEqual((await delivery.pool.query(ended, [neighbour.accountId])).rows, [], "they hang all the time");
});

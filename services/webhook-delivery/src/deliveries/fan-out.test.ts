import assert from "node:assert/strict";
import { test } from "node:test";
import type { SigningEndpoint } from "../endpoints/endpoint-directory.ts";
import { subscribersOf } from "./fan-out.ts";
import type { OutgoingEvent } from "./outgoing-event.ts";

test("the filters of many endpoints leave the process its turns", async () => {
  let filtered = 0;
  const filter = () => ++filtered % 2 === 0;
  const clock = { steadyMs: () => 2 * filtered };
  const createdAt = new Date();
  const settings = { api_version: null };
  const endpoints = Array.from({ length: 50 }, (_, at) => ({
    id: `whe_${at}`,
    eventTypes: ["*"],
    createdAt,
    settings,
    filter,
  }));
  const account = { accountId: "acc_1", endpoints: endpoints as unknown as SigningEndpoint[] };
  const event = { accountId: "acc_1", type: "order.created", names: ["order.created"], createdAt, version: 1 };
  let atFirstTurn = Number.NaN;
  setImmediate(() => {
    atFirstTurn = filtered;
  });
  const found = await subscribersOf(clock, [account as never], [event as unknown as OutgoingEvent]);
  assert.ok(atFirstTurn < filtered, `${atFirstTurn} of ${filtered}`);
  assert.equal([...found.values()].flat().length, 25);
});

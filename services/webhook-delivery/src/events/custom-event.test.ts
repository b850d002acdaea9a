import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "@signalbox/contracts";
import { CreateEventTypeBody } from "../event-types/event-type-routes.ts";
import { CustomEventBody, PublishBody } from "./event-routes.ts";

// `audit.recorded` and `access.changed` were accepted: only the events that endpoints can subscribe to were reserved.
test("no event of the service, internal ones included, and none of the product can be published or declared", () => {
  for (const name of [...catalogue.map((event) => event.name), "signalbox.anything", "received.github.push"]) {
    assert.equal(CustomEventBody.safeParse({ type: name, data: {} }).success, false, name);
    assert.equal(CreateEventTypeBody.safeParse({ name }).success, false, name);
  }
  assert.equal(CustomEventBody.safeParse({ type: "order.created", data: {} }).success, true);
});

test("a publication that has none of the forms is refused with the name of the member at fault", () => {
  const messageFor = (body: unknown) => PublishBody.safeParse(body).error?.issues[0]?.message;
  assert.match(messageFor({ events: [{ type: "order.created", data: {} }] }) ?? "", /no member `events`/);
  assert.match(messageFor({ type: "order.created" }) ?? "", /`data`/);
  assert.match(
    messageFor([
      { type: "order.created", data: {} },
      { type: 1, data: {} },
    ]) ?? "",
    /`1\.type`/,
  );
});

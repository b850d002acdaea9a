import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogue } from "@signalbox/contracts";
import { judge } from "@signalbox/http";
import { CreateEventTypeBody } from "../event-types/event-type.ts";
import { CustomEventBody, PublishBody } from "./custom-event.ts";

// `audit.recorded` and `access.changed` were accepted: only the events that endpoints can subscribe to were reserved.
test("no event of the service, internal ones included, and none of the product can be published or declared", () => {
  for (const name of [...catalogue.map((event) => event.name), "signalbox.anything", "received.github.push"]) {
    assert.equal(CustomEventBody.safeParse({ type: name, data: {} }).success, false, name);
    assert.equal(CreateEventTypeBody.safeParse({ name }).success, false, name);
  }
  assert.equal(CustomEventBody.safeParse({ type: "order.created", data: {} }).success, true);
});

test("a publication that has none of the forms is refused with the names of the members at fault", () => {
  const faults = (body: unknown) => {
    const judged = judge(PublishBody, body);
    return judged.success ? [] : judged.details.map(({ field, code, message }) => [field, code, message] as const);
  };
  const good = { type: "order.created", data: {} };
  const [wrapped, ...more] = faults({ events: [good] });
  assert.deepEqual([wrapped?.[0], wrapped?.[1], more], ["events", "unknown_member", []]);
  assert.match(wrapped?.[2] ?? "", /no member `events`/);
  assert.deepEqual(faults({ type: "order.created" }), [["data", "required", "Is required."]]);
  assert.deepEqual(faults([good, { ...good, type: 1 }]), [["[1].type", "invalid_type", "Must be a text."]]);
  assert.deepEqual(faults("x"), [["", "invalid", "Must have one of the documented forms."]]);
});

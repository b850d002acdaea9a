import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const eventsPath = "/api/v1/webhooks/events";
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** JSON that a parser which prints again would change or refuse. */
const awkward = {
  numbers: '{"n":9007199254740993.0,"order":820982911946154508,"price":1.10,"zero":-0,"huge":1e400,"e":1E+2}',
  order: '{"b":1,"2":2,"1":3}',
  space: '{ "a" :\t[ 1 ,\r\n 2 ] }',
  escapes: '{"a":"\\u0041\\/\\u0000","\\ud800":"\\udfff\\u00e9 é","__proto__":{"a":1}}',
  depth: `{"a":${deep(65)}}`,
  abyss: `{"a":${deep(50_000)}}`,
  nested: '{"data":{"data":{"data":1.10}},"type":"x"}',
} as const;
const cases = Object.entries(awkward);

const publish = (body: string, headers: Record<string, string> = {}) =>
  delivery.send(who, "POST", eventsPath, { body, headers: { "content-type": "application/json", ...headers } });
const eventText = (id: string, data: string) => `{"id":"${id}", "type":"order.created" ,"data" : ${data}\n}`;
const cloudEventText = (id: string, data: string) =>
  `{"specversion":"1.0","source":"/shop","data":${data},"id":"${id}","type":"order.created"}`;
const bodyOf = async (id: string) =>
  (await receiver.waitFor(({ headers }) => headers["webhook-id"] === id)).body.toString();
const newEndpoint = (format: string, more: object = {}) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"], settings: { format }, ...more });

for (const format of ["envelope", "cloudevents", "original"])
  test(`awkward data arrives as it was written in the format ${format}`, async () => {
    await newEndpoint(format);
    for (const [name, data] of cases) assert.equal((await publish(eventText(name, data))).status, 202, name);
    for (const [name, data] of cases) assert.ok((await bodyOf(name)).includes(`"data":${data}`), name);
  });

test("awkward data of a batch arrives as it was written", async () => {
  await newEndpoint("envelope");
  const { status, text } = await publish(`[ ${cases.map(([name, data]) => eventText(name, data)).join(" , ")} ]`);
  assert.equal(status, 202, text);
  for (const [name, data] of cases) assert.ok((await bodyOf(name)).includes(`"data":${data}`), name);
});

test("awkward data of CloudEvents arrives as it was written, in each mode", async () => {
  await newEndpoint("cloudevents");
  const mediaType = (kind: string) => ({ "content-type": `application/cloudevents${kind}+json` });
  for (const [name, data] of cases) {
    const one = await publish(cloudEventText(`${name}-1`, data), mediaType(""));
    const many = await publish(`[${cloudEventText(`${name}-2`, data)}]`, mediaType("-batch"));
    const attributes = { specversion: "1.0", id: `${name}-3`, source: "/shop", type: "order.created" };
    const headers = Object.entries(attributes).map(([key, value]) => [`ce-${key}`, value]);
    const binary = await publish(data, Object.fromEntries(headers));
    assert.deepEqual([one.status, many.status, binary.status], [202, 202, 202], name);
    for (const [at, { body }] of [one, many, binary].entries())
      assert.ok((await bodyOf(body.items[0].id)).includes(`"data":${data}`), `${name}-${at + 1}`);
  }
});

test("a pulled message and the list of events have awkward data as it was written", async () => {
  const { id } = await newEndpoint("envelope", { type: "pull", url: undefined });
  for (const [name, data] of cases) await publish(eventText(name, data));
  const messages = await delivery.send(who, "GET", `${endpointsPath}/${id}/messages?wait_seconds=5&limit=20`);
  const events = await delivery.send(who, "GET", eventsPath);
  for (const [name, data] of cases) {
    const pulled = messages.body.items.find((one: { event_id: string }) => one.event_id === name);
    const listed = events.body.items.find((one: { id: string }) => one.id === name);
    assert.ok(pulled.body.includes(`"data":${data}`), name);
    assert.equal(listed.body, pulled.body, name);
  }
});

test("a filter reads the values of data that is delivered as it was written", async () => {
  await newEndpoint("envelope", { settings: { filter: { total: { gt: 5 } } } });
  await publish(eventText("small", '{"total":1.0e0}'));
  await publish(eventText("large", '{"total":10.50}'));
  assert.ok((await bodyOf("large")).includes('"data":{"total":10.50}'));
  assert.equal(receiver.requests.length, 1);
});

test("a schema judges the values of data that is delivered as it was written", async () => {
  const schema = { type: "object", properties: { total: { type: "number", minimum: 5 } } };
  const declared = { name: "order.created", schema, enforcement: "block" };
  const made = await delivery.send(who, "POST", "/api/v1/webhooks/event-types", { body: declared });
  assert.equal(made.status, 201, made.text);
  await newEndpoint("envelope");
  assert.equal((await publish(eventText("small", '{"total":1.0e0}'))).status, 422);
  assert.equal((await publish(eventText("large", '{"total":10.50}'))).status, 202);
  assert.ok((await bodyOf("large")).includes('"data":{"total":10.50}'));
});

test("a duplicate member of data is refused with its place", async () => {
  const places = [
    [eventText("x", '{"a":{"b":[0,{"c":1,"c":2}]}}'), "data.a.b[1].c"],
    [`[${eventText("y", "{}")},${eventText("x", '{"a":1,"\\u0061":2}')}]`, "[1].data.a"],
    [`{"type":"order.created","data":{},"data":{}}`, "data"],
  ] as const;
  for (const [body, place] of places) {
    const answer = await publish(body);
    const [{ field, code }] = answer.body.error.details;
    assert.deepEqual([answer.status, field, code], [400, place, "duplicate_member"]);
  }
});

test("data that is no object is refused, however its text is", async () => {
  for (const data of ["[1]", "1.10", '"text"', "null"]) {
    const { status, body } = await publish(eventText("x", data));
    assert.deepEqual(
      [status, body.error.details[0].field, body.error.details[0].message],
      [422, "data", "Must be an object."],
    );
  }
});

test("beside data the rules for the members of ours hold", async () => {
  for (const [more, code] of [
    ['"subject":9007199254740993', "number_out_of_range"],
    ['"subject":"\\u0000"', "invalid_text"],
    [`"cloudevents":{"a":${deep(65)}}`, "too_deep"],
  ]) {
    const { body } = await publish(`{"type":"order.created","data":{"a":1},${more}}`);
    assert.equal(body.error.details[0].code, code);
  }
});

test("an id is repeated by the same values in another order, and in conflict by a number that a double confuses", async () => {
  const again = async (first: string, second: string) => {
    const id = `order-${Math.random()}`;
    await publish(eventText(id, first));
    const { status, body } = await publish(eventText(id, second));
    return status === 409 ? "conflict" : body.items[0].duplicate;
  };
  assert.equal(await again('{"a":1,"b":[2.50]}', '{ "b":[2.5],"a":1.0 }'), true);
  assert.equal(await again('{"a":9007199254740993}', '{"a":9007199254740993}'), true);
  assert.equal(await again('{"a":9007199254740993}', '{"a":9007199254740992}'), "conflict");
  assert.equal(await again('{"a":1.00000000000000001}', '{"a":1.0}'), "conflict");
  assert.equal(await again('{"a":1e-400}', '{"a":0}'), "conflict");
});

test("an Idempotency-Key tells apart data that a double confuses", async () => {
  const headers = { "idempotency-key": "one" };
  assert.equal((await publish(eventText("a", '{"n":9007199254740993}'), headers)).status, 202);
  assert.equal((await publish(eventText("a", '{"n":9007199254740993}'), headers)).status, 202);
  const other = await publish(eventText("a", '{"n":9007199254740992}'), headers);
  assert.equal(other.body.error.details[0].code, "key_reused", other.text);
});

const inGraph = `mutation($events: [CustomWebhookEventInput!]!) {
  it: publishWebhookEvents(input: { events: $events }) { published { id } errors { field code message } } }`;
const publishInGraph = async (...events: object[]) => {
  const { data, errors } = await delivery.graphql(who, inGraph, { events });
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data.it;
};

test("awkward data in the text of the graph arrives as it was written", async () => {
  await newEndpoint("envelope");
  const events = cases.map(([id, dataJson]) => ({ id, type: "order.created", dataJson }));
  assert.deepEqual((await publishInGraph(...events)).errors, []);
  for (const [name, data] of cases) assert.ok((await bodyOf(name)).includes(`"data":${data}`), name);
});

test("the text of the graph is refused with its place where it is no JSON object or has a member twice", async () => {
  const refusal = async (event: object) => {
    const [{ field, code }] = (await publishInGraph({ type: "order.paid", data: {} }, { type: "order.paid", ...event }))
      .errors;
    return [field, code];
  };
  assert.deepEqual(await refusal({ dataJson: "{" }), ["events[1].dataJson", "invalid"]);
  assert.deepEqual(await refusal({ dataJson: '{"a":{"b":1,"b":2}}' }), ["events[1].dataJson.a.b", "duplicate_member"]);
  assert.deepEqual(await refusal({ dataJson: "[1]" }), ["events[1].dataJson", "invalid_type"]);
  assert.deepEqual(await refusal({ dataJson: "{}", data: {} }), ["events[1].dataJson", "invalid"]);
  assert.deepEqual(await refusal({}), ["events[1].data", "required"]);
});

test("awkward data is replayed as it was written", async () => {
  const { id } = await newEndpoint("cloudevents");
  await publish(eventText("order-1", awkward.numbers));
  const first = await bodyOf("order-1");
  const body = { endpoint_id: id, from: "2020-01-01T00:00:00Z" };
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 1);
  const { status, text } = await delivery.send(who, "POST", "/api/v1/webhooks/replays", { body });
  assert.equal(status, 202, text);
  const again = await receiver.waitFor(({ headers }) => headers["x-replay-id"] !== undefined);
  assert.equal(again.body.toString(), first);
  assert.ok(first.includes(`"data":${awkward.numbers}`));
});

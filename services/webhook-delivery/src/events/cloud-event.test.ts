import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { judge } from "@signalbox/http";
import { cloudEventForms } from "./cloud-event.ts";

const structured = "application/cloudevents+json";
const batched = "application/cloudevents-batch+json";
const whole = {
  specversion: "1.0",
  id: "order-17",
  source: "https://shop.example/orders",
  type: "order.created",
  data: { total: "12.50" },
};
const { data } = whole;
const cloudevents = { id: whole.id, source: whole.source, datacontenttype: "application/json" };
const eventId = "ce_319a8242060b12ab75405f6e25899406886efb17";
const published = { id: eventId, type: whole.type, data, cloudevents };

/** Reads a body by its form, as the edge does. */
function read(mediaType: string, body: unknown, headers: IncomingHttpHeaders = {}) {
  const form = cloudEventForms.formOf(mediaType, headers);
  if (form === null) return { form };
  const judged = judge(form.schema, form.read ? form.read(body) : body);
  // Data is raw JSON here.
  if (judged.success) return { body: JSON.parse(JSON.stringify(judged.data)) };
  return { faults: judged.details.map(({ field, code, message }) => [field, code, message]) };
}
/** Stands for an empty body. */
const nothing = Symbol("nothing");
const binary = (headers: Record<string, string>, content: unknown = data, mediaType = "application/json") =>
  read(mediaType, content === nothing ? undefined : content, {
    "content-type": mediaType,
    "ce-specversion": "1.0",
    "ce-id": whole.id,
    "ce-source": whole.source,
    "ce-type": whole.type,
    ...headers,
  });

test("JSON without a header of CloudEvents stays what it is", () => {
  assert.deepEqual(read("application/json", whole, { "content-type": "application/json", host: "x" }), { form: null });
});

test("an event is the same in each of the three modes", () => {
  assert.deepEqual(read(structured, whole), { body: published });
  assert.deepEqual(read(batched, [whole, whole]), { body: [published, published] });
  assert.deepEqual(binary({}), { body: published });
});

test("optional attributes and extensions are kept, and null is the same as absent", () => {
  const more = {
    subject: "order-17",
    time: "2026-01-01T10:00:00.123456+01:00",
    datacontenttype: "application/json; charset=utf-8",
    dataschema: "https://shop.example/order.json",
    tenant: "blue",
    retry: 3,
    urgent: true,
  };
  assert.deepEqual(read(structured, { ...whole, ...more, gone: null, traceparent: undefined }), {
    body: {
      ...published,
      subject: "order-17",
      created_at: "2026-01-01T09:00:00.123Z",
      cloudevents: {
        ...cloudevents,
        datacontenttype: more.datacontenttype,
        dataschema: more.dataschema,
        tenant: "blue",
        retry: 3,
        urgent: true,
      },
    },
  });
});

test("headers of binary mode are decoded: percent signs, quotes and any case of names", () => {
  const { body } = binary({ "ce-subject": "Caf%C3%A9%20%F0%9F%98%80", "ce-place": '"a \\"b\\" c"', "ce-n": "7" });
  assert.deepEqual(body, {
    ...published,
    subject: "Café 😀",
    cloudevents: { ...cloudevents, place: 'a "b" c', n: "7" },
  });
});

test("each pair of a source with an id has an event id of its own", () => {
  const idOf = (source: string, id: string): string => read(structured, { ...whole, source, id }).body.id;
  const pairs = [
    ["/a", "1"],
    ["/b", "1"],
    ["/a", "2"],
    ['/a","', "1"],
    ["/a", '","1'],
  ] as const;
  const ids = pairs.map(([source, id]) => idOf(source, id));
  assert.equal(new Set(ids).size, pairs.length);
  assert.equal(idOf("/a", "1"), ids[0]);
  for (const id of ids) assert.match(id, /^ce_[0-9a-f]{40}$/);
});

for (const type of [
  "com.github.pull_request.opened.v2.a.b.c.d.e",
  "Some/Type",
  "заказ создан",
  "😀",
  '100% "',
  "a".repeat(200),
])
  test(`a CloudEvent may have the type ${type.slice(0, 40)}`, () => {
    assert.equal(read(structured, { ...whole, type }).body?.type, type);
    assert.equal(binary({ "ce-type": encodeURIComponent(type) }).body?.type, type);
  });

for (const [what, given, expected] of [
  ["none", {}, [null, {}]],
  ["none, with the media type that it would have", { datacontenttype: "text/plain" }, [null, {}]],
  ["null", { data: null }, [null, { datacontenttype: "application/json" }]],
  ["a list", { data: [1] }, [[1], { datacontenttype: "application/json" }]],
  [
    "JSON of a media type of its own",
    { data, datacontenttype: "application/vnd.shop+json;v=1" },
    [data, { datacontenttype: "application/vnd.shop+json;v=1" }],
  ],
  ["a text", { data: "é\0", datacontenttype: "text/plain" }, ["é\0", { datacontenttype: "text/plain" }]],
  [
    "bytes beside null",
    { data: null, data_base64: "AP8=", datacontenttype: "image/png" },
    [null, { data_base64: "AP8=", datacontenttype: "image/png" }],
  ],
  ["bytes of no media type", { data_base64: "AP8=" }, [null, { data_base64: "AP8=" }]],
] as const)
  test(`the data of a CloudEvent may be ${what}`, () => {
    const { data: _, ...event } = whole;
    const { body } = read(structured, { ...event, ...given });
    const { id, source } = cloudevents;
    assert.deepEqual(body, { ...published, data: expected[0], cloudevents: { id, source, ...expected[1] } });
  });

for (const [mediaType, bytes, data, base64] of [
  ["text/plain", Buffer.from("\ufeffé"), "\ufeffé", undefined],
  ["text/csv; charset=UTF-8", Buffer.from("a,b"), "a,b", undefined],
  ["application/soap+xml", Buffer.from("<a/>"), "<a/>", undefined],
  ["text/plain; charset=iso-8859-1", Buffer.from([0x61]), null, "YQ=="],
  ["text/plain", Buffer.from([0xe9]), null, "6Q=="],
  ["application/octet-stream", Buffer.from("a"), null, "YQ=="],
] as const)
  test(`a body of ${mediaType} is ${base64 === undefined ? "a text" : "bytes"} in binary mode`, () => {
    const { body } = binary({}, bytes, mediaType);
    assert.deepEqual([body.data, body.cloudevents.data_base64], [data, base64]);
    assert.equal(body.cloudevents.datacontenttype, mediaType);
  });

test("an empty body in binary mode is no data, whatever its media type", () => {
  for (const mediaType of ["application/json", "text/plain", "image/png"]) {
    const { body } = binary({ "ce-data": "x" }, nothing, mediaType);
    assert.deepEqual([body.data, body.cloudevents], [null, { id: whole.id, source: whole.source }]);
  }
});

test("in structured mode the headers say nothing, so that a proxy cannot change a signed event", () => {
  assert.deepEqual(read(structured, whole, { "ce-id": "other", "ce-type": "order.deleted" }), { body: published });
});

const { source: _, ...withoutSource } = whole;
const control = "Must not have control characters.";
for (const [what, faults, expected] of [
  [
    "a list as one event",
    read(structured, [whole]),
    [["", "invalid_type", `Must be a CloudEvent object. Send a list as ${batched}.`]],
  ],
  [
    "one event as a list",
    read(batched, whole),
    [["", "invalid_type", `Must be a list of CloudEvents. Send a single one as ${structured}.`]],
  ],
  ["an event without a source", read(structured, withoutSource), [["source", "required", "Is required."]]],
  [
    "one of a list without a source",
    read(batched, [whole, withoutSource]),
    [["[1].source", "required", "Is required."]],
  ],
  [
    "another version",
    read(structured, { ...whole, specversion: "0.3" }),
    [["specversion", "invalid_value", "Must be 1.0."]],
  ],
  [
    "data both as JSON and as bytes",
    read(structured, { ...whole, data_base64: "AA==" }),
    [["data_base64", "invalid", "Send either `data` or `data_base64`."]],
  ],
  [
    "a text that is not base 64",
    read(structured, { ...whole, data: null, data_base64: "?" }),
    [["data_base64", "invalid_format", "Must be base 64."]],
  ],
  [
    "an object of another media type than JSON",
    read(structured, { ...whole, datacontenttype: "text/xml" }),
    [["data", "invalid", "Must be a string, because `datacontenttype` is not JSON."]],
  ],
  [
    "a media type of one word",
    read(structured, { ...whole, data: "x", datacontenttype: "text" }),
    [["datacontenttype", "invalid_format", "Must be a media type, such as text/plain."]],
  ],
  ["an empty type", read(structured, { ...whole, type: "" }), [["type", "too_small", "Must not be empty."]]],
  ["an empty list", read(batched, []), [["", "too_small", "Must contain at least one event."]]],
  [
    "a name in capitals",
    read(structured, { ...whole, Tenant: "x" }),
    [["Tenant", "invalid", "A name has 1–64 lower-case letters and digits."]],
  ],
  [
    "a forged account",
    read(structured, { ...whole, accountid: "acc_other" }),
    [["accountid", "invalid", "This attribute is set by the service."]],
  ],
  [
    "a forged account in a header",
    binary({ "ce-accountid": "acc_other" }),
    [["accountid", "invalid", "This attribute is set by the service."]],
  ],
  [
    "an object as an attribute",
    read(structured, { ...whole, tenant: {} }),
    [["tenant", "invalid", "Must be a string, a 32-bit integer, or a boolean."]],
  ],
  ["a control character in a header", binary({ "ce-subject": "a%0d%0ab" }), [["subject", "invalid_format", control]]],
  [
    "a header of the version alone",
    read("application/json", {}, { "ce-specversion": "1.0" }),
    [
      ["id", "required", "Is required."],
      ["source", "required", "Is required."],
      ["type", "required", "Is required."],
    ],
  ],
  [
    "a type of the service",
    read(structured, { ...whole, type: "image.created" }),
    [["type", "invalid", "This name is reserved for events of the service."]],
  ],
] as const) {
  test(`${what} is refused with its place`, () => assert.deepEqual(faults.faults, expected));
}

test("a header with a broken percent sign is refused by its name", () => {
  for (const value of ["100%", "%ff", "%E3%81"]) {
    assert.throws(() => binary({ "ce-subject": value }), {
      code: "validation_error",
      details: [
        {
          field: "ce-subject",
          code: "invalid_format",
          message: "Must be percent-encoded UTF-8; write a percent sign as `%25`.",
        },
      ],
    });
  }
});

test("a header whose name no attribute may have is refused by its name", () => {
  for (const name of ["ce-__proto__", "ce-my_tenant", "ce-", `ce-${"x".repeat(65)}`]) {
    const details = [
      { field: name, code: "invalid_format", message: "A name has 1–64 lower-case letters and digits." },
    ];
    assert.throws(() => binary({ [name]: "x" }), { code: "validation_error", details });
  }
});

test("attributes have a bound", () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x${at}`, 1]));
  assert.deepEqual(read(structured, { ...whole, ...many }).faults, [["", "invalid", "At most 32 are allowed."]]);
  assert.equal(read(structured, { ...whole, x: "y".repeat(1_025) }).faults?.[0]?.[0], "x");
});

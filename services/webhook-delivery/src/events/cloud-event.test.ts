import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { judge } from "@signalbox/http";
import { cloudEventForms } from "./cloud-event.ts";
import { PublishBody } from "./custom-event.ts";

const structured = "application/cloudevents+json";
const batched = "application/cloudevents-batch+json";
const whole = {
  specversion: "1.0",
  id: "order-17",
  source: "https://shop.example/orders",
  type: "order.created",
  data: { total: "12.50" },
};
const published = { id: whole.id, type: whole.type, data: whole.data, cloudevents: { source: whole.source } };

/** Reads a body as the edge does: by its form, and then as a publication. */
function read(mediaType: string, body: unknown, headers: IncomingHttpHeaders = {}) {
  const form = cloudEventForms.formOf(mediaType, headers);
  if (form === null) return { form };
  const inForm = judge(form.schema, form.read ? form.read(body) : body);
  const judged = inForm.success ? judge(PublishBody, inForm.data) : inForm;
  if (judged.success) return { body: judged.data };
  return { faults: judged.details.map(({ field, code, message }) => [field, code, message]) };
}
const binary = (headers: Record<string, string>, data: unknown = whole.data) =>
  read("application/json", data, {
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
  assert.deepEqual(read(batched, [whole, { ...whole, id: "2" }]), { body: [published, { ...published, id: "2" }] });
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
      cloudevents: { source: whole.source, dataschema: more.dataschema, tenant: "blue", retry: 3, urgent: true },
    },
  });
});

test("headers of binary mode are decoded: percent signs, quotes and any case of names", () => {
  const { body } = binary({ "ce-subject": "Caf%C3%A9%20%F0%9F%98%80", "ce-place": '"a \\"b\\" c"', "ce-n": "7" });
  assert.deepEqual(body, {
    ...published,
    subject: "Café 😀",
    cloudevents: { source: whole.source, place: 'a "b" c', n: "7" },
  });
});

test("in structured mode the headers say nothing, so that a proxy cannot change a signed event", () => {
  assert.deepEqual(read(structured, whole, { "ce-id": "other", "ce-type": "order.deleted" }), { body: published });
});

const { source: _, ...withoutSource } = whole;
const { data: __, ...withoutData } = whole;
const control = "Must not have control characters.";
for (const [what, faults, expected] of [
  [
    "a list as one event",
    read(structured, [whole]),
    [["", "invalid_type", `Must be a CloudEvent, an object. A list is ${batched}.`]],
  ],
  [
    "one event as a list",
    read(batched, whole),
    [["", "invalid_type", `Must be a list of CloudEvents. A single one is ${structured}.`]],
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
    "binary data",
    read(structured, { ...whole, data: undefined, data_base64: "AA==" }),
    [["data_base64", "invalid", "Binary data cannot be published. Send a JSON object in `data`."]],
  ],
  ["no data", read(structured, withoutData), [["data", "required", "Is required."]]],
  ["a text as data", read(structured, { ...whole, data: "x" }), [["data", "invalid", "Must be a JSON object."]]],
  ["a list as data in binary mode", binary({}, [1]), [["data", "invalid", "Must be a JSON object."]]],
  [
    "data that are no JSON",
    read(structured, { ...whole, datacontenttype: "text/xml" }),
    [["datacontenttype", "invalid_format", "Data must be JSON."]],
  ],
  [
    "a name in capitals",
    read(structured, { ...whole, Tenant: "x" }),
    [["Tenant", "invalid", "A name has 1–20 lower-case letters and digits."]],
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
    [["tenant", "invalid", "Must be a text, a whole number of 32 bits, or a boolean."]],
  ],
  ["a control character in a header", binary({ "ce-subject": "a%0d%0ab" }), [["subject", "invalid_format", control]]],
  [
    "a header of the body's media type",
    binary({ "ce-datacontenttype": "text/plain" }),
    [["datacontenttype", "invalid_format", "Data must be JSON."]],
  ],
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
    [["type", "invalid", "This prefix belongs to the events of the service."]],
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
          message: "Must be percent-encoded UTF-8; a percent sign itself is `%25`.",
        },
      ],
    });
  }
});

test("a header whose name no attribute may have is refused by its name", () => {
  for (const name of ["ce-__proto__", "ce-my_tenant", "ce-", `ce-${"x".repeat(21)}`]) {
    const details = [
      { field: name, code: "invalid_format", message: "A name has 1–20 lower-case letters and digits." },
    ];
    assert.throws(() => binary({ [name]: "x" }), { code: "validation_error", details });
  }
});

test("attributes have a bound", () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x${at}`, 1]));
  assert.deepEqual(read(structured, { ...whole, ...many }).faults, [["", "invalid", "At most 32 are allowed."]]);
  assert.equal(read(structured, { ...whole, x: "y".repeat(1_025) }).faults?.[0]?.[0], "x");
});

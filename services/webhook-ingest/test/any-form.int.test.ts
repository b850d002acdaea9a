import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { schemes, secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

const json = "application/json";
const entity = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>';
const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Bodies that a sender may sign in any scheme, each with what its event carries. */
const forms: readonly [
  what: string,
  body: Buffer,
  headers: Record<string, string>,
  carried: { text?: string; problem?: string },
][] = [
  ["a byte order mark", Buffer.from('\ufeff{"a":1}'), { "content-type": json }, {}],
  ["a charset of text", latin1("Zoë"), { "content-type": "text/plain; charset=iso-8859-1" }, { text: "Zoë" }],
  ["a charset of XML", latin1("<a>é</a>"), { "content-type": "text/xml; charset=windows-1252" }, { text: "<a>é</a>" }],
  ["a wrong charset", latin1("Zoé"), { "content-type": "text/plain; charset=utf-8" }, { problem: "charset_mismatch" }],
  ["a duplicate member", Buffer.from('{"a":1,"a":2}'), { "content-type": json }, { problem: "body_member_twice" }],
  [
    "129 levels",
    Buffer.from(`${"[".repeat(129)}${"]".repeat(129)}`),
    { "content-type": json },
    { problem: "body_too_deep" },
  ],
  ["no JSON", Buffer.from("{"), { "content-type": json }, { problem: "body_malformed" }],
  ["raw deflate", deflateRawSync('{"a":1}'), { "content-type": json, "content-encoding": "deflate" }, {}],
  [
    "another coding",
    Buffer.from("x"),
    { "content-type": json, "content-encoding": "zstd" },
    { problem: "coding_not_supported" },
  ],
  ["another media type", Buffer.from([0, 255]), { "content-type": "application/pdf" }, {}],
  ["UTF-8 under another name", Buffer.from('{"a":"Zoë"}'), { "content-type": `${json}; charset=us-ascii` }, {}],
  ["an entity", Buffer.from(entity), { "content-type": "application/xml" }, { text: entity }],
  [
    "a coding of nothing",
    Buffer.alloc(0),
    { "content-type": json, "content-encoding": "gzip" },
    { problem: "coding_malformed" },
  ],
  [
    "a part without a name",
    Buffer.from("--b\r\n\r\n1\r\n--b--"),
    { "content-type": "multipart/form-data; boundary=b" },
    {},
  ],
];

for (const scheme of schemes) {
  test(`${scheme}: a proved body of any form is taken and published`, async () => {
    const who = testPerson();
    const source = await ingest.newSource(who, { scheme, secret: secrets[scheme] });
    for (const [what, body, headers] of forms) {
      const webhook = sign(scheme, { body });
      const posted = await ingest.post(source, { body, headers: { ...webhook.headers, ...headers } });
      assert.equal(posted.status, 202, what);
    }
    const events = await ingest.eventsOf(who.accountId, forms.length, "webhook.received");
    for (const [nth, [what, body, , { text, problem }]] of forms.entries()) {
      const data = events[nth]?.data as Record<string, string | undefined>;
      assert.deepEqual([data.payload_text, data.payload_problem], [text, problem], what);
      if (problem !== undefined) assert.equal(data.payload_base64, body.toString("base64"), what);
    }
  });
}

test("standard-webhooks: CloudEvents are received with their types, one or a batch", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "standard-webhooks", secret: secrets["standard-webhooks"] });
  const event = '{"specversion":"1.0","id":"e-1","source":"/shop","type":"order.created","data":{"n":1}}';
  for (const [type, body] of [
    ["application/cloudevents+json", event],
    ["application/cloudevents-batch+json", `[${event}]`],
  ] as const) {
    const { headers } = sign("standard-webhooks", { body });
    assert.equal(
      (await ingest.post(source, { body, headers: { ...headers, "content-type": type } })).status,
      202,
      type,
    );
  }
  const { items } = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`)).body;
  assert.deepEqual(
    items.map(({ event_type }: { event_type: string | null }) => event_type),
    ["order.created", "order.created"],
  );
});

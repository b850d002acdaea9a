import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { timeInput } from "@signalbox/contracts";
import type { RawJson } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { serviceWith } from "@signalbox/testing";
import fc from "fast-check";
import { z } from "zod";
import { bodyRefusal, judge } from "./body-problems.ts";
import { addressBucket, createClientAddress, warnOfPeers } from "./client-address.ts";
import { parseJsonBody } from "./json-body.ts";
import { findJsonFlaw, jsonDepthMax, type RawPlace, scanJson } from "./json-scan.ts";

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }) as unknown as IncomingMessage;

test("without trusted proxies no client can choose its address", () => {
  const addressOf = createClientAddress([]);
  assert.equal(addressOf(from("203.0.113.9", "198.51.100.1")), "203.0.113.9");
});

test("forwarded addresses count up to the first one that no trusted proxy added", () => {
  const addressOf = createClientAddress(["10.0.0.0/8", "2001:db8::/32"]);
  const cases: readonly [string, string | undefined, string][] = [
    ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "6.6.6.6, 198.51.100.1, 10.2.3.4", "198.51.100.1"],
    ["10.0.0.1", "6.6.6.6, rubbish, 10.2.3.4", "10.2.3.4"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["2001:db8::1", "2001:4860::5", "2001:4860::5"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ];
  for (const [remote, forwarded, expected] of cases)
    assert.equal(addressOf(from(remote, forwarded)), expected, forwarded);
});

test("a forwarded address may come with its port", () => {
  const addressOf = createClientAddress(["10.0.0.0/8"]);
  for (const [forwarded, expected] of [
    ["198.51.100.1:4711", "198.51.100.1"],
    ["[2001:db8::7]:443", "2001:db8::7"],
    ["[2001:db8::7]", "2001:db8::7"],
    ["198.51.100.1:4711, 10.2.3.4:80", "198.51.100.1"],
  ] as const) {
    assert.equal(addressOf(from("10.0.0.1", forwarded)), expected, forwarded);
  }
});

test("a peer that forwards without being trusted is reported once", () => {
  const warned: unknown[] = [];
  const addressOf = createClientAddress(
    ["10.0.0.0/8"],
    warnOfPeers(serviceWith<Logger>({ warn: (fields: unknown) => void warned.push(fields) })),
  );
  for (const forwarded of ["198.51.100.1", "198.51.100.2", undefined]) addressOf(from("203.0.113.9", forwarded));
  addressOf(from("10.0.0.1", "198.51.100.1"));
  assert.deepEqual(warned, [{ peer: "203.0.113.9" }]);
});

test("an invalid proxy entry stops the start with its name", () => {
  assert.throws(() => createClientAddress(["proxy.internal"]), /http\.trusted-proxies: proxy\.internal/);
});

test("all addresses of an IPv6 /64 count as one customer", () => {
  assert.equal(addressBucket("2001:db8:1:2:aaaa:bbbb:cccc:dddd"), "2001:db8:1:2::/64");
  assert.equal(addressBucket("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  assert.equal(addressBucket("2001:db8::1"), "2001:db8:0:0::/64");
  assert.equal(addressBucket("::1"), "0:0:0:0::/64");
  assert.equal(addressBucket("192.0.2.1"), "192.0.2.1");
});

const flawed: readonly [string, string, string][] = [
  ['{"a":1,"a":2}', "duplicate_member", "a"],
  ['{"a":{"b":1,"c":[{"d":1,"d":1}]}}', "duplicate_member", "a.c[0].d"],
  ['{"a":1,"\\u0061":2}', "duplicate_member", "a"],
  ['{"":1,"":2}', "duplicate_member", ""],
  ['{"__proto__":1,"__proto__":2}', "duplicate_member", "__proto__"],
  ['{ "x" : "}" , "a\\"b" : 1 , "a\\"b" : 2 }', "duplicate_member", 'a"b'],
  ['{"n":9007199254740993}', "number_out_of_range", "n"],
  ['{"n":[1,-9007199254740993]}', "number_out_of_range", "n[1]"],
  ['{"n":1e400}', "number_out_of_range", "n"],
  ["[-1E999]", "number_out_of_range", "[0]"],
  [`${"[".repeat(jsonDepthMax + 1)}${"]".repeat(jsonDepthMax + 1)}`, "too_deep", ""],
];

for (const [text, code, path] of flawed) {
  test(`${text.slice(0, 40)} is refused as ${code}`, () => {
    JSON.parse(text);
    const flaw = findJsonFlaw(text);
    assert.deepEqual([flaw?.code, flaw?.path], [code, code === "too_deep" ? "" : path]);
  });
}

const fine = [
  '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
  '{"a":"{\\"a\\":1,\\"a\\":2}"}',
  '{"a":"\\\\","b":"\\\\\\""}',
  '{"a":1e10,"b":-0.5E-7,"c":9007199254740991,"d":0,"e":123456789012345.6}',
  `${"[".repeat(jsonDepthMax)}${"]".repeat(jsonDepthMax)}`,
  '"text"',
  "null",
  "[1,2,3]",
];

for (const text of fine) test(`${text.slice(0, 40)} passes`, () => assert.equal(findJsonFlaw(text), null));

test("output of JSON.stringify with safe numbers has no flaw, with any whitespace", () => {
  const value = fc.jsonValue({ maxDepth: 5 });
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, 3), (content, indent) => {
      const flaw = findJsonFlaw(JSON.stringify(content, null, indent));
      if (flaw !== null) assert.equal(flaw.code, "number_out_of_range");
    }),
  );
});

test("a duplicate name is always found", () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(names, fc.nat(), (list, pick) => {
      const members = list.map((name) => `${JSON.stringify(name)}:{"x":[1,"${"y".repeat(3)}"]}`);
      const again = members[pick % members.length] as string;
      assert.equal(findJsonFlaw(`{${[...members, again].join(",")}}`)?.code, "duplicate_member");
      assert.equal(findJsonFlaw(`{${members.join(",")}}`), null);
    }),
  );
});

test("raw JSON keeps its text in an object, in a list of objects, as the whole body", () => {
  const text = '{ "a":1.10,\t"__proto__":[-0,1e400],"a\\"b":"}" }';
  const place = { member: "data" };
  const textOf = (body: string, at: string | number, raw: RawPlace = place) => {
    const { value, flaws } = parseJsonBody(Buffer.from(body), raw);
    assert.deepEqual(flaws, []);
    const holder = value as Record<string | number, { data: RawJson }>;
    return ((at === "" ? holder : holder[at]) as { data: RawJson }).data.text;
  };
  assert.equal(textOf(`{"x":[{"data":1}],"data": ${text}\n}`, ""), text);
  assert.equal(textOf(`[{"data":${text},"x":2},{"x":{"data":5}, "data":[]}]`, 0), text);
  assert.equal(textOf(`[1,{"x":{"data":5}, "data":[[1,2],{"data":3}] }]`, 1), '[[1,2],{"data":3}]');
  assert.equal((parseJsonBody(Buffer.from(` ${text} `), { whole: true }).value as RawJson).text, text);
});

test("raw JSON is found whatever surrounds it", () => {
  const member = fc.tuple(fc.string(), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(
      fc.array(member),
      fc.array(member),
      fc.jsonValue(),
      fc.constantFrom(0, 1),
      (before, after, data, indent) => {
        const names = new Map([...before, ...after].filter(([name]) => name !== "data"));
        const text = JSON.stringify(data, null, indent);
        const members = [...names].map(([name, value]) => `${JSON.stringify(name)}:{"x":${JSON.stringify(value)}}`);
        members.splice(before.length, 0, ` "data" : ${text} `);
        const { spans } = scanJson(`[{${members.join(",")}}]`, { member: "data" }, { anyNumber: true });
        assert.deepEqual(
          spans.map(({ from, to }) => `[{${members.join(",")}}]`.slice(from, to).trim()),
          [text],
        );
      },
    ),
  );
});

for (const [number, isExact] of [
  ["0.30000000000000004", true],
  ["1e21", true],
  ["123456789012345.0", false],
  ["1234567890123.50", true],
  ["9007199254740993", false],
  ["9007199254740992", true],
  ["1.00000000000000001", false],
  ["1e400", false],
  ["1e-400", false],
  ["0.000e-400", true],
] as const)
  test(`raw JSON with ${number} is ${isExact ? "" : "not "}known by its value`, () => {
    assert.equal(scanJson(`{"data":[${number}]}`, { member: "data" }).spans[0]?.isExact, isExact);
  });

const schema = z.strictObject({
  name: z.string().min(1).max(3),
  id: z.string().regex(/^[a-z]+$/),
  tags: z.array(z.string()).max(2).optional(),
  size: z.int().min(1).max(9).optional(),
  ratio: z.number().gt(0).multipleOf(0.5).optional(),
  kind: z.enum(["a", "b"]).optional(),
  version: z.literal(1).optional(),
  at: timeInput.optional(),
  url: z.url().optional(),
  mail: z.email().optional(),
  uuid: z.uuid().optional(),
  either: z.union([z.string(), z.array(z.string())]).optional(),
  rows: z.record(z.string(), z.boolean()).optional(),
  rule: z
    .string()
    .refine(() => false)
    .optional(),
  labelled: z.string().min(9, "A label has nine characters.").optional(),
  inner: z.strictObject({ on: z.boolean() }).optional(),
});
const good = { name: "a", id: "a" };

function sentence(changes: object): string {
  const judged = judge(schema, { ...good, ...changes });
  assert.ok(!judged.success, JSON.stringify(changes));
  assert.equal(judged.details.length, 1, JSON.stringify(judged.details));
  return judged.details.map(({ field, code, message }) => `${field} ${code}: ${message}`).join();
}

test("every kind of fault has a sentence of ours", () => {
  const cases: readonly (readonly [object, string])[] = [
    [{ name: 7 }, "name invalid_type: Must be a string."],
    [{ name: null }, "name invalid_type: Must be a string."],
    [{ name: "" }, "name too_small: Must not be empty."],
    [{ name: "long" }, "name too_big: Must have at most 3 characters."],
    [{ id: "7" }, "id invalid_format: Must match /^[a-z]+$/."],
    [{ tags: ["a", "b", "c"] }, "tags too_big: Must have at most 2 items."],
    [{ tags: ["a", 1] }, "tags[1] invalid_type: Must be a string."],
    [{ tags: "a" }, "tags invalid_type: Must be a list."],
    [{ size: 0 }, "size too_small: Must be at least 1."],
    [{ size: 10 }, "size too_big: Must be at most 9."],
    [{ size: 1.5 }, "size invalid_type: Must be a whole number."],
    [{ ratio: 0 }, "ratio too_small: Must be more than 0."],
    [{ ratio: 0.7 }, "ratio invalid: Must be a multiple of 0.5."],
    [{ kind: "c" }, "kind invalid_value: Must be one of a, b."],
    [{ version: 2 }, "version invalid_value: Must be 1."],
    [{ at: "yesterday" }, "at invalid_format: Must be a time in RFC 3339, such as 2026-01-31T12:00:00Z."],
    [{ url: "here" }, "url invalid_format: Must be an absolute URL."],
    [{ mail: "me" }, "mail invalid_format: Must be an e-mail address."],
    [{ uuid: "me" }, "uuid invalid_format: Must be a UUID."],
    [{ either: 1 }, "either invalid: Must match one of the documented forms."],
    [{ rows: { a: "x" } }, "rows.a invalid_type: Must be true or false."],
    [{ rule: "x" }, "rule invalid: Is not valid."],
    [{ labelled: "x" }, "labelled too_small: A label has nine characters."],
    [{ inner: {} }, "inner.on required: Is required."],
    [{ inner: { on: true, off: true } }, "inner.off unknown_member: Is not a member of this resource."],
    [{ nmae: "x" }, "nmae unknown_member: Is not a member of this resource."],
  ];
  for (const [changes, expected] of cases) assert.equal(sentence(changes), expected);
});

test("a field with several faults is named once, with the first of them", () => {
  const rules = z.strictObject({ name: z.string().min(5).regex(/^b/).endsWith("c"), other: z.string() });
  const judged = judge(rules, { name: "a" });
  assert.deepEqual(judged.success || judged.details, [
    { field: "name", code: "too_small", message: "Must have at least 5 characters." },
    { field: "other", code: "required", message: "Is required." },
  ]);
});

test("the missing member of a malformed POST is named first", () => {
  const judged = judge(schema, { name: 7 });
  assert.ok(!judged.success);
  const { code, field, details } = bodyRefusal("POST", judged.details);
  assert.deepEqual([code, field, details.map((detail) => detail.field)], ["invalid_request", "id", ["id", "name"]]);
  assert.equal(bodyRefusal("PUT", judged.details).field, "name");
});

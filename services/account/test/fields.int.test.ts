import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "@signalbox/storage";
import fc from "fast-check";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

type Json = unknown;
type Body = Readonly<Record<string, Json>>;
const absent = Symbol("absent");

/** The writable part of every person's account at the start of these tests. */
const writable = {
  "/api/account/": { display_name: "Ada", contact_address: "ada@example.org", locale: "en", timezone: "UTC" },
  "/api/account/settings/": { locale: "en", timezone: "UTC", notifications: { product_updates: false } },
  "/api/settings/": { locale: "en", timezone: "UTC", notifications: { product_updates: false } },
} as const;
type Resource = keyof typeof writable;

const ada = () => account.person({ name: "Ada", email: "ada@example.org", email_verified: true });

/**
 * The outcome of each value: `kept` as it was, `cleared` to null, `taken` as sent, or 422 with that code. A value of
 * the wrong type and a valid one differ by field, so they come first.
 */
const table: readonly [field: string, wrong: Json, valid: Json, outcomes: string][] = [
  //                                          PATCH  PUT absent  null          ""           false         0            []           wrong        valid
  [
    "display_name",
    {},
    "Grace",
    "kept  required  invalid_type  invalid      invalid_type  invalid_type invalid_type invalid_type taken",
  ],
  [
    "contact_address",
    {},
    "g@example.org",
    "kept  cleared  cleared  invalid  invalid_type  invalid_type invalid_type invalid_type taken",
  ],
  [
    "locale",
    {},
    "de",
    "kept  required  invalid_type  unsupported  invalid_type  invalid_type invalid_type invalid_type taken",
  ],
  [
    "timezone",
    {},
    "Asia/Tokyo",
    "kept  required  invalid_type  unsupported  invalid_type  invalid_type invalid_type invalid_type taken",
  ],
  [
    "notifications",
    "on",
    { product_updates: true },
    "kept  required  invalid_type  invalid_type invalid_type  invalid_type invalid_type invalid_type taken",
  ],
  [
    "notifications.product_updates",
    "true",
    true,
    "kept  required  invalid_type  invalid_type taken  invalid_type invalid_type invalid_type taken",
  ],
];

const resourcesOf = (field: string) =>
  (Object.keys(writable) as Resource[]).filter((resource) => Object.hasOwn(writable[resource], headOf(field)));
const headOf = (field: string): string => field.split(".", 1)[0] ?? "";

for (const [field, wrong, valid, outcomes] of table) {
  for (const resource of resourcesOf(field)) {
    for (const method of ["PATCH", "PUT"] as const) {
      test(`${method} ${resource} tells absent, null, "", false, 0, [] and others apart in ${field}`, async () => {
        const [patchAbsent, putAbsent, ...others] = outcomes.split(/ +/);
        const expected = [method === "PATCH" ? patchAbsent : putAbsent, ...others];
        for (const [at, value] of [absent, null, "", false, 0, [], wrong, valid].entries()) {
          await judge(resource, method, field, value, expected[at] as string);
        }
      });
    }
  }
}

async function judge(resource: Resource, method: string, field: string, value: Json, outcome: string): Promise<void> {
  const headers = ada();
  const before = (await account.send("GET", resource, { headers })).body;
  const body = withMember(method === "PUT" ? writable[resource] : {}, field, value);
  const answer = await account.send(method, resource, { headers, body });
  const about = `${JSON.stringify(body)} is ${outcome}: ${JSON.stringify(answer.body)}`;
  if (outcome === "kept") {
    assert.deepEqual([answer.status, answer.body], [200, before], about);
  } else if (outcome === "cleared" || outcome === "taken") {
    // A new contact address stays pending until its confirmation.
    const shownAs = outcome === "taken" && field === "contact_address" ? "pending_contact_address" : field;
    assert.equal(answer.status, 200, about);
    assert.deepEqual(memberOf(answer.body, shownAs), outcome === "taken" ? value : null, about);
  } else {
    const named = answer.body.error.details.map((detail: Record<string, string>) => [detail.field, detail.code]);
    assert.deepEqual([answer.status, named], [422, [[field, outcome]]], about);
    assert.deepEqual((await account.send("GET", resource, { headers })).body, before, about);
  }
}

function withMember(body: Body, path: string, value: Json): Body {
  const [head = "", ...rest] = path.split(".");
  const { [head]: old, ...others } = body;
  if (rest.length > 0) return { ...others, [head]: withMember((old ?? {}) as Body, rest.join("."), value) };
  return value === absent ? others : { ...others, [head]: value };
}

const memberOf = (body: Body, path: string): Json =>
  path.split(".").reduce<Json>((value, name) => (value as Body)[name], body);

const texts = fc.oneof(fc.string({ unit: "grapheme", maxLength: 110 }), fc.constantFrom("", "Jo\u0308rg", "a\u202eb"));
const anyJson = fc.oneof(texts, fc.constantFrom(null, false, true, 0, [], {}));
const locales = fc.oneof(fc.constantFrom("en", "de", "pt-BR", "DE"), anyJson);
const zones = fc.oneof(fc.constantFrom("UTC", "Asia/Tokyo", "Mars/Base"), anyJson);
const patches = {
  "/api/account/": fc.record(
    {
      display_name: texts,
      contact_address: fc.constantFrom(null, "ada@example.org", "x@例え.テスト", ""),
      locale: locales,
      timezone: zones,
    },
    { requiredKeys: [] },
  ),
  "/api/settings/": fc.record(
    {
      locale: locales,
      timezone: zones,
      notifications: fc.record({ product_updates: fc.oneof(fc.boolean(), anyJson) }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  ),
};

for (const [resource, patch] of Object.entries(patches)) {
  test(`a merge patch of ${resource} twice is the same as once, and a refused one is as if it never came`, async () => {
    await fc.assert(
      fc.asyncProperty(patch, async (body) => {
        const headers = ada();
        const before = await account.send("GET", resource, { headers });
        const once = await account.send("PATCH", resource, { headers, body });
        const twice = await account.send("PATCH", resource, { headers, body });
        assert.equal(twice.status, once.status);
        const after = await account.send("GET", resource, { headers });
        const expected = once.status === 200 ? once : before;
        assert.deepEqual(after.body, expected.body);
        assert.equal(after.headers.get("etag"), expected.headers.get("etag"));
        if (once.status === 200) assert.deepEqual(twice.body, once.body);
      }),
      { numRuns: 25 },
    );
  });

  test(`the writable part of a GET of ${resource} changes nothing when it is sent back, by PATCH or PUT`, async () => {
    await fc.assert(
      fc.asyncProperty(patch, fc.constantFrom("PATCH", "PUT"), async (body, method) => {
        const headers = ada();
        await account.send("PATCH", resource, { headers, body });
        const read = await account.send("GET", resource, { headers });
        const names = Object.keys(writable[resource as Resource]);
        const own = Object.fromEntries(names.map((name) => [name, read.body[name]]));
        const written = await account.send(method, resource, { headers, body: own });
        assert.deepEqual([written.status, written.body], [200, read.body]);
        assert.equal(written.headers.get("etag"), read.headers.get("etag"));
      }),
      { numRuns: 20 },
    );
  });
}

/** An account from before the deployment dropped its locale, and ICU its time zone. */
async function fromBefore() {
  const headers = ada();
  const { id } = (await account.send("GET", "/api/account/", { headers })).body;
  const move = sql("", "update accounts set locale = 'tlh', timezone = 'Mars/Base' where id = $1");
  await openInside(account).pool.query(move, [id]);
  return headers;
}

test("a locale and a time zone that are no longer valid can be sent back, and no others of their kind", async () => {
  const headers = await fromBefore();
  for (const [resource, members] of Object.entries(writable)) {
    const read = await account.send("GET", resource, { headers });
    const own = Object.fromEntries(Object.keys(members).map((name) => [name, read.body[name]]));
    assert.deepEqual([own.locale, own.timezone], ["tlh", "Mars/Base"]);
    for (const method of ["PATCH", "PUT"]) {
      const written = await account.send(method, resource, { headers, body: own });
      assert.deepEqual([written.status, written.body], [200, read.body], `${method} ${resource}`);
      assert.equal(written.headers.get("etag"), read.headers.get("etag"));
      const other = await account.send(method, resource, { headers, body: { ...own, locale: "sux", x: 1 } });
      const named = other.body.error.details.map(({ field }: { field: string }) => field);
      assert.deepEqual([other.status, named], [422, ["locale", "x"]], `${method} ${resource}`);
    }
  }
  const stranger = await account.send("PATCH", "/api/account/", { headers: ada(), body: { locale: "tlh" } });
  assert.equal(stranger.status, 422, "of another account's values nothing is taken");
});

test("the graph takes them back as well, beside what changes", async () => {
  const headers = await fromBefore();
  const run = async (field: string, input: string) =>
    (await account.query(headers, `mutation { ${field}(input: { ${input} }) { errors { field } } }`)).data[field]
      .errors;
  assert.deepEqual(await run("updateAccount", `locale: "tlh", timezone: "Mars/Base", displayName: "Eve"`), []);
  assert.deepEqual(await run("updateAccountSettings", `locale: "tlh", notifications: { productUpdates: true }`), []);
  assert.deepEqual(await run("updateAccount", `locale: "sux", timezone: "Mars/Base"`), [{ field: "locale" }]);
  const { body } = await account.send("GET", "/api/account/", { headers });
  assert.deepEqual([body.display_name, body.locale, body.timezone], ["Eve", "tlh", "Mars/Base"]);
});

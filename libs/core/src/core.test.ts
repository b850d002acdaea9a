import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { definedMembers } from "./defined-members.ts";
import { AppError } from "./error-body.ts";
import { namedUuidv7, newId, newRequestId, randomId, requestIdOf, timeOfPublicId, uuidv7 } from "./ids.ts";
import { changedMembers, patched } from "./patch.ts";
import { isSecretName, masked, maskText } from "./secrets.ts";
import { isUnavailable } from "./unavailable.ts";

const many = Array.from({ length: 5_000 }, (_, index) => index);

test("a UUIDv7 carries its milliseconds, with fresh random bits", () => {
  const nowMs = Date.UTC(2026, 10, 21);
  const ids = many.map(() => uuidv7(nowMs));
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.ok(ids.every((id) => Number.parseInt(id.replace("-", "").slice(0, 12), 16) === nowMs));
  assert.equal(new Set(ids.map((id) => id.slice(-12))).size, ids.length);
});

test("a named UUIDv7 repeats only for the same name at the same moment", () => {
  const [id, again] = [namedUuidv7(60_000, "a"), namedUuidv7(60_000, "a")];
  assert.match(id, /^00000000-ea60-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(again, id);
  assert.notEqual(namedUuidv7(60_001, "a"), id);
  assert.notEqual(namedUuidv7(60_000, "b"), id);
});

test("prefixed public ids sort by creation time", () => {
  const [older, newer] = [newId("img", 1_000), newId("img", 1_001)];
  assert.match(older, /^img_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.ok(older < newer);
  assert.equal(new Set(many.map(() => newId("img", 1_000))).size, many.length);
});

test("only a public id yields a creation time", () => {
  for (const ms of [0, 1, 1_000, Date.UTC(2026, 10, 21, 9), 2 ** 48 - 1])
    assert.equal(timeOfPublicId(newId("img", ms)), ms);
  const id = newId("img");
  for (const other of [
    "",
    "img_",
    randomId("src"),
    id.slice(0, -1),
    `${id}0`,
    id.toUpperCase(),
    `img_z${id.slice(5)}`,
  ]) {
    assert.equal(timeOfPublicId(other), null, other);
  }
});

test("a random id reveals no time", () => {
  assert.match(randomId("src"), /^src_[0-9A-Za-z]{22}$/);
  assert.equal(new Set(many.map(() => randomId("src"))).size, many.length);
});

test("a caller's short and plain request id is kept, and any other is replaced by one of our form", () => {
  for (const id of ["r-1", "req_0", "a:b~c+d/e=", "x".repeat(128)]) assert.equal(requestIdOf(id), id);
  const ours = /^req_[0-9a-f]{32}$/;
  for (const id of [undefined, "", "a b", "x".repeat(129), 'a"b', "ä", ["a", "b"]]) assert.match(requestIdOf(id), ours);
  assert.notEqual(newRequestId(), newRequestId());
  const id = newRequestId();
  assert.equal(maskText(id), id, "the log shows it");
});

interface Shop {
  readonly name: string;
  readonly eventTypes: readonly string[] | null;
  readonly revision: number;
}

const shop: Shop = { name: "Shop", eventTypes: ["a"], revision: 1 };

test("a patch changes its members, null included, but not undefined ones", () => {
  assert.deepEqual(patched(shop, { name: undefined, eventTypes: null }), { ...shop, eventTypes: null });
  assert.deepEqual(shop.eventTypes, ["a"]);
});

test("members count as changed by content, under their wire names", () => {
  const names = { name: "name", eventTypes: "event_types" };
  assert.deepEqual(changedMembers(shop, { ...shop, eventTypes: ["a"], revision: 2 }, names), []);
  assert.deepEqual(changedMembers(shop, { ...shop, name: "Store", eventTypes: null }, names), ["name", "event_types"]);
});

test("only undefined members are dropped", () => {
  assert.deepEqual(definedMembers({ name: undefined, eventTypes: null, revision: 0 }), {
    eventTypes: null,
    revision: 0,
  });
});

// With a digit: of letters alone it could be a word.
const base62Text = fc.stringMatching(/^[A-Za-z0-9]{11,39}[0-9]$/);
const prose = fc.stringMatching(/^[a-z ,.]{0,30}$/);
const userInfo = fc.stringMatching(/^[A-Za-z0-9!$&'"()*+,;=:._~@%-]{8,40}$/);

const secretTexts = fc.oneof(
  base62Text.map((secret) => ({ secret, text: `sbx_live_${secret}` })),
  base62Text.map((secret) => ({ secret, text: `whsec_${secret}` })),
  base62Text.map((secret) => ({ secret, text: `whsk_${secret}` })),
  fc
    .tuple(
      fc.constantFrom(
        "sk_",
        "sk_live_",
        "rk_live_",
        "sk-",
        "ghp_",
        "gho_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "npm_",
        "AIza",
      ),
      base62Text,
    )
    .map(([prefix, secret]) => ({ secret, text: prefix + secret })),
  fc.stringMatching(/^[A-Z0-9]{16}$/).map((secret) => ({ secret, text: `AKIA${secret}` })),
  base62Text.map((secret) => ({ secret, text: `Bearer ${secret}` })),
  base62Text.map((secret) => ({ secret, text: `eyJhbGciOi${secret}.${secret}.${secret}` })),
  base62Text.map((secret) => ({
    secret,
    text: `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`,
  })),
  base62Text.map((secret) => ({ secret, text: `-----BEGIN PRIVATE KEY-----\n${secret}` })),
  base62Text.map((secret) => ({ secret, text: `password=${secret}` })),
  base62Text.map((secret) => ({ secret, text: `{"client_secret": "${secret}"}` })),
  base62Text.map((secret) => ({ secret, text: `Basic ${Buffer.from(`someone:${secret}`).toString("base64")}` })),
  userInfo.map((secret) => ({ secret, text: `postgres://${secret}@db.example:5432/account` })),
  userInfo.map((secret) => ({ secret, text: `https://someone:${secret}@example.com/path?x=1` })),
);

test("no secret with a recognisable form leaves a text, in any surroundings", () => {
  fc.assert(
    fc.property(prose, secretTexts, prose, (before, { secret, text }, after) => {
      const shown = maskText(`${before} ${text} ${after}`);
      assert.ok(!shown.includes(secret), shown);
      assert.ok(shown.includes(masked), shown);
    }),
    { numRuns: 2000 },
  );
});

test("the credentials of Basic authentication are hidden in their encoded form", () => {
  const encoded = Buffer.from("aladdin:open sesame").toString("base64");
  assert.equal(maskText(`authorization: Basic ${encoded}`), "authorization: Basic ******");
});

test("ordinary text stays readable, as does the host of a URL", () => {
  for (const text of [
    "the npm_config_registry of a task_list",
    "Basic authentication is off",
    "GET /images/img_1?width=320",
    "https://example.com/a/@b",
    "acc_3NZuUtQfMiI3eyJhbGciOi", // an id of ours that has the first letters of a JWT in its middle
  ]) {
    assert.equal(maskText(text), text);
  }
  assert.equal(maskText("redis://u:p@cache:6379/0"), "redis://******@cache:6379/0");
});

test("masking a hostile text takes time proportional to its length", () => {
  for (const unit of ["eyJ", "://", "-----BEGIN ", "a.", "password ", "Bearer ", "basic ", "sbx_", "xapp-"]) {
    const started = performance.now();
    maskText(`${unit.repeat(200_000 / unit.length)}!`);
    assert.ok(performance.now() - started < 1000, unit);
  }
});

test("a name with the ending of a secret is one", () => {
  for (const name of ["database.password", "s3.secret-key", "internal.token", "API_KEY", "oauth.credentials.file"]) {
    assert.ok(isSecretName(name), name);
  }
  for (const name of ["http.port", "tokenizer", "limits.pageSize"]) assert.ok(!isSecretName(name), name);
});

const withCode = (code: string, more = {}) => Object.assign(new Error(`failed with ${code}`), { code, ...more });
const refused = withCode("ECONNREFUSED");
const bug = new TypeError("x is not a function");

/** The errors that a worker's supervisor and a request once classified differently. */
const disputed: readonly [string, unknown, boolean][] = [
  ["a connection that was aborted here", withCode("ECONNABORTED"), true],
  ["a statement that took too long", withCode("57014"), true],
  ["a full disk", withCode("53100"), true],
  ["a standby that accepts no writes", withCode("25006"), true],
  ["a transaction that sat idle for too long", withCode("25P03"), true],
  ["a transaction that took too long", withCode("25P04"), true],
  ["a lock that was not to be had", withCode("55P03"), true],
  ["a serialization failure", withCode("40001"), true],
  ["a deadlock", withCode("40P01"), true],
  ["a database that is not there yet", withCode("3D000"), true],
  ["a database that was dropped", withCode("57P04"), true],
  ["Prisma: it cannot reach the server", withCode("P1001"), true],
  ["Prisma: the SQLSTATE that its adapter keeps", { originalCode: "57P01" }, true],
  ["Prisma: the driver's error in meta", withCode("P2010", { meta: { driverAdapterError: { cause: refused } } }), true],
  ["pg: a broken socket", new Error("Connection terminated unexpectedly"), true],
  ["pg: no connection in time", new Error("timeout exceeded when trying to connect"), true],
  ["pg: a connection takes too long", new Error("timeout expired"), true],
  ["pg: a silent server", new Error("Query read timeout"), true],
  ["a socket file that is not there", withCode("ENOENT", { syscall: "connect" }), true],
  ["a file that is not there", withCode("ENOENT", { syscall: "open" }), false],
  ["a machine without a free descriptor", withCode("EMFILE", { syscall: "open" }), true],
  ["a full disk of this machine", withCode("ENOSPC", { syscall: "write" }), true],
  ["refused on IPv4, no address on IPv6", new AggregateError([withCode("EADDRNOTAVAIL"), refused]), true],
  ["a thrown value that is not an Error", { code: "ECONNREFUSED" }, true],
  ["our refusal, copied by Prisma", withCode("unavailable"), true],
];

for (const [name, error, expected] of disputed) {
  test(`${expected ? "is waited out" : "is a failure"}: ${name}`, () => assert.equal(isUnavailable(error), expected));
}

test("an error is an outage only if it wraps one, even in a cycle", () => {
  assert.equal(isUnavailable(new Error("store failed", { cause: refused })), true);
  assert.equal(isUnavailable(new AppError("server_error", "No.", { cause: bug })), false);
  assert.equal(isUnavailable(new AggregateError([bug, bug])), false);
  const circle = new Error("circle");
  circle.cause = circle;
  assert.equal(isUnavailable(circle), false);
});

test("an error without a code is not classified", () => {
  for (const error of [bug, withCode("23505"), withCode("P2025"), new AppError("not_found", "No."), null, "text", 7])
    assert.equal(isUnavailable(error), false);
});

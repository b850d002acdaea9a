import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

const person = testPerson();
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");
const persisted = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
const refusalOf = ({
  status,
  body,
}: {
  status: number;
  body: { errors?: { message: string; extensions: object }[] };
}) => [status, body.errors?.[0]?.message, body.errors?.[0]?.extensions] as const;

let gateway: Harness;
before(async () => {
  gateway = await startGateway({ "graphql.limits.response": 1_024 });
});
after(() => gateway.close());

const post = (to: Harness, body: object, headers: Record<string, string> = {}) =>
  to.post(JSON.stringify(body), { ...person.headers, ...headers });

test("a text that came once with its digest is found by the digest alone, with POST and with GET", async () => {
  const query = "query Persisted { serverSettings { locale } }";
  const hash = digestOf(query);
  const missing = await post(gateway, persisted(hash));
  assert.deepEqual(refusalOf(missing), [200, "PersistedQueryNotFound", { code: "PERSISTED_QUERY_NOT_FOUND" }]);
  const data = { serverSettings: { locale: "en" } };
  assert.deepEqual((await post(gateway, { query, ...persisted(hash) })).body, { data });
  assert.deepEqual((await post(gateway, persisted(hash))).body, { data });
  assert.deepEqual((await post(gateway, { documentId: `sha256:${hash}` })).body, { data });
  const extensions = encodeURIComponent(JSON.stringify(persisted(hash).extensions));
  const got = await fetch(`${gateway.url}/graphql?extensions=${extensions}`, { headers: person.headers });
  assert.deepEqual(await got.json(), { data });
});

test("a digest works only for its own text and a valid document", async () => {
  const query = "query Another { serverSettings { locale } }";
  const refused = await post(gateway, { query, ...persisted(digestOf("another")) });
  assert.deepEqual(refusalOf(refused)[2], { code: "VALIDATION_FAILED" });
  assert.deepEqual(refusalOf(await post(gateway, persisted(digestOf(query))))[1], "PersistedQueryNotFound");
  const wrong = "{ noSuchField }";
  await post(gateway, { query: wrong, ...persisted(digestOf(wrong)) });
  assert.deepEqual(refusalOf(await post(gateway, persisted(digestOf(wrong))))[1], "PersistedQueryNotFound");
  for (const extensions of [{ persistedQuery: 1 }, { persistedQuery: { version: 2, sha256Hash: digestOf(query) } }]) {
    const { status, body } = await post(gateway, { extensions });
    assert.deepEqual([status, body.errors[0].extensions.field], [400, "extensions"]);
  }
});

test("an answer above the limit is LIMIT_RESPONSE, saying of a mutation that it was run", async () => {
  const query = await post(gateway, { query: `{ ${"long".repeat(300)}: serverSettings { locale } }` });
  assert.deepEqual([query.status, query.body.data, query.body.errors.length], [200, null, 1]);
  assert.deepEqual(query.body.errors[0].extensions, { code: "LIMIT_RESPONSE" });
  const change = `mutation { updateAccount(input: { displayName: "${"n".repeat(1_200)}" }) { account { displayName } } }`;
  const { body } = await post(gateway, { query: change });
  assert.deepEqual(body.errors[0].extensions, { code: "LIMIT_RESPONSE", outcome: "done" });
});

test("with graphql.documents=any a digest alone is told apart, in the words that clients know", async () => {
  const any = await startGateway({ "graphql.documents": "any" });
  const query = "{ serverSettings { locale } }";
  const alone = await post(any, persisted(digestOf(query)));
  const text = await post(any, { query });
  await any.close();
  assert.deepEqual(refusalOf(alone), [200, "PersistedQueryNotSupported", { code: "VALIDATION_FAILED" }]);
  assert.deepEqual(text.body, { data: { serverSettings: { locale: "en" } } });
});

test("with graphql.documents=trusted only the current manifest is run; a bad one changes nothing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "signalbox-manifest-"));
  const file = join(directory, "manifest.json");
  const [locale, viewer] = ["query L { serverSettings { locale } }", "query V { viewer { id } }"];
  const apollo = (...bodies: string[]) =>
    JSON.stringify({
      format: "apollo-persisted-query-manifest",
      version: 1,
      operations: bodies.map((body) => ({ id: digestOf(body), name: "N", type: "query", body })),
    });
  await writeFile(file, apollo(locale));
  const trusted = await startGateway({ "graphql.documents": "trusted", "graphql.trusted-documents": file });
  try {
    const data = { serverSettings: { locale: "en" } };
    assert.deepEqual((await post(trusted, { documentId: digestOf(locale) })).body, { data });
    assert.deepEqual((await post(trusted, { query: locale })).body, { data }, "the very text is as good as its name");
    for (const query of [viewer, `${locale} `, "{ __typename }"]) {
      const body = { query, ...persisted(digestOf(query)) };
      assert.deepEqual(refusalOf(await post(trusted, body))[2], { code: "VALIDATION_FAILED" }, query);
    }
    await writeFile(file, JSON.stringify({ [digestOf("something else")]: viewer }));
    await eventually(async () =>
      /reload_failures_total{[^}]*trusted documents[^}]*} 1/.test(await trusted.context.metrics.text()),
    );
    assert.deepEqual((await post(trusted, { query: locale })).body, { data });
    await writeFile(file, JSON.stringify({ [digestOf(viewer)]: viewer, "who-am-i": viewer }));
    const answer = await eventually(async () => {
      const { body } = await post(trusted, { documentId: "who-am-i" });
      return body.data ? body : null;
    });
    assert.deepEqual(answer, { data: { viewer: { id: person.accountId } } });
    assert.equal(refusalOf(await post(trusted, { documentId: digestOf(locale) }))[1], "PersistedQueryNotFound");
  } finally {
    await trusted.close();
    await rm(directory, { recursive: true, force: true });
  }
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
const newSource = (who: Person) => ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac });
const rotate = (who: Person, { id }: { id: string }, body?: object) =>
  ingest.send(who, "POST", `${sourcesPath}/${id}/rotate-url`, body ? { body } : {});
const statusAt = async (ingest_path: string, harness = ingest) =>
  (await harness.post({ ingest_path }, sign("hmac"))).status;
/** Ends every overlap of a source now. */
const endOverlaps = ({ id }: { id: string }) =>
  ingest.pool.query(
    {
      name: "",
      text: `update sources set revision = revision + 1, former_addresses_end_at =
        array(select now() - interval '1 second' from unnest(former_addresses)) where id = $1`,
    },
    [id],
  );

test("webhooks are accepted at the new address, and at the former one until its overlap ends", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const { status, body } = await rotate(who, source);
  assert.equal(status, 200);
  assert.notEqual(body.ingest_path, source.ingest_path);
  const [former] = body.former_ingest_paths;
  assert.equal(former.ingest_path, source.ingest_path);
  const overlapMs = Date.parse(former.ends_at) - Date.parse(body.updated_at);
  assert.equal(overlapMs, 24 * 60 * 60 * 1000);
  assert.deepEqual([await statusAt(body.ingest_path), await statusAt(source.ingest_path)], [202, 202]);
  await endOverlaps(source);
  await eventually(async () => assert.equal(await statusAt(source.ingest_path), 404));
  assert.equal(await statusAt(body.ingest_path), 202);
  const { items } = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received`)).body;
  assert.equal(items.length, 3);
});

test("without an overlap the former address is unknown at once, in every instance", async () => {
  const other = await startIngest({
    "database.url": ingest.context.configuration.get("database.url"),
    "events.url": ingest.context.configuration.get("events.url"),
  });
  try {
    const who = testPerson();
    const source = await newSource(who);
    assert.equal(await statusAt(source.ingest_path, other), 202);
    const { body } = await rotate(who, source, { overlap_seconds: 0 });
    assert.deepEqual(body.former_ingest_paths, []);
    assert.equal(await statusAt(source.ingest_path, other), 404);
    assert.equal(await statusAt(body.ingest_path, other), 202);
    assert.equal(await statusAt("/ingest/ing_nobodys", other), 404);
  } finally {
    await other.close();
  }
});

test("three addresses are live at once, and one more is refused", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const second = await rotate(who, source, { overlap_seconds: 1_000 });
  const third = await rotate(who, source, { overlap_seconds: 1_000 });
  const paths = [source.ingest_path, second.body.ingest_path, third.body.ingest_path];
  for (const path of paths) assert.equal(await statusAt(path), 202);
  const refused = await rotate(who, source);
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [409, "too_many"]);
  await endOverlaps(source);
  const next = await rotate(who, source);
  assert.deepEqual(
    next.body.former_ingest_paths.map((one: { ingest_path: string }) => one.ingest_path),
    [third.body.ingest_path],
  );
});

test("a rotation without overlap ends every former address, and is never one too many", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const second = await rotate(who, source, { overlap_seconds: 1_000 });
  const third = await rotate(who, source, { overlap_seconds: 1_000 });
  const { status, body } = await rotate(who, source, { overlap_seconds: 0 });
  assert.deepEqual([status, body.former_ingest_paths], [200, []]);
  for (const { ingest_path } of [source, second.body, third.body]) assert.equal(await statusAt(ingest_path), 404);
  assert.equal(await statusAt(body.ingest_path), 202);
});

test("a rotation is announced and audited, and rejections at the new address belong to the source", async () => {
  const who = testPerson();
  const source = await newSource(who);
  const { body } = await rotate(who, source);
  const [, updated] = await ingest.eventsOf(who.accountId, 2);
  const { changed, ingest_path } = (updated?.data ?? {}) as { changed?: string[]; ingest_path?: string };
  assert.deepEqual([changed, ingest_path], [["ingest_path"], body.ingest_path]);
  const forged = { ...sign("hmac"), body: "{}" };
  assert.equal((await ingest.post(body, forged)).status, 401);
  await eventually(async () => {
    const { items } = (await ingest.send(who, "GET", `${sourcesPath}/${source.id}/rejections`)).body;
    assert.equal(items[0]?.reason, "signature_mismatch");
  });
});

test("only the owner rotates an address, and not from an outdated state", async () => {
  const who = testPerson();
  const source = await newSource(who);
  assert.equal((await rotate(testPerson(), source)).status, 404);
  assert.equal((await rotate(testPerson({ accountId: who.accountId, scopes: ["webhooks:read"] }), source)).status, 403);
  for (const overlap_seconds of [-1, 86_401, 1.5]) {
    assert.equal((await rotate(who, source, { overlap_seconds })).status, 422);
  }
  const headers = { "if-match": '"another"' };
  const path = `${sourcesPath}/${source.id}/rotate-url`;
  assert.equal((await ingest.send(who, "POST", path, { headers, body: {} })).status, 409);
});

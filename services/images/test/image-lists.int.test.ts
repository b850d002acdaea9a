import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
let files: Buffer[];
before(async () => {
  [images, ...files] = await Promise.all([
    startImages(),
    readFixture("one-pixel.png"),
    readFixture("alpha.png"),
    readFixture("photo-rotated.jpg"),
  ]);
});
after(() => images.close());

interface Item {
  readonly id: string;
  readonly filename: string;
  readonly size_bytes: number;
  readonly updated_at: string;
}

const get = (who: TestPerson, query: string) => images.send(who, "GET", `/images${query}`);
async function upload(who: TestPerson, filename: string, fields: Record<string, string | string[]> = {}, file = 0) {
  const { status, text, body } = await images.upload(who, files[file] ?? Buffer.alloc(0), fields, filename);
  assert.equal(status, 201, text);
  return body as Item;
}
async function namesOf(who: TestPerson, query: string): Promise<string[]> {
  const { status, body, text } = await get(who, query);
  assert.equal(status, 200, text);
  return body.items.map(({ filename }: Item) => filename);
}

/** Reads all pages of a list, an item at a time. */
async function paged(who: TestPerson, query: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor = ""; ; ) {
    const { body, text } = await get(who, `?limit=1&${query}${cursor}`);
    assert.ok(body.items, text);
    names.push(...body.items.map(({ filename }: Item) => filename));
    if (!body.next_cursor) return names;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

test("a text is found in title, file name or tags, in any case", async () => {
  const who = testPerson();
  await upload(who, "harbour.png", { title: "Ümlaut at dusk" });
  await upload(who, "100%_real.png", { tags: ["Night", "long exposure"] });
  await upload(who, "plain.png", { caption: "harbour" });
  const found = async (text: string) => (await namesOf(who, `?text=${encodeURIComponent(text)}`)).toSorted();
  assert.deepEqual(await found("HARB"), ["harbour.png"], "a caption is not searched");
  assert.deepEqual(await found("ümlaut"), ["harbour.png"]);
  assert.deepEqual(await found("U\u0308mlaut"), ["harbour.png"], "however its letters are composed");
  assert.deepEqual(await found("night"), ["100%_real.png"]);
  assert.deepEqual(await found("exposure"), ["100%_real.png"]);
  assert.deepEqual(await found("0%_r"), ["100%_real.png"]);
  assert.deepEqual(await found("1%r"), [], "a percent sign is no wildcard");
  assert.deepEqual(await found("h_rbour"), [], "an underscore is none");
  assert.deepEqual(await found("\\"), [], "a backslash is no escape");
  assert.deepEqual(await found(".png"), ["100%_real.png", "harbour.png", "plain.png"]);
  assert.deepEqual(await namesOf(who, "?text=png&tag=Night"), ["100%_real.png"], "filters narrow it together");
  assert.deepEqual(await namesOf(testPerson(), "?text=png"), []);
});

test("every order is paged without a gap in both directions, ties included", async () => {
  const who = testPerson();
  const first = await upload(who, "b.png", {}, 0);
  await upload(who, "a.png", {}, 1);
  await upload(who, "c.png", {}, 2);
  await upload(who, "a.png", {}, 0);
  assert.equal((await images.send(who, "PATCH", `/images/${first.id}`, { body: { title: "late" } })).status, 200);
  const all = (await get(who, "?limit=100")).body.items as Item[];
  const sorted = (by: (item: Item) => number | string): string[] =>
    all
      .toSorted((one, other) => {
        const [a, b] = [by(one), by(other)];
        if (a !== b) return a < b ? -1 : 1;
        return one.id < other.id ? -1 : 1;
      })
      .map(({ filename }) => filename);
  for (const [sort, by] of [
    ["filename", ({ filename }: Item) => filename],
    ["size_bytes", ({ size_bytes: size }: Item) => size],
    ["updated_at", ({ updated_at: at }: Item) => at],
  ] as const) {
    assert.deepEqual(await paged(who, `sort=${sort}`), sorted(by), sort);
    assert.deepEqual(await paged(who, `sort=-${sort}`), sorted(by).toReversed(), `-${sort}`);
  }
  assert.deepEqual(await paged(who, "sort=created_at"), ["b.png", "a.png", "c.png", "a.png"]);
  assert.deepEqual(await paged(who, "sort=-created_at"), await paged(who, ""));
  assert.equal((await paged(who, "sort=-updated_at"))[0], "b.png", "the changed one comes first");
});

test("wrong values or foreign cursors are refused", async () => {
  const who = testPerson();
  await upload(who, "a.png");
  await upload(who, "b.png");
  const { next_cursor: cursor } = (await get(who, "?limit=1&sort=filename")).body;
  const refusal = async (query: string) => {
    const { status, body } = await get(who, query);
    return [status === 400 || status === 422, body.error.details.map(({ field }: { field: string }) => field)];
  };
  for (const query of [
    `?sort=-filename&cursor=${cursor}`,
    `?cursor=${cursor}`,
    `?sort=filename&text=a&cursor=${cursor}`,
  ])
    assert.deepEqual(await refusal(query), [true, ["cursor"]], query);
  const forge = async (sort: string, key: unknown) => {
    const { next_cursor: genuine } = (await get(who, `?limit=1&sort=${sort}`)).body;
    const [at, id, mark] = JSON.parse(Buffer.from(genuine, "base64url").toString("utf8"));
    const forged = key === undefined ? [at, id, mark] : [at, id, mark, key];
    return refusal(`?sort=${sort}&cursor=${Buffer.from(JSON.stringify(forged)).toString("base64url")}`);
  };
  for (const [sort, key] of [
    ["size_bytes", "many"],
    ["size_bytes", 1.5],
    ["size_bytes", 2 ** 40],
    ["size_bytes", undefined],
    ["filename", 1],
    ["filename", undefined],
    ["updated_at", "soon"],
    ["updated_at", undefined],
  ] as const)
    assert.deepEqual(await forge(sort, key), [true, ["cursor"]], `${sort} ${key}`);
  for (const [query, field] of [
    ["?sort=colour", "sort"],
    ["?text=", "text"],
    [`?text=${"x".repeat(101)}`, "text"],
  ] as const)
    assert.deepEqual(await refusal(query), [true, [field]], query);
});

test("images are deleted together, each with its outcome, never those of others", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const [one, two, kept] = [await upload(who, "1.png"), await upload(who, "2.png"), await upload(who, "3.png")];
  const foreign = await upload(other, "theirs.png");
  const ids = [two.id, foreign.id, "img_unknown", one.id];
  const answer = await images.send(who, "POST", "/images/delete", { body: { ids } });
  assert.deepEqual(
    [answer.status, answer.body],
    [
      200,
      {
        items: [
          { id: two.id, outcome: "deleted" },
          { id: foreign.id, outcome: "missing" },
          { id: "img_unknown", outcome: "missing" },
          { id: one.id, outcome: "deleted" },
        ],
      },
    ],
  );
  assert.deepEqual(await namesOf(who, ""), ["3.png"]);
  assert.deepEqual(await namesOf(other, ""), ["theirs.png"]);
  const deleted = await images.eventsOf(who.accountId, 2, "image.deleted");
  assert.deepEqual(deleted.map(({ subject }) => subject).toSorted(), [one.id, two.id].toSorted());
  const entries = (await images.auditOf(who.accountId, 5)).filter(
    ({ data }) => (data as { action: string }).action === "image.delete",
  );
  assert.equal(entries.length, 2, "the audit has an entry for each");
  assert.equal((await images.send(who, "GET", `/images/deletions/${one.id}`)).status, 200);
  const again = await images.send(who, "POST", "/images/delete", { body: { ids: [one.id, kept.id] } });
  assert.deepEqual(
    again.body.items.map(({ outcome }: { outcome: string }) => outcome),
    ["missing", "deleted"],
  );
});

test("a request to delete has one answer for its key, or is refused as a whole", async () => {
  const who = testPerson();
  const { id } = await upload(who, "1.png");
  const post = (body: object, headers: Record<string, string> = {}) =>
    images.send(who, "POST", "/images/delete", { body, headers });
  for (const [body, field] of [
    [{}, "ids"],
    [{ ids: [] }, "ids"],
    [{ ids: Array.from({ length: 101 }, (_, at) => `img_${at}`) }, "ids"],
    [{ ids: [id, id] }, "ids[1]"],
    [{ ids: [1] }, "ids[0]"],
  ] as const) {
    const { status, body: refusal } = await post(body);
    assert.ok(status === 400 || status === 422);
    assert.equal(refusal.error.details[0].field, field);
  }
  assert.deepEqual(await namesOf(who, ""), ["1.png"]);
  const reader = testPerson({ accountId: who.accountId, kind: "api-key", scopes: ["images:read"] });
  assert.equal((await images.send(reader, "POST", "/images/delete", { body: { ids: [id] } })).status, 403);
  const key = { "idempotency-key": "delete-once" };
  const [first, second] = [await post({ ids: [id] }, key), await post({ ids: [id] }, key)];
  assert.deepEqual([first.body.items[0].outcome, second.body], ["deleted", first.body]);
});

test("the graph has the rules of REST for lists", async () => {
  const who = testPerson();
  const [a, b] = [await upload(who, "a.png", { tags: ["sea"] }), await upload(who, "b.png", { tags: ["seaside"] })];
  const query = `query($of: [_Any!]!, $after: String) { _entities(representations: $of) { ... on Account {
    images(first: 1, after: $after, text: "SEA", sort: "filename") { edges { cursor node { id } } pageInfo { hasNextPage } } } } }`;
  const ask = async (after: string | null) => {
    const { data } = await images.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }], after });
    return data._entities[0].images;
  };
  const first = await ask(null);
  assert.deepEqual([first.edges[0].node.id, first.pageInfo.hasNextPage], [a.id, true]);
  const { next_cursor: cursor } = (await get(who, "?limit=1&text=SEA&sort=filename")).body;
  assert.equal(cursor, first.edges[0].cursor);
  assert.equal((await ask(cursor)).edges[0].node.id, b.id);
  const mutation = `mutation($input: DeleteImagesInput!) {
    deleteImages(input: $input) { outcomes { id outcome } errors { field code } } }`;
  const run = async (ids: string[]) => (await images.graphql(who, mutation, { input: { ids } })).data.deleteImages;
  assert.deepEqual(await run([a.id, "img_unknown"]), {
    outcomes: [
      { id: a.id, outcome: "deleted" },
      { id: "img_unknown", outcome: "missing" },
    ],
    errors: [],
  });
  const twice = await run([b.id, b.id]);
  assert.deepEqual([twice.outcomes, twice.errors[0].field], [null, "ids[1]"]);
  assert.deepEqual(await namesOf(who, ""), ["b.png"]);
});

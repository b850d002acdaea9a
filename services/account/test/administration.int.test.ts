import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let administrator: Record<string, string>;

before(async () => {
  account = await startAccount();
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const list = "/api/accounts/";
const get = (path: string, headers = administrator) => account.send("GET", path, { headers });
const newAccount = async (claims: Record<string, unknown> = {}): Promise<string> =>
  (await get("/api/account/", account.person(claims))).body.id;
const search = async (query: string): Promise<string[]> =>
  (await get(`${list}?${query}`)).body.items.map(({ id }: { id: string }) => id);

test("an administrator reads any account, with what its owner sees and what only administrators do", async () => {
  const headers = account.person({ name: "Ada" });
  const own = (await get("/api/account/", headers)).body;
  const { status, body, headers: answered } = await get(`${list}${own.id}`);
  assert.equal(status, 200);
  const { links: _own, ...shared } = own;
  assert.deepEqual(body, {
    ...shared,
    roles: ["owner"],
    status_changed_by: null,
    recovery_requested_at: null,
    purged_at: null,
    links: { self: `${list}${own.id}`, status: `${list}${own.id}/status`, audit: `${list}${own.id}/audit/` },
  });
  const again = await get(`${list}${own.id}`, {
    ...administrator,
    "if-none-match": answered.get("etag") as string,
  });
  assert.equal(again.status, 304);
});

test("an account that is not there is missing, whatever its id looks like", async () => {
  for (const id of ["acc_0000000000000000000000", "x", "%00", "..%2f", "null"]) {
    assert.equal((await get(`${list}${id}`)).status, 404, id);
  }
});

test("the list shows every account once, newest first, page by page, while others come", async () => {
  const word = crypto.randomUUID().slice(0, 8);
  const made: string[] = [];
  for (let count = 0; count < 5; count++) made.unshift(await newAccount({ name: `Walk ${word} ${count}` }));
  const seen: string[] = [];
  let cursor = "";
  for (;;) {
    const { body } = await get(`${list}?search=${word}&limit=2${cursor}`);
    seen.push(...body.items.map(({ id }: { id: string }) => id));
    await newAccount({ name: `Walk ${word} later` });
    if (!body.has_more) break;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  assert.deepEqual(seen, made);
});

test("accounts are found by a part of the name or the address in any case, by id, by status and by time", async () => {
  const word = crypto.randomUUID().slice(0, 8);
  const named = await newAccount({ name: `Zoë 100%_${word.toUpperCase()}` });
  const addressed = await newAccount({ email: `${word}@example.org`, email_verified: true });
  assert.deepEqual(await search(`search=${word}`), [addressed, named]);
  assert.deepEqual(await search(`search=${named}`), [named]);
  assert.deepEqual(await search(`search=${encodeURIComponent(`100%_${word}`)}`), [named]);
  assert.deepEqual(await search(`search=${encodeURIComponent(`1_0%${word}`)}`), [], "signs of LIKE mean themselves");
  assert.deepEqual(await search(`search=${word}&status=suspended`), []);
  const { created_at } = (await get(`${list}${named}`)).body;
  assert.deepEqual(await search(`search=${word}&created_after=${created_at}`), [addressed]);
  assert.deepEqual(await search(`search=${word}&created_before=${created_at}`), []);
});

test("a name is found however its letters were typed", async () => {
  const word = crypto.randomUUID().slice(0, 8);
  const id = await newAccount({ name: `Zoe\u0308 ${word}` });
  for (const typed of [`Zo\u00eb ${word}`, `zoe\u0308 ${word}`]) {
    assert.deepEqual(await search(`search=${encodeURIComponent(typed)}`), [id]);
    const { data } = await account.query(
      administrator,
      "query($s: String) { accounts(search: $s) { edges { node { id } } } }",
      {
        s: typed,
      },
    );
    assert.deepEqual(data.accounts.edges, [{ node: { id } }]);
  }
});

test("what a filter does not know is refused, never ignored", async () => {
  for (const query of [
    "status=gone",
    "search=x",
    "limit=0",
    "limit=101",
    "recovery_requested=1",
    "cursor=x",
    "name=a",
  ]) {
    assert.equal((await get(`${list}?${query}`)).status, 400, query);
  }
});

test("an owner's credential opens none of these routes, not even for the own account", async () => {
  const headers = account.person();
  const own = (await get("/api/account/", headers)).body.id;
  for (const path of [list, `${list}${own}`]) assert.equal((await get(path, headers)).status, 403);
  const body = { status: "suspended", reason: "x" };
  assert.equal((await account.send("POST", `${list}${own}/status`, { headers, body })).status, 403);
  const claimed = account.person({ scope: "account:read account:admin" });
  assert.equal((await get(list, claimed)).status, 403, "the scope of a token does not make an administrator");
});

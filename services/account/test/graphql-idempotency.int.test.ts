import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import {
  encodeOperationKey,
  encodePrincipal,
  operationKeyHeader,
  principalHeader,
  requestFingerprint,
} from "@signalbox/http";
import { sql } from "@signalbox/storage";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
let who: { authorization: string };
before(async () => {
  account = await startAccount();
  who = account.person();
});
after(() => account.close());

const create = (name: string, scopes = '["images:read"]') =>
  `createApiKey(input: { name: "${name}", scopes: ${scopes} }) { apiKey { id name } key errors { field } }`;

/** Sends a mutation as the gateway does for a client that sent an `Idempotency-Key`. */
async function mutate(
  key: string,
  fields: string,
  { as = who, isFirst = true }: { as?: Record<string, string>; isFirst?: boolean } = {},
) {
  const query = `mutation { ${fields} }`;
  const fingerprint = requestFingerprint("POST", "/graphql", {}, query);
  const headers = {
    [principalHeader]: encodePrincipal(await account.principalOf(as)),
    [operationKeyHeader]: encodeOperationKey({ key, fingerprint, isFirst }),
  };
  return (await account.sendInternal("/graphql", { query }, headers)).body;
}

async function keyNames(as = who): Promise<string[]> {
  const { data } = await account.query(as, "{ viewer { apiKeys(first: 100) { edges { node { name } } } } }");
  return data.viewer.apiKeys.edges.map(({ node }: { node: { name: string } }) => node.name);
}
const countOf = async (name: string) => (await keyNames()).filter((one) => one === name).length;

test("the same mutation under one key is run once and answers the same, the secret included", async () => {
  const key = randomUUID();
  const first = await mutate(key, create("once"));
  const again = await mutate(key, create("once"));
  assert.match(first.data.createApiKey.key, /^sbx_/);
  assert.deepEqual(again.data, first.data);
  assert.deepEqual([first.extensions?.idempotentReplayed, again.extensions.idempotentReplayed], [undefined, true]);
  assert.equal(await countOf("once"), 1);
});

test("at the same time it is run once too", async () => {
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 8 }, () => mutate(key, create("together"))));
  assert.equal(await countOf("together"), 1);
  for (const { data, errors } of answers) {
    if (errors) assert.equal(errors[0].extensions.code, "CONFLICT");
    else assert.equal(data.createApiKey.apiKey.name, "together");
  }
});

test("when the process dies between the change and its answer, the next attempts give the whole answer", async () => {
  const { pool } = openInside(account);
  // Simulates a process that died before it stored its answer.
  await pool.query(
    sql(
      "test.lose-answers",
      `create function lose_answer() returns trigger language plpgsql as
         $$ begin return case when old.status is null then new end; end $$`,
    ),
  );
  await pool.query(
    sql(
      "test.lose-answers-of",
      "create trigger lose_answers before update on signalbox.idempotency for each row execute function lose_answer()",
    ),
  );
  try {
    const key = randomUUID();
    const first = await mutate(key, create("lost"));
    for (let attempt = 0; attempt < 2; attempt++) {
      const again = await mutate(key, create("lost"));
      assert.deepEqual([again.errors, again.data], [undefined, first.data]);
      assert.equal(again.extensions.idempotentReplayed, true);
    }
    assert.equal(await countOf("lost"), 1);
  } finally {
    await pool.query(sql("test.keep-answers", "drop trigger lose_answers on signalbox.idempotency"));
  }
});

test("a stored answer is for the credential that made it, once its access is judged anew", async () => {
  const key = randomUUID();
  const sub = randomUUID();
  const owner = account.person({ sub });
  const made = await mutate(key, create("mine"), { as: owner });
  const secret = made.data.createApiKey.key;
  const narrow = { "x-api-key": secret };
  for (const [as, code] of [
    [narrow, "FORBIDDEN"],
    [account.person({ sub, scope: "images:read" }), "FORBIDDEN"],
    [account.person({ sub, auth_time: 0 }), "FORBIDDEN"],
    [account.person({ sub }), "CONFLICT"],
  ] as const) {
    const answer = await mutate(key, create("mine"), { as });
    assert.equal(answer.errors[0].extensions.code, code);
    assert.equal(JSON.stringify(answer).includes(secret), false);
  }
  assert.deepEqual((await mutate(key, create("mine"), { as: owner })).data, made.data);
  assert.deepEqual(await keyNames(owner), ["mine"]);
});

test("another operation under the key is refused, and nothing of it is run", async () => {
  const key = randomUUID();
  await mutate(key, create("one"));
  const other = await mutate(key, create("another"));
  assert.equal(other.errors[0].extensions.code, "VALIDATION_FAILED");
  assert.equal(other.errors[0].extensions.details[0].code, "key_reused");
  assert.equal(await countOf("another"), 0);
  const rest = await account.send("POST", "/api/account/api-keys/", {
    headers: { ...who, "idempotency-key": key },
    body: { name: "another", scopes: ["images:read"] },
  });
  assert.equal(rest.status, 422, "REST has the same keys");
});

test("each field of an operation is run once, also when only the first of them was run before", async () => {
  const key = randomUUID();
  const both = `${create("left").replace("createApiKey", "a: createApiKey")} ${create("right").replace("createApiKey", "b: createApiKey")}`;
  const first = await mutate(key, both);
  const again = await mutate(key, both);
  assert.deepEqual(again.data, first.data);
  assert.deepEqual([await countOf("left"), await countOf("right")], [1, 1]);
  const later = await mutate(key, create("later"), { isFirst: false });
  assert.equal(later.data.createApiKey.apiKey.name, "later", "another fetch of the same operation has keys of its own");
});

test("a refused mutation may be sent again under its key", async () => {
  const key = randomUUID();
  const refused = await mutate(key, create("wrong", '["no:such"]'));
  assert.ok(refused.data.createApiKey.errors.length > 0);
  const stale = account.person({ auth_time: 0 });
  const late = await mutate(key, create("stale"), { as: stale });
  assert.equal(late.errors[0].extensions.code, "FORBIDDEN");
  const mended = await mutate(key, create("mended"));
  assert.equal(mended.data.createApiKey.apiKey.name, "mended");
});

test("keys of different accounts have nothing to do with each other", async () => {
  const [key, other] = [randomUUID(), account.person()];
  await mutate(key, create("shared"));
  assert.equal((await mutate(key, create("shared"), { as: other })).extensions?.idempotentReplayed, undefined);
  assert.deepEqual(await keyNames(other), ["shared"]);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inTransaction, openPool, type Pool, sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let pool: Pool;
before(async () => {
  account = await startAccount({ "database.lock-timeout": 1_200 });
  const url = account.context.configuration.get("database.url");
  pool = openPool({ ...account.context, url, max: 2, applicationName: "locked-rows-tests" });
});
after(() => account.close());

const path = "/api/account/";
const lockAccount = sql("", "select from accounts where id = $1 for update");
const waitingForLocks = sql(
  "",
  "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
);
const waiting = async () => (await pool.query<{ count: number }>(waitingForLocks)).rows[0]?.count ?? 0;
const rename = (headers: Record<string, string>, display_name: string) =>
  account.send("PATCH", path, { headers, body: { display_name } });

interface Locked {
  readonly owner: { authorization: string };
  readonly stranger: { authorization: string };
  readonly id: string;
}

/** Runs the work while another transaction locks the owner's account. */
async function whileLocked(work: (locked: Locked) => Promise<void>): Promise<void> {
  const [owner, stranger] = [account.person(), account.person()];
  const { id } = (await account.send("GET", path, { headers: owner })).body;
  await account.send("GET", path, { headers: stranger });
  await inTransaction(pool, async (tx) => {
    await tx.query(lockAccount, [id]);
    await work({ owner, stranger, id });
  });
}

test("while an account is locked its writers are refused, with one connection for all of them", async () => {
  await whileLocked(async ({ owner }) => {
    const writes = Array.from({ length: 12 }, (_, index) => rename(owner, `name ${index}`));
    await eventually(async () => (await waiting()) > 0);
    assert.equal(await waiting(), 1);
    for (const { status, headers, body } of await Promise.all(writes)) {
      assert.deepEqual([status, headers.get("retry-after")], [503, "1"]);
      assert.equal(body.error.message, "Another change of this resource is in progress. Try again.");
    }
    assert.equal((await account.send("GET", path, { headers: owner })).status, 200);
  });
});

test("while an account is locked all others read and write as usual, locks included", async () => {
  await whileLocked(async ({ owner, stranger }) => {
    const writes = Array.from({ length: 12 }, (_, index) => rename(owner, `name ${index}`));
    await eventually(async () => (await waiting()) > 0);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([
        rename(stranger, `name ${round}`),
        account.send("GET", path, { headers: stranger }),
        account.send("POST", `${path}api-keys/`, {
          headers: stranger,
          body: { name: "mine", scopes: ["account:read"] },
        }),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 201],
      );
    }
    await Promise.all(writes);
  });
});

test("the locked account takes changes again as soon as it is free", async () => {
  let owner = {};
  await whileLocked(async (locked) => {
    owner = locked.owner;
    assert.equal((await rename(owner, "too early")).status, 503);
  });
  assert.equal((await rename(owner, "in time")).status, 200);
});

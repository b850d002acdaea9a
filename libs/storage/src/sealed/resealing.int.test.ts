import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Runner } from "@signalbox/runtime";
import { serviceWith, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { openPool, type Pool } from "../database/pool.ts";
import { sql } from "../database/prepared-statement.ts";
import { type SealedColumn, startResealing } from "./resealing.ts";
import { createSealer } from "./sealer.ts";

const context = testContext("account", {});
const keyOf = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`;
const [former, current, lost] = [keyOf("k_1", 1), keyOf("k_2", 2), keyOf("lost", 3)];
const place = ([owner, id]: readonly unknown[]) => ({
  service: "tests",
  table: "letters",
  row: `${owner}/${(id as Buffer).toString("hex")}`,
});
const letters: SealedColumn = {
  table: "letters",
  column: "sealed",
  key: ["owner", "id"],
  condition: "not is_plain",
  place,
};
const insert = sql("", "insert into letters (owner, id, sealed, is_plain) values ($1, $2, $3, $4)");
const readAll = sql("", "select owner, id, sealed from letters where not is_plain order by owner, id");

let database: TestDatabase;
let pool: Pool;
before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 4, applicationName: "resealing-test", ...context });
  await pool.query(
    sql("", "create table letters (owner text, id bytea, sealed text, is_plain bool, primary key (owner, id))"),
  );
});
after(async () => {
  await context.close();
  await database.close();
});

/** Starts the worker with a runner whose turns the test triggers. */
function startTurns(keys: readonly string[]) {
  const turns: (() => unknown)[] = [];
  const runner = serviceWith<Runner>({
    housekeeping: (_name, _pause, turn) => void turns.push(turn as () => unknown),
  });
  startResealing({ ...context, runner, pool, sealer: createSealer(keys) }, [letters]);
  return turns[0] as () => Promise<unknown>;
}

async function write(sealedBy: string, owner: string, count: number): Promise<void> {
  const sealer = createSealer([sealedBy]);
  for (let at = 0; at < count; at++) {
    const id = Buffer.from([at >> 8, at & 255]);
    await pool.query(insert, [owner, id, sealer.seal(`${owner} ${at}`, place([owner, id])), false]);
  }
}

test("after one pass every text opens without the former key, unchanged", async () => {
  await write(former, "many", 450);
  await write(current, "new", 3);
  await write(lost, "lost", 2);
  await pool.query(insert, ["plain", Buffer.from("x"), "{}", true]);
  await pool.query(insert, ["empty", Buffer.from("x"), null, false]);
  await startTurns([current, former])();

  const retired = createSealer([current]);
  const { rows } = await pool.query<{ owner: string; id: Buffer; sealed: string | null }>(readAll);
  const opened = rows.filter(({ owner, sealed }) => owner !== "lost" && sealed !== null);
  assert.equal(opened.length, 453);
  for (const { owner, id, sealed } of opened) {
    assert.equal(retired.open(String(sealed), place([owner, id])).toString(), `${owner} ${id.readUInt16BE()}`);
  }
  const warnings = context.logged.filter(({ level }) => level === "warn");
  assert.deepEqual(
    warnings.map(({ texts }) => texts),
    [2],
    "a text that no key opens is logged, and stops nothing",
  );
  assert.match(await context.metrics.text(), /signalbox_sealed_with_former_keys.* 2\n/);
});

test("a text that changes while it is sealed anew stays as its writer left it", async () => {
  await write(former, "raced", 1);
  const id = Buffer.from([0, 0]);
  const newer = createSealer([former]).seal("newer", place(["raced", id]));
  const racing: Pool = Object.create(pool);
  racing.query = (async (statement: { text: string }, values: unknown[]) => {
    if (statement.text.startsWith("update"))
      await pool.query(sql("", "update letters set sealed = $1 where owner = 'raced'"), [newer]);
    return pool.query(statement as never, values);
  }) as Pool["query"];
  const turns: (() => unknown)[] = [];
  const runner = serviceWith<Runner>({
    housekeeping: (_name, _pause, turn) => void turns.push(turn as () => unknown),
  });
  const parts = { ...context, metrics: testContext("account", {}).metrics, runner };
  startResealing({ ...parts, pool: racing, sealer: createSealer([current, former]) }, [letters]);
  await turns[0]?.();
  const { rows } = await pool.query<{ sealed: string }>(sql("", "select sealed from letters where owner = 'raced'"));
  assert.equal(rows[0]?.sealed, newer);
});

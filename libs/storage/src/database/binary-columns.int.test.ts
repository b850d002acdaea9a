import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { type BinaryColumn, binaryColumnsOf } from "./binary-columns.ts";
import { openPool, type Pool } from "./pool.ts";
import { columnsOf, sql } from "./prepared-statement.ts";

const context = testContext("account", {});
let database: TestDatabase;
let pool: Pool;

before(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, max: 1, applicationName: "binary-columns-test", ...context });
});
after(async () => {
  await context.close();
  await database.close();
});

const rows = [
  {
    name: "",
    bytes: Buffer.from([0, 255, 92]),
    flag: true,
    count: -7,
    size: 0.1,
    at: new Date("1969-12-31T23:59:59.999Z"),
  },
  { name: null, bytes: null, flag: null, count: null, size: null, at: null },
  {
    name: '{"ü": "\\ 𝄞", NULL}',
    bytes: Buffer.alloc(0),
    flag: false,
    count: 2 ** 31 - 1,
    size: -1e300,
    at: new Date(0),
  },
  { name: "NULL", bytes: Buffer.from("x"), flag: true, count: 0, size: 0, at: new Date("9999-12-31T00:00:00.001Z") },
];
type Row = (typeof rows)[number];

const columns: readonly BinaryColumn<Row>[] = [
  ["text", ({ name }) => name],
  ["bytea", ({ bytes }) => bytes],
  ["bool", ({ flag }) => flag],
  ["int4", ({ count }) => count],
  ["float8", ({ size }) => size],
  ["timestamptz", ({ at }) => at],
];
const unnest = sql(
  "",
  `select * from unnest($1::text[], $2::bytea[], $3::bool[], $4::int4[], $5::float8[], $6::timestamptz[])
   as given (name, bytes, flag, count, size, at)`,
);

test("columns in the binary format arrive as their text does, nulls, empty values or times before 2000 included", async () => {
  const unnested = async (values: readonly unknown[]) => (await pool.query<Row>(unnest, values)).rows;
  assert.deepEqual(await unnested(binaryColumnsOf(rows, columns)), rows);
  assert.deepEqual(
    await unnested(
      columnsOf(
        rows,
        columns.map(([, read]) => read),
      ),
    ),
    rows,
  );
});

test("no rows are empty arrays", async () => {
  assert.deepEqual((await pool.query(unnest, binaryColumnsOf([], columns))).rows, []);
});

import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createOutbox } from "@signalbox/events";
import { openDatabase } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import { testContext, testDatabase } from "@signalbox/testing";
import { openBase } from "../src/base.ts";
import { properties } from "../src/properties.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const addressMigration = "20261122073900_verified_address";

const insertAccount = sql(
  "",
  `insert into accounts (id, display_name, contact_address, contact_address_verified, locale, timezone, status, roles,
     created_at, updated_at, settings_updated_at)
   values ($1, $1, $2, true, 'en', 'UTC', $3, '{owner}', now() + $4 * interval '1 minute', now(), now())`,
);
const listAccounts = sql(
  "",
  `select id, contact_address_verified as verified, verified_address as canonical from accounts order by created_at`,
);

test("a database of the version before is settled: the oldest living account keeps an address, in whatever spelling", async (t) => {
  const [database, older] = [await testDatabase(), await mkdtemp(join(tmpdir(), "signalbox-prisma-"))];
  const context = testContext("account", properties, {
    "database.url": database.url,
    "events.url": database.url,
    "internal.token": "internal-token-of-the-account-tests-01",
    "secrets.keys": `test:${Buffer.alloc(32, 7).toString("base64")}`,
  });
  t.after(async () => {
    await context.close();
    await Promise.all([database.close(), rm(older, { recursive: true })]);
  });
  await cp(prismaDirectory, older, { recursive: true, filter: (path) => !path.includes(addressMigration) });
  const before = await openDatabase(context, older);
  const rows = [
    ["deleted", "Ada@example.org", "deleted"],
    ["older", "ADA@example.org", "suspended"],
    ["younger", "ada@Example.org", "active"],
    ["foreign", "bücher@bücher.example", "active"],
    ["foreigner", "BÜCHER@xn--bcher-kva.example", "pending"],
  ];
  for (const [index, row] of rows.entries()) await before.query(insertAccount, [...row, index]);

  const pool = await openDatabase(context, prismaDirectory);
  const outbox = createOutbox({ ...context, pool, maxBytes: 1_000_000 });
  await openBase(context, { pool, outbox }).verifiedAddresses.settle();
  assert.deepEqual((await pool.query(listAccounts)).rows, [
    { id: "deleted", verified: true, canonical: "ada@example.org" },
    { id: "older", verified: true, canonical: "ada@example.org" },
    { id: "younger", verified: false, canonical: null },
    { id: "foreign", verified: true, canonical: "bücher@xn--bcher-kva.example" },
    { id: "foreigner", verified: false, canonical: null },
  ]);
});

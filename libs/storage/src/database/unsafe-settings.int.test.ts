import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testContext, testDatabase } from "@signalbox/testing";
import { openPool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";
import { unsafeSettings } from "./unsafe-settings.ts";

const context = testContext("account", {});
after(() => context.close());

test("a database that can lose what it has acknowledged says by which settings", async () => {
  const database = await testDatabase();
  const open = () => openPool({ url: database.url, max: 1, applicationName: "unsafe", ...context });
  try {
    // The test server trades safety for speed.
    const ofServer = [
      "PostgreSQL runs with fsync off: a power failure can destroy the database",
      "PostgreSQL runs with full_page_writes off: a power failure can leave torn pages behind",
    ];
    const before = open();
    assert.deepEqual(await unsafeSettings(before), ofServer);
    await before.query(sql("", `alter database ${database.name} set synchronous_commit = off`));
    await before.close();
    const ofDatabase = "PostgreSQL runs with synchronous_commit off: a crash loses changes that were acknowledged";
    assert.deepEqual(await unsafeSettings(open()), [...ofServer, ofDatabase]);
  } finally {
    await context.close();
    await database.close();
  }
});

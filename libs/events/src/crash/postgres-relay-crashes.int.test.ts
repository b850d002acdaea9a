import { after, before, describe } from "node:test";
import { type TestDatabase, testDatabase } from "@signalbox/testing";
import { testRelayCrashes } from "./relay-crashes.ts";

describe("relays on the PostgreSQL log", () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.close());
  testRelayCrashes(() => database.url);
});

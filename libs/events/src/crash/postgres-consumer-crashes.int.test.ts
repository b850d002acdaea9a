import { after, before, describe } from "node:test";
import { type TestDatabase, testDatabase } from "@signalbox/testing";
import { testConsumerCrashes } from "./consumer-crashes.ts";

describe("consumers on the PostgreSQL log", () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.close());
  testConsumerCrashes(() => database.url, 1_500);
});

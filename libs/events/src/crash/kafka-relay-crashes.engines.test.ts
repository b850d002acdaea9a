import { before, describe } from "node:test";
import { testKafka } from "@signalbox/testing";
import { testRelayCrashes } from "./relay-crashes.ts";

describe("relays on Kafka", () => {
  let url: string;
  before(async () => {
    url = (await testKafka()).url;
  });
  testRelayCrashes(() => url);
});

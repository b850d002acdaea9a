import { before, describe } from "node:test";
import { testKafka } from "@signalbox/testing";
import { testConsumerCrashes } from "./consumer-crashes.ts";

describe("consumers on Kafka", () => {
  let url: string;
  before(async () => {
    url = (await testKafka()).url;
  });
  testConsumerCrashes(() => url, 6_000);
});

import { testKafka } from "@signalbox/testing";
import { accessStatesContract } from "./access-states.contract.ts";

accessStatesContract("Kafka", async () => (await testKafka()).url);

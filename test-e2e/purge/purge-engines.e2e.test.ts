import { test } from "node:test";
import { topics } from "@signalbox/contracts";
import kafkajs from "kafkajs";
import { services, startEnginesSystem } from "../systems/engines-system.ts";
import { openSystemEngines } from "../systems/system-engines.ts";
import { ageDatabase } from "./move-time.ts";
import { leavesNothing } from "./purge.ts";

test("engines: a purge leaves nothing of what was planted, over Kafka and S3", async () => {
  await using opened = new AsyncDisposableStack();
  await leavesNothing(opened, async (properties) => {
    const engines = await openSystemEngines(services);
    const system = await startEnginesSystem({ properties, engines });
    opened.defer(() => system.close());
    const databases = new Map(services.map((name) => [name, engines.databaseUrl(name)]));
    return {
      system: () => system,
      databases,
      eventsUrl: system.eventsUrl,
      blobs: engines.blobs,
      async passTime() {
        await system.stop();
        for (const url of databases.values()) await ageDatabase(url);
        await endRetention(system.eventsUrl);
        await Promise.all(services.map((name) => system.process(name).restart()));
      },
    };
  });
});

/** Deletes records past their retention, as the broker does. Compacted topics are left to compaction. */
async function endRetention(eventsUrl: string): Promise<void> {
  const { Kafka, logLevel } = kafkajs;
  const admin = new Kafka({ brokers: [new URL(eventsUrl).host], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  for (const { name: topic, cleanup } of topics) {
    if (cleanup === "compact") continue;
    const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition, high: offset }) => ({
      partition,
      offset,
    }));
    await admin.deleteTopicRecords({ topic, partitions });
  }
  await admin.disconnect();
}

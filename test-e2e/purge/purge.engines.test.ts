import { join } from "node:path";
import { test } from "node:test";
import { databaseOf, eventsDatabase } from "@signalbox/infra/embedded/embedded-defaults.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { leavesNothing } from "./purge.ts";
import { ageDatabase } from "./search.ts";

const owners = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;

test("embedded: a purge leaves nothing of what was planted in every field of every service", async () => {
  await using opened = new AsyncDisposableStack();
  await leavesNothing(opened, async (properties) => {
    let system: EmbeddedSystem = await startEmbeddedSystem({ properties });
    opened.defer(() => removeData(system));
    opened.defer(async () => void (await system.process.kill()));
    const { dataDirectory } = system;
    const databases = () =>
      new Map(
        [...owners.map(databaseOf), eventsDatabase].map((name) => {
          const url = new URL(system.eventsUrl);
          url.pathname = `/${name}`;
          return [name, url.href];
        }),
      );
    return {
      system: () => system,
      get databases() {
        return databases();
      },
      get eventsUrl() {
        return system.eventsUrl;
      },
      blobs: { url: `file:${join(dataDirectory, "blobs")}`, accessKey: null, secretKey: null },
      async passTime() {
        for (const url of databases().values()) await ageDatabase(url);
        await system.stop();
        system = await startEmbeddedSystem({ properties, dataDirectory });
      },
    };
  });
});

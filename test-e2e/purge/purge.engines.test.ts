import { join } from "node:path";
import { test } from "node:test";
import { databaseOf, eventsDatabase } from "@signalbox/infra/embedded/embedded-defaults.ts";
import { startPostgres } from "@signalbox/infra/engines/postgres/start-postgres.ts";
import { databasesIn, type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
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
    const databasesBeside = (eventsUrl: string) =>
      new Map(
        [...owners.map(databaseOf), eventsDatabase].map((name) => {
          const url = new URL(eventsUrl);
          url.pathname = `/${name}`;
          return [name, url.href];
        }),
      );
    return {
      system: () => system,
      get databases() {
        return databasesBeside(system.eventsUrl);
      },
      get eventsUrl() {
        return system.eventsUrl;
      },
      blobs: { url: `file:${join(dataDirectory, "blobs")}`, accessKey: null, secretKey: null },
      // While the system is down: an update of whole tables and one of the service could each wait for the other's rows.
      async passTime() {
        await system.stop();
        const server = await startPostgres({ folder: join(dataDirectory, "postgres"), durable: true });
        const { eventsUrl } = await databasesIn(dataDirectory);
        for (const url of databasesBeside(eventsUrl).values()) await ageDatabase(url);
        await server.stop();
        system = await startEmbeddedSystem({ properties, dataDirectory });
      },
    };
  });
});

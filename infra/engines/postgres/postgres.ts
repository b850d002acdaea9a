import type { Engine } from "../engine.ts";
import { freePort } from "../free-port.ts";
import { findPostgresPrograms, postgresVersion } from "./postgres-programs.ts";
import { postgresAnswers } from "./postmaster.ts";
import { startPostgres } from "./start-postgres.ts";

/** PostgreSQL for tests: the programs of the npm package, without safety against power loss. */
export const postgres: Engine = {
  name: "postgres",
  stopSignal: "SIGINT",
  fetch: async () => `PostgreSQL ${await postgresVersion(await findPostgresPrograms())}`,
  async start({ folder, port: wanted }) {
    const server = await startPostgres({ folder, durable: false, port: wanted ?? (await freePort()) });
    const { pid, identity, folder: data } = server;
    return {
      name: "postgres",
      url: server.url("postgres"),
      port: server.port,
      pid,
      identity,
      folder: data,
      details: {},
    };
  },
  answers: postgresAnswers,
};

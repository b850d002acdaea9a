import { postgresAnswers } from "./postmaster.ts";
import { startPostgres } from "./start-postgres.ts";

/** A product in small: opens PostgreSQL, and on a stop signal uses it once more before closing it as the last thing. */
const server = await startPostgres({ folder: process.argv[2] as string, durable: true });
const alive = setInterval(() => {}, 1_000);

async function stop(): Promise<void> {
  console.log(`draining, database answers: ${await postgresAnswers(server.port)}`);
  await server.stop();
  console.log("stopped");
  clearInterval(alive);
}

process.once("SIGINT", stop).once("SIGTERM", stop);
// Last: whoever reads it may send a signal at once.
console.log(`ready pid=${server.pid} attached=${server.attached} url=${server.url("postgres")}`);

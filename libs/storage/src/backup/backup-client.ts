import pg from "pg";

/** Opens a connection without any time limit: a table may be large. */
export async function connectForBackup(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "signalbox backup",
    // A form that every server reads back to the last digit, regardless of its settings.
    options:
      "-c search_path=public -c statement_timeout=0 -c DateStyle=ISO -c IntervalStyle=iso_8601 -c extra_float_digits=1",
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  client.on("error", () => {}); // a lost connection shows in the pending statement
  await client.connect();
  return client;
}

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "@signalbox/storage";
import { benchPool } from "../systems.ts";

/**
 * Run by `ingest.ts`: the simplest receiver of webhooks. Node's own server, which verifies a signature of GitHub and
 * commits each webhook separately, without an event, a limit, or a check of earlier ones.
 */
const [url = "", secret = ""] = process.argv.slice(2);
const pool = benchPool(url, 10);
await pool.query(sql("", "create table bare_webhooks (id text primary key, body bytea not null)"));
const insert = sql("bare.insert", "insert into bare_webhooks (id, body) values ($1, $2) on conflict do nothing");

async function take(request: IncomingMessage): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(String(request.headers["x-hub-signature-256"]));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 401;
  await pool.query(insert, [request.headers["x-github-delivery"], body]);
  return 202;
}

const server = createServer((request, response) => {
  take(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  );
}).listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
// After a failure of the bench nothing else stops this process.
process.once("disconnect", () => process.exit());

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { openPool, sql } from "@signalbox/storage";
import { benchParts } from "./bench-parts.ts";

/**
 * Run by `ingest.ts`: what is written first by whoever takes webhooks. Node's own server, which verifies a signature of GitHub
 * and commits each webhook by itself, without an event, a limit, or a look at what came before.
 */
const [url = "", secret = ""] = process.argv.slice(2);
const pool = openPool({ url, max: 10, applicationName: "bare", ...benchParts(), runner: { defer: () => {} } });
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
// A bench that failed has nobody left to stop it.
process.once("disconnect", () => process.exit());

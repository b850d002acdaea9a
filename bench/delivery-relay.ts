import { createHmac, randomUUID } from "node:crypto";
import process from "node:process";
import { Pool } from "undici";

/** The baseline: a Node process that signs and posts from memory, 64 at a time, and stores nothing. */

const [url = "", count = "0", bytes = "0"] = process.argv.slice(2);
const pool = new Pool(url, { connections: 64, pipelining: 1 });
const body = Buffer.alloc(Number(bytes), "x");
let left = Number(count);

function post(id: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", "secret").update(`${id}.${time}.`).update(body).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
  pool.dispatch(
    { path: "/", method: "POST", headers, body },
    {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: () => {},
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    },
  );
  return promise;
}

async function worker(): Promise<void> {
  while (left-- > 0) await post(randomUUID());
}

await Promise.all(Array.from({ length: 64 }, worker));
process.exit(0);

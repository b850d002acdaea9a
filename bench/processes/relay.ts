import { createHmac, randomUUID } from "node:crypto";
import process from "node:process";
import { successes } from "../measure.ts";

/** Run by `delivery.ts`: signs and posts from memory, 64 at a time, and stores nothing. */
const [origin = "", bytes = "0"] = process.argv.slice(2);
const seconds = 3;
const body = "x".repeat(Number(bytes));

function next() {
  const [id, time] = [randomUUID(), String(Math.floor(Date.now() / 1000))];
  const signature = createHmac("sha256", "secret").update(`${id}.${time}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
  return { method: "POST", path: "/", headers, body } as const;
}

const { length } = await successes({ origin, perSecond: null, seconds, connections: 64, next });
process.send?.(Math.round(length / seconds));
process.once("disconnect", () => process.exit());

import { createHmac, randomUUID } from "node:crypto";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";

/**
 * The partners of a bench, in a process of their own: they sign webhooks of 1 KB like GitHub and Stripe, and post them.
 */

export interface IngestLoad {
  readonly origin: string;
  readonly sources: readonly BenchSource[];
  readonly seconds: number;
  readonly connections: number;
  /** Rate at even intervals, each request measured from its due moment; null for the largest possible rate. */
  readonly perSecond: number | null;
  /** True to repeat every second one. */
  readonly repeating?: boolean;
  /** True to sign with an unknown secret, each from an address of its own. */
  readonly forged?: boolean;
}

export interface BenchSource {
  readonly path: string;
  readonly scheme: "github" | "stripe";
  readonly secret: string;
}

export interface IngestLoadResult {
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly latenciesMs: readonly number[];
  readonly seconds: number;
}

interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const filling = "x".repeat(900);

/** Creates the webhooks of a load, one after the other. */
function partner({ sources, repeating = false, forged = false }: IngestLoad): () => Post {
  let made = 0;
  let last: Post | null = null;
  return () => {
    const nth = made++;
    if (repeating && nth % 2 === 1 && last) return last;
    const source = sources[(repeating ? nth >> 1 : nth) % sources.length] as BenchSource;
    const post = signed(source, nth, forged);
    last = post;
    return post;
  };
}

function signed({ path, scheme, secret }: BenchSource, nth: number, forged: boolean): Post {
  const id = randomUUID();
  const body = JSON.stringify({ id: `evt_${id}`, type: "invoice.paid", nth, filling });
  const time = Math.floor(Date.now() / 1000);
  const hmac = (text: string) =>
    createHmac("sha256", forged ? `${secret} forged` : secret)
      .update(text)
      .digest("hex");
  const common = {
    "content-type": "application/json",
    ...(forged && { "x-forwarded-for": `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}` }),
  };
  if (scheme === "stripe")
    return { path, body, headers: { ...common, "stripe-signature": `t=${time},v1=${hmac(`${time}.${body}`)}` } };
  const named = { "x-github-delivery": id, "x-github-event": "push", "x-hub-signature-256": `sha256=${hmac(body)}` };
  return { path, body, headers: { ...common, ...named } };
}

async function run(load: IngestLoad): Promise<IngestLoadResult> {
  const { origin, seconds, connections, perSecond } = load;
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const next = partner(load);
  const statuses: Record<number, number> = {};
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  const send = (dueMs: number) =>
    posted(pool, next(), statuses).then(() => void latenciesMs.push(performance.now() - dueMs));
  if (perSecond === null) {
    const endMs = startedMs + seconds * 1000;
    const worker = async () => {
      while (performance.now() < endMs) await send(performance.now());
    };
    await Promise.all(Array.from({ length: connections }, worker));
  } else {
    const sent: Promise<void>[] = [];
    const dueMs = () => startedMs + (sent.length * 1000) / perSecond;
    while (sent.length < perSecond * seconds) {
      while (dueMs() <= performance.now() && sent.length < perSecond * seconds) sent.push(send(dueMs()));
      await sleep(1);
    }
    await Promise.all(sent);
  }
  const took = (performance.now() - startedMs) / 1000;
  await pool.destroy();
  return { statuses, latenciesMs, seconds: took };
}

function posted(pool: Pool, { path, headers, body }: Post, statuses: Record<number, number>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const count = (status: number) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  // The lowest-level call of the library, so that the load takes little time itself.
  pool.dispatch(
    { method: "POST", path, headers, body },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, status) => count(status),
      onResponseData: () => {},
      onResponseEnd: () => resolve(),
      onResponseError: () => {
        count(0);
        resolve();
      },
    },
  );
  return promise;
}

process.on("message", (load: IngestLoad) => void run(load).then((result) => process.send?.(result)));
process.on("disconnect", () => process.exit(0));

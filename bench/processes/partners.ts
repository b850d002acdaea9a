import { createHmac, randomUUID } from "node:crypto";
import process from "node:process";
import { type LoadRequest, load } from "../measure.ts";

/** Run by `ingest.ts`: partners that sign webhooks of 1 KB like GitHub and Stripe, and post them. */

export interface PartnerLoad {
  readonly origin: string;
  readonly sources: readonly BenchSource[];
  readonly seconds: number;
  /** Null for the largest possible rate. */
  readonly perSecond: number | null;
  /** True to repeat every second one. */
  readonly repeating?: boolean;
}

export interface BenchSource {
  readonly path: string;
  readonly scheme: "github" | "stripe";
  readonly secret: string;
}

const filling = "x".repeat(900);

function signed({ path, scheme, secret }: BenchSource, nth: number): LoadRequest {
  const id = randomUUID();
  const body = JSON.stringify({ id: `evt_${id}`, type: "invoice.paid", nth, filling });
  const time = Math.floor(Date.now() / 1000);
  const hmac = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
  const own: Record<string, string> =
    scheme === "stripe"
      ? { "stripe-signature": `t=${time},v1=${hmac(`${time}.${body}`)}` }
      : { "x-github-delivery": id, "x-github-event": "push", "x-hub-signature-256": `sha256=${hmac(body)}` };
  return { method: "POST", path, body, headers: { "content-type": "application/json", ...own } };
}

process.on("message", async ({ sources, repeating = false, ...wanted }: PartnerLoad) => {
  let made = 0;
  let last: LoadRequest | null = null;
  const next = () => {
    const nth = made++;
    if (!repeating || nth % 2 === 0 || !last) {
      const source = sources[(repeating ? nth >> 1 : nth) % sources.length] as BenchSource;
      last = signed(source, nth);
    }
    return last;
  };
  process.send?.(await load({ ...wanted, connections: 64, next }));
});
process.send?.("ready");
process.on("disconnect", () => process.exit(0));

import { randomBytes } from "node:crypto";
import { type Pool, sql } from "@signalbox/storage";
import { createSender, eventually, testPerson } from "@signalbox/testing";
import { type BenchResult, least, most } from "./history.ts";
import { cpuMsOf, hundredths, type LoadResult, summaryOf } from "./measure.ts";
import type { BenchSource, PartnerLoad } from "./processes/partners.ts";
import { addEndpoint, answerOf, benchPool, forked, openSurroundings, type Sink, startSink } from "./systems.ts";

type Post = (load: Partial<PartnerLoad>) => Promise<LoadResult>;

export async function run(): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const sink = await startSink(opened);
  const { start, databaseUrl } = await openSurroundings(opened);
  const ingest = await start("webhook-ingest", { "log.level": "warn" });
  const who = testPerson();
  const sourcesOf = async (forward: boolean) =>
    Promise.all(["github", "stripe", "github", "stripe"].map((scheme) => newSource({ scheme, forward })));
  const newSource = async ({ scheme, forward }: { readonly scheme: string; readonly forward: boolean }) => {
    const secret = `whsec_${randomBytes(24).toString("hex")}`;
    const body = { name: "Bench", scheme, secret, forward };
    const made = await createSender(ingest.origin)(who, "POST", "/api/v1/webhooks/sources", { body });
    return { path: made.body.ingest_path, scheme, secret } as BenchSource;
  };
  const [quiet, forwarding] = [await sourcesOf(false), await sourcesOf(true)];
  const pool = benchPool(databaseUrl("webhook-ingest"));
  opened.defer(() => pool.close());
  const { child } = await forked(opened, "partners");
  const post: Post = (load) =>
    answerOf(child, { origin: ingest.origin, sources: quiet, perSecond: null, seconds: 10, ...load });

  await post({ perSecond: 500, seconds: 5 }); // the first seconds compile the code
  const plain = await measurePlain(opened, databaseUrl("bare"), post);
  const paced = await measurePaced(post, { pid: ingest.pid, pool });
  const full = rowOf(await post({ seconds: 30 }));
  const repeating = rowOf(await post({ repeating: true }));
  const delivery = await start("webhook-delivery", {
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    "log.level": "warn",
  });
  await addEndpoint(delivery.origin, who, { url: sink.url, event_types: ["webhook.received"] });
  const four = await measureDelivered(sink, post, forwarding);
  const one = await measureDelivered(sink, post, forwarding.slice(0, 1));
  const baseline = `plain server ${plain.full.perSecond}/s`;
  return {
    rows: [
      { what: "baseline: 1,000/s", ...plain.paced },
      { what: "1,000/s", ...paced },
      { what: "baseline: as many as it takes", ...plain.full },
      { what: "as many as it takes, forwarding off", ...full },
      { what: "the same, half of it repetitions", ...repeating },
      { what: "accepted and delivered, four sources", ...four },
      { what: "accepted and delivered, one source", ...one },
    ],
    figures: [
      most("1,000/s, accepted, p99", 20, paced.p99Ms, "ms", `plain server ${plain.paced.p99Ms} ms`),
      most("1,000/s, CPU per accepted webhook", 0.45, paced.cpuMs, "ms", `plain server ${plain.paced.cpuMs} ms`),
      most("1,000/s, transactions per accepted webhook", 0.1, paced.transactions),
      least(
        "accepted, forwarding off, share of a plain server",
        // The plain server keeps no history and sends no event.
        0.5,
        hundredths(full.perSecond / plain.full.perSecond),
        "",
        `${baseline}, ours ${full.perSecond}/s`,
      ),
      least("accepted, half of it repetitions", 4_000, repeating.perSecond, "/s", baseline),
      least("accepted and delivered, four sources", 1_900, four.deliveredPerSecond, "/s"),
      least("accepted and delivered, one source", 1_000, one.deliveredPerSecond, "/s"),
    ],
  };
}

async function measurePlain(opened: AsyncDisposableStack, databaseUrl: string, post: Post) {
  const secret = randomBytes(24).toString("hex");
  const { first: origin, pid } = await forked<string>(opened, "bare-ingest", [databaseUrl, secret]);
  const sources = [{ path: "/", scheme: "github", secret } as const];
  const cpuBefore = await cpuMsOf(pid);
  const paced = await post({ origin, sources, perSecond: 1_000 });
  const cpuMs = hundredths(((await cpuMsOf(pid)) - cpuBefore) / acceptedOf(paced));
  return { paced: { ...rowOf(paced), cpuMs }, full: rowOf(await post({ origin, sources })) };
}

async function measurePaced(post: Post, { pid, pool }: { readonly pid: number; readonly pool: Pool }) {
  const [cpuBefore, before] = [await cpuMsOf(pid), await transactionsOf(pool)];
  const result = await post({ perSecond: 1_000 });
  const each = (used: number) => hundredths(used / acceptedOf(result));
  const transactions = each((await transactionsOf(pool)) - before);
  return { ...rowOf(result), cpuMs: each((await cpuMsOf(pid)) - cpuBefore), transactions };
}

async function transactionsOf(pool: Pool): Promise<number> {
  const commits = "select xact_commit::float8 as count from pg_stat_database where datname = current_database()";
  return (await pool.query<{ count: number }>(sql("", commits))).rows[0]?.count ?? Number.NaN;
}

async function measureDelivered(sink: Sink, post: Post, sources: readonly BenchSource[]) {
  await sink.take();
  const startedMs = performance.timeOrigin + performance.now();
  const result = await post({ sources });
  const accepted = acceptedOf(result);
  await eventually(async () => (await sink.count()) >= accepted, { timeoutMs: 300_000 });
  const lastMs = (await sink.take()).reduce((last, { atMs }) => Math.max(last, atMs), 0);
  return { ...rowOf(result), deliveredPerSecond: Math.round((accepted * 1_000) / (lastMs - startedMs)) };
}

const acceptedOf = ({ statuses }: LoadResult): number => statuses[202] ?? 0;

function rowOf(result: LoadResult) {
  const { 202: accepted = 0, ...others } = result.statuses;
  const perSecond = Math.round(accepted / result.seconds);
  return { perSecond, ...summaryOf(result.latenciesMs), others: JSON.stringify(others) };
}

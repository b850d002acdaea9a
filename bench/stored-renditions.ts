import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { testPerson } from "@signalbox/testing";
import autocannon from "autocannon";
import { type BenchResult, least, most } from "./history.ts";
import { cpuMsOf, type ImagesService, uploadImage } from "./images-service.ts";

const minimalScript = fileURLToPath(new URL("./minimal-server.ts", import.meta.url));
const rounds = 5;
const connections = 32;

type Headers = Readonly<Record<string, string>>;

interface Target {
  readonly what: string;
  readonly url: string;
  readonly headers: Headers;
  readonly cpuMs: () => Promise<number>;
}

interface Speed {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
}

/**
 * Measures a stored rendition and a 304 of a private and a public image, in turns with a server of Node alone that sends
 * the same bytes. The load shares the cores, so the processor time per answer is shown beside the rate.
 */
export async function storedRenditions(service: ImagesService, photo: Buffer): Promise<BenchResult> {
  const who = testPerson();
  const images = [
    { of: "private", headers: who.headers },
    { of: "public", headers: {} },
  ];
  const results: BenchResult[] = [];
  for (const { of, headers } of images) {
    const url = `${service.url}/images/${await uploadImage(service, who, photo, of)}/content?width=320`;
    const first = await fetch(url, { headers });
    const bytes = Buffer.from(await first.arrayBuffer());
    const minimal = await startMinimal(bytes);
    const ours = { url, cpuMs: service.cpuMs };
    const unchanged = { "if-none-match": first.headers.get("etag") ?? "" };
    results.push(
      await besideMinimal(
        { ...ours, what: `stored rendition of a ${of} image`, headers },
        { ...minimal, what: "the same bytes of a minimal server", headers: {} },
        0.6,
      ),
      await besideMinimal(
        { ...ours, what: `304 of a ${of} image`, headers: { ...headers, ...unchanged } },
        { ...minimal, what: "304 of a minimal server", headers: { "if-none-match": minimal.etag } },
        0.45,
      ),
    );
    minimal.close();
  }
  return { rows: results.flatMap(({ rows }) => rows), figures: results.flatMap(({ figures }) => figures) };
}

async function startMinimal(bytes: Buffer) {
  const child = fork(minimalScript, [bytes.toString("base64"), "image/jpeg"]);
  const [{ url, etag }] = (await once(child, "message")) as [{ url: string; etag: string }];
  const pid = child.pid as number;
  return { url, etag, cpuMs: () => cpuMsOf(pid), close: () => void child.kill() };
}

/** Measures both in each round, so that what the machine does besides hits both; medians are reported. */
async function besideMinimal(ours: Target, minimal: Target, wanted: number): Promise<BenchResult> {
  const [own, base]: [Speed[], Speed[]] = [[], []];
  for (const target of [minimal, ours]) await cannon(target, 2);
  for (let round = 0; round < rounds; round++) {
    base.push(await cannon(minimal, 2));
    own.push(await cannon(ours, 2));
  }
  const share = median(own.map(({ perSecond }, round) => perSecond / (base[round] as Speed).perSecond));
  const ofMinimal = Math.round(100 * share) / 100;
  const [alone, shown] = [medianOf(base), medianOf(own)];
  const baseline = `a minimal server ${alone.perSecond}/s with ${alone.cpuUs} µs of CPU, ours ${shown.perSecond}/s with ${shown.cpuUs} µs`;
  return {
    rows: [
      { what: ours.what, ...shown, ofMinimal },
      { what: minimal.what, ...alone },
    ],
    figures: [
      least(`share of a minimal server, ${connections} in flight: ${ours.what}`, wanted, ofMinimal, "", baseline),
      most(
        `times the p99 of a minimal server, ${connections} in flight: ${ours.what}`,
        3,
        Math.round((10 * shown.p99Ms) / alone.p99Ms) / 10,
      ),
    ],
  };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

const medianOf = (speeds: readonly Speed[]): Speed => ({
  perSecond: median(speeds.map(({ perSecond }) => perSecond)),
  p50Ms: median(speeds.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(speeds.map(({ p99Ms }) => p99Ms)),
  cpuUs: median(speeds.map(({ cpuUs }) => cpuUs)),
});

async function cannon({ what, url, headers, cpuMs }: Target, duration: number): Promise<Speed> {
  const beforeMs = await cpuMs();
  const {
    requests,
    latency,
    errors,
    "4xx": refused,
    "5xx": failed,
  } = await autocannon({ url, connections, duration, headers });
  if (errors + refused + failed > 0) throw new Error(`${what}: ${errors} errors, ${refused} refused, ${failed} failed`);
  const cpuUs = Math.round((1000 * ((await cpuMs()) - beforeMs)) / requests.total);
  return { perSecond: Math.round(requests.average), p50Ms: latency.p50, p99Ms: latency.p99, cpuUs };
}

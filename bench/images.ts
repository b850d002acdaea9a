import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import autocannon from "autocannon";
import sharp from "sharp";
import { type BenchResult, type Figure, least, most } from "./history.ts";
import { cpuMsOf, hundredths, median, medians, percentile, residentMiBOf, rounded, timed } from "./measure.ts";
import { type BenchService, forked, newFolder, openSurroundings } from "./systems.ts";

const renders = 100;
const rounds = 3;
const storedRounds = 5;
const connections = 32;

export async function run(): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const folder = await newFolder(opened);
  const photo = await sharp(await readFixture("photo.jpg"))
    .resize(3000, 2000, { fit: "cover" })
    .jpeg({ quality: 90 })
    .toBuffer();
  const photoFile = join(folder, "photo.jpg");
  await writeFile(photoFile, photo);
  const { start } = await openSurroundings(opened);
  const service = await start("images", {
    "blobs.url": `file:${join(folder, "blobs")}`,
    "images.public.requests": "1000000",
  });
  const parts = [
    await coldRenders(service, photo, photoFile),
    await flood(service, photo, 32),
    await flood(service, photo, 64),
    await storedRenditions(opened, service, photo),
  ];
  await sleep(3_000);
  const memory = most("memory 3 s after load", 267, await residentMiBOf(service.pid), "MiB");
  return { rows: parts.flatMap(({ rows }) => rows), figures: [...parts.flatMap(({ figures }) => figures), memory] };
}

type Speed = Readonly<Record<"perSecond" | "cpuMs" | "p95Ms", number>>;

/** Measures sharp alone and the service one after the other in each round; the median over the rounds is reported. */
async function coldRenders(service: BenchService, photo: Buffer, photoFile: string) {
  const [raw, ours]: [Speed[], Speed[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await using opened = new AsyncDisposableStack();
    raw.push((await forked<Speed>(opened, "raw-sharp", [photoFile, String(renders)])).first);
    ours.push(await serviceSpeed(service, photo));
  }
  const share = (name: keyof Speed) =>
    hundredths(median(ours.map((speed, round) => speed[name] / (raw[round] as Speed)[name])));
  const name = "cold 720 px jpeg, 2 in flight";
  const alone = medians(raw);
  return {
    rows: [
      { what: `${name}, sharp alone`, ...alone },
      { what: `${name}, service`, ...medians(ours) },
    ],
    figures: [
      least(`${name}, rate, share of sharp alone`, 0.92, share("perSecond"), "", `sharp ${rounded(alone.perSecond)}/s`),
      most(`${name}, CPU, times sharp alone`, 1.08, share("cpuMs"), "", `sharp ${rounded(alone.cpuMs)} ms`),
      most(`${name}, p95, times sharp alone`, 1.25, share("p95Ms"), "", `sharp ${rounded(alone.p95Ms)} ms`),
    ],
  };
}

async function serviceSpeed(service: BenchService, photo: Buffer): Promise<Speed> {
  const who = testPerson();
  const paths = await coldPaths(service, who, photo, renders + 10);
  await request(service, who, paths.splice(0, 10), 2);
  const [cpuBefore, startedMs] = [await cpuMsOf(service.pid), performance.now()];
  const answers = await request(service, who, paths, 2);
  const seconds = (performance.now() - startedMs) / 1000;
  const failed = answers.find(({ status }) => status !== 200);
  if (failed) throw new Error(`answered ${failed.status}`);
  const cpuMs = ((await cpuMsOf(service.pid)) - cpuBefore) / renders;
  return { perSecond: renders / seconds, cpuMs, p95Ms: p95Of(answers) };
}

const p95Of = (answers: readonly { readonly ms: number }[]): number =>
  percentile(
    answers.map(({ ms }) => ms),
    0.95,
  );

/** Uploads a file as an image and returns the path of its content. */
export async function uploadImage(
  { origin }: BenchService,
  who: TestPerson,
  file: Buffer,
  visibility = "private",
): Promise<string> {
  const form = new FormData();
  form.append("visibility", visibility);
  form.append("file", new Blob([new Uint8Array(file)]), "photo.jpg");
  const answer = await fetch(`${origin}/images`, { method: "POST", headers: who.headers, body: form });
  if (answer.status !== 201) throw new Error(`an upload was answered ${answer.status}: ${await answer.text()}`);
  return `/images/${((await answer.json()) as { id: string }).id}/content`;
}

/**
 * Builds the paths of uncached renditions: only the height differs, without an effect. Uses enough images to avoid
 * evictions.
 */
async function coldPaths(service: BenchService, who: TestPerson, photo: Buffer, count: number) {
  const paths: string[] = [];
  while (paths.length < count) {
    // Extra bytes after the image: another original with the same pixels.
    const path = await uploadImage(service, who, Buffer.concat([photo, Buffer.from(crypto.randomUUID())]));
    for (let height = 3000; height < 3050 && paths.length < count; height++)
      paths.push(`${path}?width=720&height=${height}&format=jpeg`);
  }
  return paths;
}

/** Requests every path, this many at a time. */
async function request({ origin }: BenchService, { headers }: TestPerson, paths: readonly string[], inFlight: number) {
  const left = paths.values();
  const answers: { readonly status: number; readonly ms: number }[] = [];
  const lane = async () => {
    for (const path of left) {
      let status = 0;
      const ms = await timed(async () => {
        const answer = await fetch(`${origin}${path}`, { headers });
        await answer.arrayBuffer();
        status = answer.status;
      });
      answers.push({ status, ms });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return answers;
}

async function flood(service: BenchService, photo: Buffer, inFlight: number) {
  const who = testPerson();
  const answers = await request(service, who, await coldPaths(service, who, photo, 500), inFlight);
  const served = answers.filter(({ status }) => status === 200);
  const what = `cold 720 px jpeg, ${inFlight} in flight`;
  const p95Ms = rounded(p95Of(served));
  return {
    rows: [{ what, p95Ms, served: served.length, refused: answers.length - served.length }],
    figures: [most(`${what}, p95 of those served`, 400, p95Ms, "ms")],
  };
}

interface Target {
  readonly url: string;
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Measures a stored rendition and a 304 of a private and a public image, in turns with a server of Node alone that sends
 * the same bytes. The load shares the cores, so the processor time per answer is shown beside the rate.
 */
async function storedRenditions(
  opened: AsyncDisposableStack,
  service: BenchService,
  photo: Buffer,
): Promise<BenchResult> {
  const who = testPerson();
  const [rows, figures]: [Record<string, unknown>[], Figure[]] = [[], []];
  for (const { of, headers } of [
    { of: "private", headers: who.headers },
    { of: "public", headers: {} },
  ]) {
    const path = `${await uploadImage(service, who, photo, of)}?width=320`;
    const ours = { url: service.origin + path, pid: service.pid };
    const first = await fetch(ours.url, { headers });
    const etag = first.headers.get("etag") ?? "";
    const bytes = Buffer.from(await first.arrayBuffer()).toString("base64");
    const { first: url, pid } = await forked<string>(opened, "minimal-server", [bytes, "image/jpeg", etag]);
    for (const { what, wanted, more } of [
      { what: `stored rendition of a ${of} image`, wanted: 0.6, more: {} },
      { what: `304 of a ${of} image`, wanted: 0.45, more: { "if-none-match": etag } },
    ]) {
      const own = { ...ours, headers: { ...headers, ...more } };
      const { share, speed, minimal } = await besideMinimal(own, { url, pid, headers: more });
      rows.push({ what, ...speed, share }, { what: `${what}, minimal server`, ...minimal });
      const [base, us] = [minimal, speed].map((one) => `${one.perSecond}/s with ${one.cpuUs} µs of CPU`);
      const baseline = `a minimal server ${base}, ours ${us}`;
      figures.push(least(`share of a minimal server, ${connections} in flight: ${what}`, wanted, share, "", baseline));
    }
  }
  return { rows, figures };
}

/** Measures both in each round, so that what the machine does besides hits both; medians are reported. */
async function besideMinimal(ours: Target, baseline: Target) {
  type Shot = Awaited<ReturnType<typeof cannon>>;
  const [own, base]: [Shot[], Shot[]] = [[], []];
  for (const target of [baseline, ours]) await cannon(target); // the first seconds compile the code
  for (let round = 0; round < storedRounds; round++) {
    base.push(await cannon(baseline));
    own.push(await cannon(ours));
  }
  const share = hundredths(median(own.map(({ perSecond }, at) => perSecond / (base[at]?.perSecond ?? Number.NaN))));
  return { share, speed: medians(own), minimal: medians(base) };
}

async function cannon({ url, pid, headers }: Target) {
  const before = await cpuMsOf(pid);
  const result = await autocannon({ url, connections, duration: 2, headers });
  const { requests, latency, errors, "4xx": refused, "5xx": failed } = result;
  if (errors + refused + failed > 0) throw new Error(`${url}: ${errors} errors, ${refused} refused, ${failed} failed`);
  const cpuUs = Math.round((1000 * ((await cpuMsOf(pid)) - before)) / requests.total);
  return { perSecond: Math.round(requests.average), p50Ms: latency.p50, p99Ms: latency.p99, cpuUs };
}

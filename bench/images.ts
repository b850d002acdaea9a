import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import autocannon from "autocannon";
import sharp from "sharp";
import { percentile, rounded } from "./bench-parts.ts";
import { type BenchResult, least, most } from "./history.ts";
import { type ImagesService, startImagesService } from "./images-service.ts";

const formats = ["jpeg", "webp", "png"] as const;
type Format = (typeof formats)[number];

/** Shares of what sharp alone does in the same round. */
const wantedOfRaw: Readonly<Record<Format, { readonly rate: number; readonly cpu?: number; readonly p95?: number }>> = {
  jpeg: { rate: 0.88, cpu: 1.1, p95: 1.25 },
  webp: { rate: 0.95 },
  png: { rate: 0.95 },
};
const rounds = 3;
const uploadCount = 500;
const uploadBytes = 3_000_000;
const rendersOf: Readonly<Record<Format, number>> = { jpeg: 100, webp: 40, png: 20 };
const rawScript = fileURLToPath(new URL("./raw-sharp.ts", import.meta.url));
const bareScript = fileURLToPath(new URL("./bare-server.ts", import.meta.url));

interface Speed {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly p95Ms: number;
}

export async function run() {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-raw-"));
  const service = await startImagesService();
  try {
    const sources = await makeSources(folder);
    const cold = [];
    for (const format of formats) cold.push(await coldRenders(service, format, sources));
    const floods = [await flood(service, sources, 32), await flood(service, sources, 64)];
    const parts: BenchResult[] = [
      ...[...cold, ...floods],
      await fairness(service, sources),
      await stored(service, sources),
      await uploads(service, sources),
    ];
    await sleep(3_000);
    const memory = most("memory 3 s after load", 267, rounded(await service.residentMiB()), "MiB");
    return { rows: parts.flatMap(({ rows }) => rows), figures: [...parts.flatMap(({ figures }) => figures), memory] };
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Sources {
  readonly photo: Buffer;
  readonly drawing: Buffer;
  readonly pathOf: (format: Format) => string;
}

/** Creates a photograph of 6 megapixels, and a drawing with transparency. */
async function makeSources(folder: string): Promise<Sources> {
  const small = await readFixture("photo.jpg");
  const photo = await sharp(small).resize(3000, 2000, { fit: "cover" }).jpeg({ quality: 90 }).toBuffer();
  const drawing = await sharp(small).resize(2048, 1536, { fit: "cover" }).ensureAlpha(0.8).png().toBuffer();
  const paths = { photo: join(folder, "photo.jpg"), drawing: join(folder, "drawing.png") };
  await Promise.all([writeFile(paths.photo, photo), writeFile(paths.drawing, drawing)]);
  return { photo, drawing, pathOf: (format) => (format === "png" ? paths.drawing : paths.photo) };
}

/** Measures sharp alone and the service one after the other in each round; the median over the rounds is reported. */
async function coldRenders(service: ImagesService, format: Format, sources: Sources) {
  const [raw, ours]: [Speed[], Speed[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    raw.push(await rawSpeed(format, sources.pathOf(format)));
    ours.push(await serviceSpeed(service, format, format === "png" ? sources.drawing : sources.photo));
  }
  const share = (of: (speed: Speed) => number) =>
    hundredth(median(ours.map((speed, round) => of(speed) / of(raw[round] as Speed))));
  const row = (who: string, speeds: readonly Speed[]) => ({
    what: `cold 720 px ${format}, 2 in flight, ${who}`,
    perSecond: rounded(median(speeds.map(({ perSecond }) => perSecond))),
    cpuMs: rounded(median(speeds.map(({ cpuMs }) => cpuMs))),
    p95Ms: rounded(median(speeds.map(({ p95Ms }) => p95Ms))),
  });
  const alone = row("sharp alone", raw);
  const ofRaw = {
    ofRaw: share(({ perSecond }) => perSecond),
    cpuOfRaw: share(({ cpuMs }) => cpuMs),
    p95OfRaw: share(({ p95Ms }) => p95Ms),
  };
  const { rate, cpu, p95 } = wantedOfRaw[format];
  const name = `cold 720 px ${format}, 2 in flight`;
  return {
    rows: [alone, { ...row("service", ours), ...ofRaw }],
    figures: [
      least(`${name}, rate, share of sharp alone`, rate, ofRaw.ofRaw, "", `sharp ${alone.perSecond}/s`),
      ...(cpu === undefined
        ? []
        : [most(`${name}, CPU, times sharp alone`, cpu, ofRaw.cpuOfRaw, "", `sharp ${alone.cpuMs} ms`)]),
      ...(p95 === undefined
        ? []
        : [most(`${name}, p95, times sharp alone`, p95, ofRaw.p95OfRaw, "", `sharp ${alone.p95Ms} ms`)]),
    ],
  };
}

const hundredth = (value: number) => Math.round(100 * value) / 100;
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

async function rawSpeed(format: Format, path: string): Promise<Speed> {
  const count = rendersOf[format];
  const child = fork(rawScript, [path, format, String(count)]);
  const [report] = (await once(child, "message")) as [{ seconds: number; cpuMs: number; latencies: number[] }];
  return { perSecond: count / report.seconds, cpuMs: report.cpuMs / count, p95Ms: percentile(report.latencies, 0.95) };
}

async function serviceSpeed(service: ImagesService, format: Format, file: Buffer): Promise<Speed> {
  const who = testPerson();
  const paths = await coldPaths(service, who, file, format, rendersOf[format] + 10);
  await load(service, who, paths.splice(0, 10), 2);
  const [cpuMs, startedMs] = [await service.cpuMs(), performance.now()];
  const answers = await load(service, who, paths, 2);
  const seconds = (performance.now() - startedMs) / 1000;
  const failed = answers.find(({ status }) => status !== 200);
  if (failed) throw new Error(`answered ${failed.status}`);
  const latencies = answers.map(({ ms }) => ms);
  const usedMs = (await service.cpuMs()) - cpuMs;
  return { perSecond: paths.length / seconds, cpuMs: usedMs / paths.length, p95Ms: percentile(latencies, 0.95) };
}

/**
 * Builds the paths of uncached renditions: only the height differs, without an effect. Uses enough images to avoid
 * evictions.
 */
async function coldPaths(service: ImagesService, who: TestPerson, file: Buffer, format: Format, count: number) {
  const paths: string[] = [];
  while (paths.length < count) {
    // Extra bytes after the image: another original with the same pixels.
    const id = await upload(service, who, Buffer.concat([file, Buffer.from(`${crypto.randomUUID()}`)]));
    for (let height = 3000; height < 3050 && paths.length < count; height++) {
      paths.push(`/images/${id}/content?width=720&height=${height}&format=${format}`);
    }
  }
  return paths;
}

async function upload({ url }: ImagesService, who: TestPerson, file: Buffer): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(file)]), "photo.jpg");
  const answer = await fetch(`${url}/images`, { method: "POST", headers: who.headers, body: form });
  if (answer.status !== 201) throw new Error(`an upload was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

interface Answer {
  readonly status: number;
  readonly ms: number;
}

/** Requests every path, this many at a time. */
async function load({ url }: ImagesService, who: TestPerson, paths: readonly string[], inFlight: number) {
  const left = [...paths];
  const answers: Answer[] = [];
  const worker = async () => {
    for (let path = left.shift(); path; path = left.shift()) {
      const startedMs = performance.now();
      const { status, body } = await fetch(`${url}${path}`, { headers: who.headers });
      for await (const _ of body ?? []);
      answers.push({ status, ms: performance.now() - startedMs });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return answers;
}

async function flood(service: ImagesService, { photo }: Sources, inFlight: number) {
  const who = testPerson();
  const paths = await coldPaths(service, who, photo, "jpeg", 500);
  const answers = await load(service, who, paths, inFlight);
  const served = answers.filter(({ status }) => status === 200).map(({ ms }) => ms);
  const refused = answers.filter(({ status }) => status === 429).length;
  const p95Ms = rounded(percentile(served, 0.95));
  const what = `cold 720 px jpeg, ${inFlight} in flight`;
  const other = answers.length - served.length - refused;
  return {
    rows: [{ what, p95Ms, served: served.length, refused, other }],
    figures: [most(`${what}, p95 of those served`, 400, p95Ms, "ms")],
  };
}

/**
 * Measures fairness: one account requests 24 expensive renditions at the same time; another one requests thumbnails and
 * uploads.
 */
async function fairness(service: ImagesService, { photo }: Sources) {
  const [a, b] = [testPerson(), testPerson()];
  const [heavy, small] = [await upload(service, a, photo), await upload(service, b, photo)];
  const expensive = Array.from(
    { length: 24 },
    (_, index) => `/images/${heavy}/content?format=webp&quality=${50 + index}`,
  );
  const flooding = load(service, a, expensive, expensive.length);
  await sleep(300);
  const thumbnails = Array.from({ length: 40 }, (_, index) => `/images/${small}/content?width=${180 + index}`);
  const answers = await load(service, b, thumbnails, 1);
  const startedMs = performance.now();
  await upload(service, b, photo);
  const uploadMs = rounded(performance.now() - startedMs);
  const statuses = (await flooding).map(({ status }) => status);
  const times = answers.map(({ ms }) => ms);
  const p95Ms = rounded(percentile(times, 0.95));
  const counts = (all: readonly number[]) => ({
    served: all.filter((status) => status === 200).length,
    refused: all.filter((status) => status === 429).length,
  });
  return {
    rows: [
      { what: "thumbnails of B while A floods", p95Ms, ...counts(answers.map(({ status }) => status)) },
      { what: "an upload of B while A floods", p95Ms: uploadMs },
      { what: "the flood of A", ...counts(statuses) },
    ],
    figures: [
      most("thumbnails of one account beside another's flood, p95", 500, p95Ms, "ms"),
      most("an upload beside that flood", 1_000, uploadMs, "ms"),
    ],
  };
}

/** Measures a stored rendition and a 304, beside a bare Express that answers 304. */
async function stored(service: ImagesService, { photo }: Sources) {
  const who = testPerson();
  const url = `${service.url}/images/${await upload(service, who, photo)}/content?width=320`;
  const first = await fetch(url, { headers: who.headers });
  await first.arrayBuffer();
  const unchanged = { "if-none-match": first.headers.get("etag") ?? "" };
  const shown = await withCpu(service, () => cannon(url, who.headers));
  const same = await withCpu(service, () => cannon(url, { ...who.headers, ...unchanged }));
  const bare = fork(bareScript, ["/", JSON.stringify({ id: "an image" })]);
  const [bareUrl] = (await once(bare, "message")) as [string];
  const { headers } = await fetch(bareUrl);
  const { requests: _requests, ...express } = await cannon(bareUrl, { "if-none-match": headers.get("etag") ?? "" });
  bare.kill();
  const ofBare = hundredth(same.perSecond / express.perSecond);
  return {
    rows: [
      { what: "stored rendition", ...shown },
      { what: "304", ...same, ofBare },
      { what: "304 of bare Express", ...express },
    ],
    figures: [
      least("stored rendition", 5_000, shown.perSecond, "/s"),
      most("stored rendition, p99", 5, shown.p99Ms, "ms"),
      least("304, share of bare Express", 0.4, ofBare, "", `bare Express ${express.perSecond}/s`),
    ],
  };
}

/**
 * Measures uploads. Each byte is read and written by a system call once: the child that judges a file maps it. Memory
 * is flat when the last uploads use as much of it as the first ones, whose children have started by then.
 */
async function uploads(service: ImagesService, { photo }: Sources) {
  const who = testPerson();
  const padding = Buffer.alloc(Math.max(0, uploadBytes - photo.length));
  const before = await service.transferred();
  const residentMiB: number[] = [];
  let left = uploadCount;
  const worker = async () => {
    while (left-- > 0) {
      await upload(service, who, Buffer.concat([photo, padding, Buffer.from(crypto.randomUUID())]));
      if (left % 10 === 0) residentMiB.push(await service.residentMiB());
    }
  };
  await Promise.all([worker(), worker()]);
  const after = await service.transferred();
  const bytes = uploadCount * Math.max(uploadBytes, photo.length);
  const fifth = Math.ceil(residentMiB.length / 5);
  const what = `${uploadCount} uploads of 3 MB`;
  const firstMiB = rounded(median(residentMiB.slice(0, fifth)));
  const lastMiB = rounded(median(residentMiB.slice(-fifth)));
  const readOfSent = hundredth((after.read - before.read) / bytes);
  const writtenOfSent = hundredth((after.written - before.written) / bytes);
  return {
    rows: [{ what, firstMiB, lastMiB, readOfSent, writtenOfSent }],
    figures: [
      most(`${what}, bytes read, times what was sent`, 1.05, readOfSent),
      most(`${what}, bytes written, times what was sent`, 1.05, writtenOfSent),
      most(`${what}, memory gained from the first hundred to the last`, 0, rounded(lastMiB - firstMiB), "MiB"),
    ],
  };
}

/** Adds the service's processor time per answer: the load shares the cores. */
async function withCpu<Sent extends { readonly requests: number }>(service: ImagesService, send: () => Promise<Sent>) {
  const beforeMs = await service.cpuMs();
  const { requests, ...sent } = await send();
  return { ...sent, cpuUs: Math.round((1000 * ((await service.cpuMs()) - beforeMs)) / requests) };
}

async function cannon(url: string, headers: Readonly<Record<string, string>>) {
  const warming = await autocannon({ url, connections: 32, duration: 2, headers });
  const { requests, latency } = await autocannon({ url, connections: 32, duration: 5, headers });
  const perSecond = Math.round(requests.average);
  return { perSecond, p50Ms: latency.p50, p99Ms: latency.p99, requests: warming.requests.total + requests.total };
}

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import sharp from "sharp";
import { percentile, rounded } from "./bench-parts.ts";
import { type BenchResult, least, most } from "./history.ts";
import { type ImagesService, startImagesService, uploadImage } from "./images-service.ts";
import { storedRenditions } from "./stored-renditions.ts";

const formats = ["jpeg", "webp", "png"] as const;
type Format = (typeof formats)[number];

/** Shares of what sharp alone does in the same round. */
const wantedOfRaw: Readonly<Record<Format, { readonly rate: number; readonly cpu?: number; readonly p95?: number }>> = {
  jpeg: { rate: 0.92, cpu: 1.08, p95: 1.25 },
  webp: { rate: 0.95 },
  png: { rate: 0.95 },
};
const rounds = 3;
const uploadCount = 500;
const uploadBytes = 3_000_000;
const rendersOf: Readonly<Record<Format, number>> = { jpeg: 100, webp: 40, png: 20 };
const rawScript = fileURLToPath(new URL("./raw-sharp.ts", import.meta.url));

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
      ...(await galleries(service, sources)),
      await fairness(service, sources),
      await storedRenditions(service, sources.photo),
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
async function coldPaths(
  service: ImagesService,
  who: TestPerson,
  file: Buffer,
  format: Format,
  count: number,
  width = 720,
) {
  const paths: string[] = [];
  while (paths.length < count) {
    // Extra bytes after the image: another original with the same pixels.
    const id = await uploadImage(service, who, Buffer.concat([file, Buffer.from(`${crypto.randomUUID()}`)]));
    for (let height = 3000; height < 3050 && paths.length < count; height++) {
      paths.push(`/images/${id}/content?width=${width}&height=${height}&format=${format}`);
    }
  }
  return paths;
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

/** Pages of new thumbnails: how many there are, and how many a browser requests at once, by HTTP/1.1 and by HTTP/2. */
const pages = [
  { count: 40, connections: 6 },
  { count: 40, connections: 40 },
  { count: 200, connections: 6 },
] as const;

/** Measures pages that one account opens, each with thumbnails that nobody has requested before. */
async function galleries(service: ImagesService, { photo }: Sources) {
  const results: BenchResult[] = [];
  for (const { count, connections } of pages) {
    const who = testPerson();
    const paths = await coldPaths(service, who, photo, "jpeg", count, 320);
    const startedMs = performance.now();
    const answers = await load(service, who, paths, connections);
    const wholeMs = Math.round(performance.now() - startedMs);
    const shown = answers.filter(({ status }) => status === 200).map(({ ms }) => ms);
    const refused = answers.length - shown.length;
    const what = `${count} new thumbnails of one page, ${connections} in flight`;
    results.push({
      rows: [{ what, p95Ms: rounded(percentile(shown, 0.95)), served: shown.length, refused, wholeMs }],
      figures: [
        most(
          `refused of new thumbnails of one page: ${count}, ${connections} in flight`,
          0,
          refused,
          "",
          `the page is whole after ${wholeMs} ms`,
        ),
      ],
    });
  }
  return results;
}

/**
 * Measures fairness: one account requests 24 expensive renditions at the same time; another one requests thumbnails and
 * uploads.
 */
async function fairness(service: ImagesService, { photo }: Sources) {
  const [a, b] = [testPerson(), testPerson()];
  const [heavy, small] = [await uploadImage(service, a, photo), await uploadImage(service, b, photo)];
  const expensive = Array.from(
    { length: 24 },
    (_, index) => `/images/${heavy}/content?format=webp&quality=${50 + index}`,
  );
  const flooding = load(service, a, expensive, expensive.length);
  await sleep(300);
  const thumbnails = Array.from({ length: 40 }, (_, index) => `/images/${small}/content?width=${180 + index}`);
  const answers = await load(service, b, thumbnails, 1);
  const startedMs = performance.now();
  await uploadImage(service, b, photo);
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
      await uploadImage(service, who, Buffer.concat([photo, padding, Buffer.from(crypto.randomUUID())]));
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
      most(`${what}, times what was sent: bytes read`, 1.05, readOfSent),
      most(`${what}, times what was sent: bytes written`, 1.05, writtenOfSent),
      most(`${what}, memory gained from the first hundred to the last`, 0, rounded(lastMiB - firstMiB), "MiB"),
    ],
  };
}

import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MiB, seconds, systemClock } from "@signalbox/core";
import sharp from "sharp";
import type { JobOutcome, RenderedFile } from "../formats/image-jobs.ts";
import { defaultImageLimits, type ImageFacts, type ImageLimits } from "../formats/image-limits.ts";
import type { Rendition } from "../formats/rendition.ts";
import { sniffImage } from "../formats/sniff-image.ts";
import { type ImagePoolOptions, type JobTerms, openImagePool } from "./image-pool.ts";
import { inspectImage } from "./inspect-image.ts";

const terms: JobTerms = { turn: "acc_1", limitMs: seconds(60) };
/** An arbitrary size. */
export const anySize: Rendition = {
  width: 64,
  height: null,
  fit: "inside",
  enlarge: false,
  focalPoint: null,
  format: "png",
  quality: null,
};

/** Opens a pool of its own with a folder for its files, called with bytes. */
export async function openTestPool(options: Partial<ImagePoolOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-imaging-test-"));
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const runner = { defer: () => {} };
  const pool = await openImagePool({
    directory: folder,
    memoryMax: 1024 * MiB,
    clock: systemClock,
    log,
    runner,
    ...options,
  });

  async function stored(bytes: Uint8Array): Promise<string> {
    const path = join(folder, randomUUID());
    await writeFile(path, bytes);
    return path;
  }

  async function factsOf(bytes: Buffer): Promise<ImageFacts> {
    const sniffed = sniffImage(bytes);
    if (sniffed.kind !== "accepted") throw new Error("the image has no accepted type");
    const job = { kind: "header", source: await stored(bytes), format: sniffed.format } as const;
    const header = await pool.run(job, terms);
    if (header.outcome !== "rendered") throw new Error(header.reason);
    return header.result;
  }

  return {
    pool,
    folder,
    warnings,
    stored,
    factsOf,

    inspect: async (bytes: Buffer, limits: ImageLimits = defaultImageLimits) =>
      inspectImage(pool, { path: await stored(bytes), head: bytes }, limits, terms),

    /** Renders by the original's own header, and returns the bytes. */
    async render(bytes: Buffer, change: Partial<Rendition> = {}): Promise<RenderedFile & { readonly bytes: Buffer }> {
      const { outcome, target } = await this.tryToRender(bytes, await factsOf(bytes), change);
      if (outcome.outcome !== "rendered") throw new Error(`${outcome.outcome}: ${outcome.reason}`);
      return { ...outcome.result, bytes: await readFile(target) };
    },

    async tryToRender(
      bytes: Buffer,
      facts: ImageFacts,
      change: Partial<Rendition> = {},
      given: Partial<JobTerms> = {},
    ): Promise<{ outcome: JobOutcome<RenderedFile>; target: string }> {
      const [source, target] = [await stored(bytes), join(folder, randomUUID())];
      const rendition = { ...anySize, ...change };
      const job = { kind: "render", source, target, facts, rendition, limits: defaultImageLimits } as const;
      return { outcome: await pool.run(job, { ...terms, ...given }), target };
    },

    async close(): Promise<void> {
      await pool.close();
      await rm(folder, { recursive: true });
    },
  };
}

export type TestPool = Awaited<ReturnType<typeof openTestPool>>;

/** Creates an image with a red left and a blue right half: one pixel shows a rotation or a crop. */
export function halves(width: number, height: number) {
  const half = { create: { width: Math.ceil(width / 2), height, channels: 3, background: "#ff0000" } } as const;
  return sharp({ create: { width, height, channels: 3, background: "#0000ff" } }).composite([
    { input: half, left: 0, top: 0 },
  ]);
}

/** Creates an incompressible image: every pixel counts. */
export function noise(width: number, height: number) {
  return sharp({
    create: { width, height, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 40 } },
  });
}

/** Creates an animation that repeats one frame: a few hundred bytes each, for any size. */
export async function longAnimation(width: number, height: number, frames: number): Promise<Buffer> {
  const one = await sharp({ create: { width, height, channels: 3, background: "#2468ac" } })
    .gif({ effort: 1 })
    .toBuffer();
  // Header, screen and its table of colours; then the frame with its extensions; then the trailer.
  const flags = one[10] as number;
  const frameAt = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  const [head, frame, trailer] = [one.subarray(0, frameAt), one.subarray(frameAt, -1), one.subarray(-1)];
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), trailer]);
}

/** Creates an image of one colour, in as few bytes as the codec can. */
export function plain(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: "#123456" } });
}

/** The structural similarity (SSIM) of two images of one size in grey, over blocks of eight pixels; 1 is the same. */
export async function similarity(one: Buffer, other: Buffer): Promise<number> {
  const grey = (bytes: Buffer) => sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true });
  const [{ data: a, info }, { data: b }] = await Promise.all([grey(one), grey(other)]);
  let [sum, blocks] = [0, 0];
  for (let top = 0; top + 8 <= info.height; top += 8) {
    for (let left = 0; left + 8 <= info.width; left += 8) {
      sum += similarityOfBlock(a, b, top * info.width + left, info.width);
      blocks++;
    }
  }
  return sum / blocks;
}

function similarityOfBlock(a: Buffer, b: Buffer, start: number, width: number): number {
  let [sumA, sumB, squareA, squareB, product] = [0, 0, 0, 0, 0];
  for (let row = 0; row < 8; row++) {
    for (let at = start + row * width; at < start + row * width + 8; at++) {
      const [x, y] = [a[at] as number, b[at] as number];
      sumA += x;
      sumB += y;
      squareA += x * x;
      squareB += y * y;
      product += x * y;
    }
  }
  const [meanA, meanB] = [sumA / 64, sumB / 64];
  const [varianceA, varianceB] = [squareA / 64 - meanA ** 2, squareB / 64 - meanB ** 2];
  const covariance = product / 64 - meanA * meanB;
  const [c1, c2] = [6.5025, 58.5225];
  return (
    ((2 * meanA * meanB + c1) * (2 * covariance + c2)) / ((meanA ** 2 + meanB ** 2 + c1) * (varianceA + varianceB + c2))
  );
}

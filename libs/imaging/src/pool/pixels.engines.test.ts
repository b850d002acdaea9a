import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { pillow, runPillow } from "@signalbox/testing";
import sharp from "sharp";
import { fits } from "../formats/geometry.ts";
import { inputFormats, type OutputFormat, outputFormats, outputTraits } from "../formats/image-formats.ts";
import type { Rendition } from "../formats/rendition.ts";
import { openTestPool, type TestPool } from "./test-pool.ts";

const script = fileURLToPath(new URL("./pixels.py", import.meta.url));

/**
 * Largest difference between a rendition and Pillow's result for the same file, in steps of 255: of all samples, and of
 * the worst in a hundred.
 */
interface Tolerance {
  readonly mean: number;
  readonly high: number;
}

/**
 * Loss of each encoder at quality 95, on top of the difference between two resamplers. JPEG, WebP and AVIF keep a
 * quarter of the colour, which shows at hard edges; GIF keeps 256 colours.
 */
const tolerances: Readonly<Record<OutputFormat, Tolerance>> = {
  png: { mean: 1.5, high: 28 },
  jpeg: { mean: 5, high: 70 },
  webp: { mean: 5, high: 70 },
  avif: { mean: 5, high: 70 },
  gif: { mean: 6, high: 30 },
};
/** GIF's transparency is all or nothing. */
const allOrNothing: Tolerance = { mean: 36, high: 120 };
/** The inks of a file without a profile are undefined: Pillow mixes them as light, we as a printer does. */
const guessed: Tolerance = { mean: 25, high: 110 };

interface Compared {
  readonly kind: string;
  readonly size: readonly [number, number];
  readonly wanted: readonly [number, number];
  readonly metadata: readonly string[];
  readonly frames: readonly (number | null)[];
  readonly mean: number | null;
  readonly high: number | null;
}

interface Case {
  readonly source: string;
  readonly rendition: Pick<Rendition, "format"> & Partial<Rendition>;
  readonly tolerance?: Tolerance;
  /** Colour under transparent parts; white where the format has no transparency. */
  readonly under?: string;
}

let images: TestPool;
before(async () => {
  await pillow.fetch();
  images = await openTestPool();
  await runPillow(script, ["make", images.folder]);
  const original = sharp(sourceOf("png"));
  // Pillow can read these, but not write them.
  await Promise.all([
    original.clone().withIccProfile("p3").png().toFile(sourceOf("p3")),
    original
      .clone()
      .withIccProfile("cmyk")
      .toColourspace("cmyk")
      .jpeg({ quality: 100 })
      .toFile(sourceOf("cmyk-profile")),
    original.clone().toColourspace("rgb16").png().toFile(sourceOf("deep-png")),
    original.clone().toColourspace("rgb16").tiff().toFile(sourceOf("deep-tiff")),
  ]);
});
after(() => images.close());

const sourceOf = (name: string) => join(images.folder, name);
const box = { width: 90, height: 80, fit: "inside", quality: 95 } as const;

/** Renders every case, and has Pillow judge them all in one run. */
async function compare(cases: readonly Case[]): Promise<Compared[]> {
  const listed = await Promise.all(
    cases.map(async ({ source, rendition, under }) => {
      const wanted = { ...box, ...rendition };
      const { bytes } = await images.render(await readFile(sourceOf(source)), wanted);
      const [made, alpha] = [await images.stored(bytes), outputTraits[wanted.format].alpha];
      const { width, height, fit, focalPoint } = wanted;
      const point = focalPoint ? [focalPoint.x, focalPoint.y] : null;
      return {
        source: sourceOf(source),
        made,
        width,
        height,
        fit,
        focalPoint: point,
        under: under ?? (alpha ? null : "#ffffff"),
      };
    }),
  );
  const path = sourceOf("cases.json");
  await writeFile(path, JSON.stringify(listed));
  return JSON.parse(await runPillow(script, ["compare", path])) as Compared[];
}

async function assertAlike(cases: readonly Case[]): Promise<readonly Compared[]> {
  const compared = await compare(cases);
  const problems = compared.flatMap((result, at) => {
    const { source, rendition, tolerance } = cases[at] as Case;
    // The colours of a palette stay a palette in a PNG, as they do in a GIF.
    const isPalette = rendition.format === "png" && source.endsWith("gif");
    const { mean, high } = tolerance ?? tolerances[isPalette ? "gif" : rendition.format];
    // Images of different sizes were not compared.
    const isAlike = result.mean !== null && result.mean <= mean && (result.high as number) <= high;
    const isKind = result.kind.toLowerCase() === rendition.format;
    return isAlike && isKind && result.metadata.length === 0 ? [] : [{ source, ...rendition, ...result }];
  });
  assert.deepEqual(problems, []);
  return compared;
}

/** Lists every output format of these sources, in one fit. */
const inEveryFormat = (sources: readonly string[], tolerance?: (format: OutputFormat) => Tolerance | undefined) =>
  sources.flatMap((source) =>
    outputFormats.map((format) => ({ source, rendition: { format }, ...withTolerance(tolerance?.(format)) })),
  );
const withTolerance = (tolerance: Tolerance | undefined) => (tolerance ? { tolerance } : {});

test("every input becomes every output in every fit with Pillow's pixels", async () => {
  // Pillow alone writes no HEIC: `heic.int.test.ts` has its own.
  const written = inputFormats.filter((source) => source !== "heic");
  const formats = written.flatMap((source) =>
    outputFormats.flatMap((format) => fits.map((fit) => ({ source, rendition: { format, fit } }))),
  );
  assert.equal((await assertAlike(formats)).length, 150);
});

test("grey, palettes, 16 bits, passes and fewer colours than pixels look like in Pillow", async () => {
  const deep = ["grey-16", "grey-16-tiff", "deep-png", "deep-tiff"];
  const others = ["progressive", "subsampled", "grey-jpeg", "grey-png", "bilevel", "palette", "pixel"];
  await assertAlike(inEveryFormat([...deep, ...others]));
});

test("Display P3 and inks become sRGB by their profiles, inks without one as in print", async () => {
  await assertAlike(inEveryFormat(["p3", "cmyk-profile"]));
  await assertAlike(inEveryFormat(["cmyk"], () => guessed));
});

test("all eight orientations are applied", async () => {
  const turned = Array.from(
    { length: 8 },
    (_, at) => ({ source: `turned-${at + 1}`, rendition: { format: "png" } }) as const,
  );
  const sizes = (await assertAlike(turned)).map(({ size }) => size.join("×"));
  assert.deepEqual(sizes, [...Array(4).fill("90×60"), ...Array(4).fill("53×80")]);
});

test("transparency is kept where the format has it, else filled with white or the background", async () => {
  const clear = ["alpha-png", "alpha-webp", "alpha-avif", "alpha-tiff", "grey-alpha"];
  await assertAlike(inEveryFormat(clear, (format) => (format === "gif" ? allOrNothing : undefined)));
  const background = "20c040";
  await assertAlike(
    outputFormats.map((format) => ({
      source: "alpha-png",
      rendition: { format, background },
      under: `#${background}`,
    })),
  );
});

test("animations keep every frame with its duration in animated formats, elsewhere the first frame", async () => {
  const moving = inEveryFormat(["moving-gif", "moving-webp"]);
  for (const [at, { frames }] of (await assertAlike(moving)).entries()) {
    const { format } = (moving[at] as Case).rendition;
    if (outputTraits[format].animation) assert.deepEqual(frames, [100, 250, 400], format);
    else assert.equal(frames.length, 1, format);
  }
});

test("the focal point moves a crop exactly like in Pillow", async () => {
  const points = [0, 0.3, 0.7, 1].map((x) => ({ x, y: 0.5 }));
  await assertAlike(
    points.map((focalPoint) => ({ source: "png", rendition: { format: "png", fit: "cover", width: 50, focalPoint } })),
  );
});

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MiB, systemClock } from "@signalbox/core";
import {
  defaultImageLimits,
  type ImagePool,
  inspectImage,
  keptFormat,
  type OutputFormat,
  openImagePool,
  outputTraits,
} from "@signalbox/imaging";
import { readFixture } from "@signalbox/testing";
import sharp, { type Sharp } from "sharp";
import { type BenchResult, most } from "./history.ts";
import { hundredths, median } from "./measure.ts";
import { newFolder } from "./systems.ts";

const filesOfKind = 10;
const [width, height] = [480, 320];
const smallerWidth = 432;
const terms = { turn: "bench", limitMs: 60_000 };

type Kind = (at: number) => Promise<Buffer>;

/** Ten kinds of files that people upload; each file of a kind has other pixels. */
async function kindsOfFiles(): Promise<Record<string, Kind>> {
  const photo = await sharp(await readFixture("photo.jpg"))
    .resize(1200)
    .toBuffer();
  const pieceOf = (at: number) => sharp(photo).extract({ left: 60 * at, top: 20 * at, width, height });
  const drawn = (at: number, background: string) => {
    const blocks = Array.from({ length: 6 }, (_, index) => ({
      input: {
        create: { width: 40 + 9 * index, height: 30 + 7 * at, channels: 3, background: `#${index}${at}${9 - at}` },
      } as const,
      left: 70 * index,
      top: (37 * index * (at + 1)) % 200,
    }));
    const canvas = sharp({ create: { width, height, channels: 4, background } });
    return canvas.composite(blocks).png().toBuffer();
  };
  const animation = async (at: number) => {
    const frames = await Promise.all([0, 1, 2, 3].map((frame) => drawn((at + frame) % 10, "#fff")));
    return sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
  };
  return {
    "JPEG of a camera": (at) =>
      pieceOf(at)
        .withExif({ IFD0: { Make: "Camera" } })
        .jpeg({ quality: 92 })
        .toBuffer(),
    "JPEG of a web page": (at) => pieceOf(at).jpeg({ quality: 55, mozjpeg: true }).toBuffer(),
    "grey JPEG": (at) => pieceOf(at).toColourspace("b-w").jpeg({ quality: 85 }).toBuffer(),
    "PNG of a photograph": (at) => pieceOf(at).png({ compressionLevel: 9, adaptiveFiltering: true }).toBuffer(),
    "PNG of a screen": (at) =>
      drawn(at, "#f4f6f8").then((png) => sharp(png).removeAlpha().png({ compressionLevel: 9 }).toBuffer()),
    "PNG of a logo, palette": (at) =>
      drawn(at, "#fff").then((png) => sharp(png).removeAlpha().png({ palette: true, colours: 16 }).toBuffer()),
    "PNG of a logo, transparent": (at) => drawn(at, "#fff0"),
    "PNG of a scan, grey": (at) =>
      pieceOf(at).threshold(110).toColourspace("b-w").png({ palette: true, colours: 2 }).toBuffer(),
    "lossy WebP": (at) => pieceOf(at).webp({ quality: 60, effort: 6 }).toBuffer(),
    "animated GIF": animation,
  };
}

/**
 * The setting that a careful page author chooses for each format: the most work that sharp offers, at the default quality.
 * It is no setting of equal look: mozjpeg at 80 has a structural similarity of 0.943 on our fixtures, `quality=auto` one of
 * 0.956. mozjpeg at 84 has 0.954 and weighs a seventh more. A PNG by hand has no palette, and a GIF leaves no choice.
 */
function byHand(image: Sharp, format: OutputFormat): Sharp {
  const { defaultQuality } = outputTraits[format];
  if (format === "jpeg") return image.jpeg({ quality: defaultQuality ?? 80, mozjpeg: true });
  if (format === "png") return image.png({ compressionLevel: 9, adaptiveFiltering: true });
  return format === "webp" ? image.webp({ quality: defaultQuality ?? 80, effort: 6 }) : image.gif({ effort: 10 });
}

/** Renders files with `quality=auto`, as a browser gets them that takes WebP, and one that does not. */
export async function run(): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const directory = await newFolder(opened);
  const runner = { defer: () => {} };
  const log = { warn: () => {} };
  const pool = await openImagePool({ directory, memoryMax: 1024 * MiB, clock: systemClock, log, runner });
  opened.defer(() => pool.close());
  const measured: ({ readonly kind: string } & Weights)[] = [];
  for (const [kind, make] of Object.entries(await kindsOfFiles())) {
    for (let at = 0; at < filesOfKind; at++) measured.push({ kind, ...(await weigh(pool, directory, await make(at))) });
  }
  const heavier = measured.filter(({ full }) => full > 1.02).length;
  const rows = [...Map.groupBy(measured, ({ kind }) => kind)].map(([kind, files]) => {
    const middle = (name: "kept" | "browser" | "full") => hundredths(median(files.map((file) => file[name])));
    return { kind, kept: middle("kept"), browser: middle("browser"), full: middle("full") };
  });
  const baseline = "sharp's best setting by hand in the original's format";
  const middleOf = (name: "kept" | "browser") => hundredths(median(measured.map((file) => file[name])));
  return {
    rows,
    figures: [
      most("median weight of 100 files, WebP", 0.9, middleOf("browser"), "", baseline),
      most("median weight of 100 files, own format", 0.9, middleOf("kept"), "", baseline),
      most("full-size renditions heavier than 1.02 of their original", 0, heavier, "", "100 files in their own format"),
    ],
  };
}

/** Shares of the weight by hand, of the own format and of WebP, and of the original at full size. */
type Weights = Readonly<Record<"kept" | "browser" | "full", number>>;

/** Weighs the renditions of a file against those by hand, and the full-size one against the original. */
async function weigh(pool: ImagePool, folder: string, original: Buffer): Promise<Weights> {
  const [source, target] = [join(folder, "original"), join(folder, "rendition")];
  await writeFile(source, original);
  const inspected = await inspectImage(pool, { path: source, head: original }, defaultImageLimits, terms);
  if (inspected.outcome !== "accepted") throw new Error(`a file was ${inspected.outcome}`);
  const { facts } = inspected;
  const bytesOf = async (format: OutputFormat, wanted: number | null): Promise<number> => {
    const { autoQuality: quality } = outputTraits[format];
    const rendition = {
      width: wanted,
      height: null,
      fit: "inside",
      enlarge: false,
      focalPoint: null,
      format,
      quality,
    } as const;
    const job = { kind: "render", source, target, facts, rendition, limits: defaultImageLimits } as const;
    const made = await pool.run(job, terms);
    if (made.outcome !== "rendered") throw new Error(made.reason);
    return (await readFile(target)).length;
  };
  const kept = keptFormat(facts.format);
  const opened = sharp(original, { animated: true }).resize(smallerWidth);
  const hand = (await byHand(opened, kept).toBuffer()).length;
  const [own, web] = [await bytesOf(kept, smallerWidth), await bytesOf("webp", smallerWidth)];
  return { kept: own / hand, browser: web / hand, full: (await bytesOf(kept, null)) / original.length };
}

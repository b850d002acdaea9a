import { readFile, rm, stat } from "node:fs/promises";
import { setTimeout as later } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { MainModule } from "libheif-js/libheif-wasm/libheif.js";
import type { ImageJob } from "../formats/image-jobs.ts";
import { pixelsMaxOf } from "../formats/image-limits.ts";
import { openImage } from "./codec.ts";
import { type Pixels, writeTiff } from "./write-tiff.ts";

/** In the child's own folder, where one job runs at a time. */
const decodedPath = "decoded.tif";
/** The jobs of one image come close together; long after them nothing of an image may lie around. */
const keptMs = 5_000;
let kept: { readonly identity: string; readonly timer: NodeJS.Timeout } | null = null;

/** Runs a job on the decoded pixels where the file is a HEIC: sharp reads its header alone. */
export async function withHeicDecoded<Result>(job: ImageJob, run: (job: ImageJob) => Promise<Result>): Promise<Result> {
  if (job.kind === "header" || job.facts.format !== "heic") return run(job);
  const { ino, mtimeMs, size } = await stat(job.source);
  const identity = `${job.source} ${ino} ${mtimeMs} ${size}`;
  clearTimeout(kept?.timer);
  const isDecoded = kept?.identity === identity;
  kept = null;
  if (!isDecoded) {
    const read = await openImage(job.source, { pixelsMax: pixelsMaxOf("heic", job.limits) }).metadata();
    try {
      await writeTiff(decodedPath, { ...(await decodePrimary(job.source, read)), icc: read.icc });
    } finally {
      releaseMemory();
    }
  }
  try {
    return await run({ ...job, decoded: decodedPath });
  } finally {
    kept = { identity, timer: later(() => void forget(), keptMs) };
  }
}

async function forget(): Promise<void> {
  kept = null;
  await rm(decodedPath, { force: true });
}

/** The numbers of libheif's interface (heif.h). */
const rgb = 1;
const chroma = { rgb: 10, rgba: 11, deepRgb: 14, deepRgba: 15 };
const interleaved = 10;
const memoryError = 6;

/** Loads libheif at the first HEIC: most children never see one. Each image gets memory of its own. */
async function openLibheif(): Promise<MainModule> {
  // @ts-expect-error: the package has types for the same module without the code in it, which would be a file to find.
  const { default: open } = await import("libheif-js/libheif-wasm/libheif-bundle.mjs");
  return open();
}

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Returns the memory of a decoder, which would be missing from the allowance of the next job. */
function releaseMemory(): void {
  collect();
  // The first run finds it, the second one unmaps it.
  collect();
}

/** Decodes the primary image, upright: libheif turns and mirrors it as the file says. */
async function decodePrimary(
  path: string,
  claimed: { readonly width: number; readonly height: number },
): Promise<Pixels> {
  const [lib, file] = [await openLibheif(), await readFile(path)];
  const scope = new Scope(lib);
  try {
    const context = scope.own(lib._heif_context_alloc(), (at) => lib._heif_context_free(at));
    const bytes = scope.allocate(file.length);
    lib.HEAPU8.set(file, bytes);
    scope.check((error) => lib._heif_context_read_from_memory(error, context, bytes, file.length, 0));
    const handle = scope.own(
      scope.read((error, at) => lib._heif_context_get_primary_image_handle(error, context, at)),
      (at) => lib._heif_image_handle_release(at),
    );
    const [width, height] = [lib._heif_image_handle_get_width(handle), lib._heif_image_handle_get_height(handle)];
    // The limits were held against what the header claims.
    if (width !== claimed.width || height !== claimed.height) throw new Error("heif: the image has another size");
    const depth = lib._heif_image_handle_get_luma_bits_per_pixel(handle);
    const [hasAlpha, isDeep] = [lib._heif_image_handle_has_alpha_channel(handle) !== 0, depth > 8];
    const layout = isDeep ? (hasAlpha ? chroma.deepRgba : chroma.deepRgb) : hasAlpha ? chroma.rgba : chroma.rgb;
    const image = scope.own(
      scope.read((error, at) => lib._heif_decode_image(error, handle, at, rgb, layout, 0)),
      (at) => lib._heif_image_release(at),
    );
    const strideAt = scope.allocate(4);
    const plane = lib._heif_image_get_plane_readonly(image, interleaved, strideAt);
    const stride = lib.HEAP32[strideAt >> 2];
    const rowBytes = width * (hasAlpha ? 4 : 3) * (isDeep ? 2 : 1);
    const rows = Buffer.alloc(rowBytes * height);
    for (let y = 0; y < height; y++) {
      rows.set(lib.HEAPU8.subarray(plane + y * stride, plane + y * stride + rowBytes), y * rowBytes);
    }
    if (isDeep) widen(new Uint16Array(rows.buffer, rows.byteOffset, rows.length / 2), depth);
    return { width, height, samples: hasAlpha ? 4 : 3, bits: isDeep ? 16 : 8, rows };
  } finally {
    scope.release();
  }
}

/** Spreads samples of this depth over 16 bits. */
function widen(samples: Uint16Array, depth: number): void {
  for (let at = 0; at < samples.length; at++) {
    const sample = samples[at] ?? 0;
    samples[at] = (sample << (16 - depth)) | (sample >> (2 * depth - 16));
  }
}

/** The memory of a call into libheif, all of which is released at its end. */
class Scope {
  readonly #lib: MainModule;
  readonly #releases: (() => void)[] = [];

  constructor(lib: MainModule) {
    this.#lib = lib;
  }

  own(at: number, release: (at: number) => void): number {
    this.#releases.push(() => release(at));
    return at;
  }

  allocate(bytes: number): number {
    const at = this.#lib._malloc(bytes);
    if (at === 0) throw new Error("heif: memory allocation failed");
    return this.own(at, (owned) => this.#lib._free(owned));
  }

  /** Calls a function that returns an error, which is written to an address. Throws it. */
  check(call: (error: number) => void): void {
    const error = this.allocate(12);
    call(error);
    const [code, subcode] = [this.#lib.HEAP32[error >> 2], this.#lib.HEAP32[(error >> 2) + 1]];
    if (code === memoryError) throw new Error("heif: memory allocation failed");
    if (code !== 0) throw new Error(`heif: error ${code}.${subcode}`);
  }

  /** Returns the pointer that such a function writes. */
  read(call: (error: number, at: number) => void): number {
    const at = this.allocate(4);
    this.check((error) => call(error, at));
    return this.#lib.HEAPU32[at >> 2];
  }

  release(): void {
    for (const release of this.#releases.reverse()) release();
  }
}

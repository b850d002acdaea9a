import { MiB } from "@signalbox/core";
import { isEdited } from "../formats/edits.ts";
import { planGeometry } from "../formats/geometry.ts";
import type { InputFormat, OutputFormat } from "../formats/image-formats.ts";
import { outputTraits } from "../formats/image-formats.ts";
import type { ImageJob } from "../formats/image-jobs.ts";
import type { ImageFacts } from "../formats/image-limits.ts";
import type { Rendition } from "../formats/rendition.ts";
import type { Size } from "../formats/size.ts";

/** The estimated time and memory of a job. */
export interface JobCost {
  readonly ms: number;
  readonly bytes: number;
}

/** Milliseconds per megapixel, measured on one machine; measured jobs correct them. */
const decodeMs: Readonly<Record<InputFormat, number>> = {
  jpeg: 1.5,
  png: 6,
  gif: 6,
  webp: 8,
  avif: 25,
  tiff: 6,
  heic: 170,
};
const encodeMs: Readonly<Record<OutputFormat, number>> = { jpeg: 18, png: 26, webp: 45, avif: 270, gif: 90 };
/** A crop of a strip that is enlarged first is expensive although little of it is shown. */
const scaleMs = 4;
/** For each pixel of the radius. */
const blurMs = 2;
/** Bytes per pixel of a result with an overlay, which lies in memory below, above and mixed. */
const overlaidBytes = 12;
/** Bytes per pixel of one frame. Some codecs work line by line, others keep the whole image. */
const decodeBytes: Readonly<Record<InputFormat, number>> = {
  jpeg: 0.6,
  png: 1,
  gif: 4,
  webp: 4,
  avif: 18,
  tiff: 1,
  heic: 15,
};
const encodeBytes: Readonly<Record<OutputFormat, number>> = { jpeg: 7, png: 2, webp: 7, avif: 24, gif: 17 };
/** A progressive file is decoded in passes over all its coefficients. */
const progressive = { ms: 4, bytes: 6 };
/** The smallest cost of a job. */
const least: JobCost = { ms: 1, bytes: 8 * MiB };

/**
 * Largest factor by which measurements may move an estimate, and its speed: a hostile image must not make all others
 * look expensive.
 */
const factorMax = 8;
const learningRate = 0.15;
/** Shorter jobs measure the machine's noise rather than the codec. */
const learnedFromMs = 4;
const learnedFromBytes = 32 * MiB;

interface Factor {
  ms: number;
  bytes: number;
}

/** Estimates the cost of a job from pixels and codecs, and learns from measured jobs. */
export class JobCosts {
  readonly #factors = new Map<string, Factor>();

  expect(job: ImageJob): JobCost {
    const { ms, bytes } = costOf(job);
    const factor = this.#factors.get(classOf(job));
    return { ms: least.ms + ms * (factor?.ms ?? 1), bytes: least.bytes + bytes * (factor?.bytes ?? 1) };
  }

  learn(job: ImageJob, took: JobCost): void {
    const { ms, bytes } = costOf(job);
    const name = classOf(job);
    const factor = this.#factors.get(name) ?? { ms: 1, bytes: 1 };
    if (ms > learnedFromMs) factor.ms = moved(factor.ms, (took.ms - least.ms) / ms);
    if (bytes > learnedFromBytes) factor.bytes = moved(factor.bytes, (took.bytes - least.bytes) / bytes);
    this.#factors.set(name, factor);
  }
}

function moved(factor: number, seen: number): number {
  return bounded(factor * bounded(seen / factor) ** learningRate);
}

const bounded = (value: number) => Math.min(factorMax, Math.max(1 / factorMax, value));

function classOf(job: ImageJob): string {
  if (job.kind === "header") return "header";
  const { format, isProgressive, frames } = job.facts;
  const from = `${format}${isProgressive ? " progressive" : ""}${frames > 1 ? " animated" : ""}`;
  return job.kind === "look" ? `look ${from}` : `${from} ${job.rendition.format}`;
}

function costOf(job: ImageJob): JobCost {
  if (job.kind === "header") return { ms: 0, bytes: 0 };
  if (job.kind === "look") return decodeCost(job.facts, job.facts.frames);
  return renderCost(job.facts, job.rendition);
}

function renderCost(facts: ImageFacts, rendition: Rendition): JobCost {
  const { format, blur = 0, overlay } = rendition;
  const isMoving = facts.frames > 1 && outputTraits[format].animation && !isEdited(rendition);
  const frames = isMoving ? facts.frames : 1;
  const { output, scaled } = planGeometry(facts, rendition);
  // The frames before one are decoded for it.
  const decode = decodeCost(facts, isMoving ? frames : (rendition.frame ?? 1));
  const pixels = pixelsOf(output);
  // Edited pixels lie in memory, before and after each edit.
  const copied = isEdited(rendition) ? pixelsOf(facts) * 8 : 0;
  const above = overlay ? decodeCost(overlay.facts, 1) : { ms: 0, bytes: 0 };
  const laid = overlay ? pixels * overlaidBytes : 0;
  return {
    ms:
      decode.ms +
      above.ms +
      (frames * (pixels * (encodeMs[format] + blur * blurMs) + pixelsOf(scaled) * scaleMs)) / 1e6,
    bytes: decode.bytes + pixels * encodeBytes[format] + copied + above.bytes + laid,
  };
}

function decodeCost(facts: ImageFacts, frames: number): JobCost {
  const { format, isProgressive } = facts;
  const pixels = pixelsOf(facts);
  const times = isProgressive ? progressive : { ms: 1, bytes: 1 };
  return {
    ms: (frames * pixels * decodeMs[format] * times.ms) / 1e6,
    bytes: pixels * decodeBytes[format] * times.bytes,
  };
}

const pixelsOf = ({ width, height }: Size) => width * height;

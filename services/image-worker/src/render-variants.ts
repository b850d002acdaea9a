import { createHash } from "node:crypto";
import { open, readFile, rm } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type { EventData, RenditionRequest, RenditionResult } from "@signalbox/contracts";
import { minutes } from "@signalbox/core";
import type { StatelessContext } from "@signalbox/events";
import {
  defaultImageLimits,
  type FatalOutcome,
  type ImageFacts,
  type ImageLimits,
  type JobOutcome,
  type JobTerms,
  outputTraits,
  planGeometry,
  type Rendition,
  renderRendition,
  renditionKey,
  sniffBytes,
  sniffImage,
} from "@signalbox/imaging";
import type { WorkerService } from "./worker-service.ts";

type Job = EventData<"image.render_requested">;
type Failure = NonNullable<EventData<"image.rendered">["failure"]>;

export interface RenderedVariants {
  readonly renditions: readonly RenditionResult[];
  readonly placeholder: string | null;
  readonly dominantColor: string | null;
  readonly failure: Failure | null;
}

/** All jobs of the worker share one turn, behind every waiting caller. */
const turn = "image-worker";
const limitMs = minutes(2);

/**
 * Renders a job's renditions in order and stores each under its content-addressed key, so that a repeated job changes
 * nothing and costs little. A faulty image is a failure in the answer; an unavailable store is thrown.
 */
export async function renderVariants(
  service: WorkerService,
  job: Job,
  run: StatelessContext,
): Promise<RenderedVariants> {
  const render = (path: string) => renderFile(service, job, path, run);
  const made = await service.objectFiles.withFile(job.original.key, render, run.signal);
  return made ?? failedFor({ code: "original_missing", message: "The original is no longer stored." });
}

async function renderFile(
  service: WorkerService,
  job: Job,
  source: string,
  { signal, heartbeat }: StatelessContext,
): Promise<RenderedVariants> {
  const { imagePool } = service;
  const terms: Terms = { turn, limitMs, signal };
  const facts = await readFacts(service, source, terms);
  if ("code" in facts) return { ...nothing, failure: facts };
  const limits = limitsFor(facts);
  const renderable: Renderable = { job, source, facts, limits, terms };

  const renditions: RenditionResult[] = [];
  for (const request of job.renditions) {
    signal.throwIfAborted();
    const made = await renderOne(service, renderable, request);
    if ("code" in made) return { ...nothing, renditions, failure: made };
    renditions.push(made);
    await heartbeat();
  }
  if (!job.placeholder) return { ...nothing, renditions, failure: null };
  const look = await imagePool.run({ kind: "look", source, facts, limits }, terms);
  if (look.outcome !== "rendered") return { ...nothing, renditions, failure: failureOf(look, damaged) };
  return { renditions, ...look.result, failure: null };
}

/** Reads the header of an original. */
async function readFacts({ imagePool }: WorkerService, source: string, terms: Terms): Promise<ImageFacts | Failure> {
  const sniffed = sniffImage(await firstBytesOf(source));
  if (sniffed.kind !== "accepted") return { ...unreadable, retryable: false };
  const header = await imagePool.run({ kind: "header", source, format: sniffed.format }, terms);
  return header.outcome === "rendered" ? header.result : failureOf(header, unreadable);
}

type Terms = JobTerms & { readonly signal: AbortSignal };

/** An original with its parsed header, and the job to render it. */
interface Renderable {
  readonly job: Job;
  readonly source: string;
  readonly facts: ImageFacts;
  readonly limits: ImageLimits;
  readonly terms: Terms;
}

/** Renders one rendition of a job, with the file of its overlay where it has one. */
async function renderOne(
  service: WorkerService,
  renderable: Renderable,
  request: RenditionRequest,
): Promise<RenditionResult | Failure> {
  const { job, terms } = renderable;
  const { overlay: above, ...wanted } = request;
  if (!above) return renderOnto(service, renderable, request, { rendition: renditionFrom(wanted, job) });
  const { key, ...placed } = above;
  const render = async (overlay: string) => {
    const facts = await readFacts(service, overlay, terms);
    if ("code" in facts) return facts;
    const rendition = { ...renditionFrom(wanted, job), overlay: { ...placed, facts } };
    const limits = withinBoth(renderable.limits, limitsFor(facts));
    return renderOnto(service, { ...renderable, limits }, request, { rendition, overlay });
  };
  const made = await service.objectFiles.withFile(key, render, terms.signal);
  return made ?? { code: "overlay_missing", message: "The overlay is no longer stored.", retryable: false };
}

/** Builds the key here instead of taking it from the job: it names the encoder that produced the bytes. */
async function renderOnto(
  { objects, objectFiles, imagePool, tracer }: WorkerService,
  { job, terms, ...given }: Renderable,
  request: RenditionRequest,
  wanted: { readonly rendition: Rendition; readonly overlay?: string },
): Promise<RenditionResult | Failure> {
  const { rendition } = wanted;
  const key = renditionKey(nameOf(job.original.key), rendition);
  const { mimeType } = outputTraits[rendition.format];
  // The size of a trimmed one is known to its maker alone.
  const stored = rendition.trim ? null : await objects.get(key, { signal: terms.signal });
  if (stored) {
    const { width, height } = planGeometry(given.facts, rendition).output;
    return resultOf(request, key, { bytes: await buffer(stored.stream), mimeType, width, height });
  }
  const target = objectFiles.newPath();
  try {
    const attributes = {
      "image.format": rendition.format,
      "image.width": rendition.width ?? undefined,
      "image.height": rendition.height ?? undefined,
    };
    const made = await tracer.span("render image", { attributes }, () =>
      renderRendition(imagePool, { kind: "render", target, ...given, ...wanted }, terms),
    );
    if (made.outcome !== "rendered") return failureOf(made, damaged);
    const { width, height, sizeBytes: size } = made.result;
    const result = resultOf(request, key, { bytes: await readFile(target), mimeType, width, height });
    await objectFiles.put(key, target, { size, contentType: mimeType, isExpendable: true, signal: terms.signal });
    return result;
  } finally {
    await rm(target, { force: true });
  }
}

/** Names the folder of an original's renditions: those of `originals/<name>` are under `renditions/<name>/`. */
const nameOf = (originalKey: string): string => originalKey.slice(originalKey.indexOf("/") + 1);

async function firstBytesOf(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { buffer: head, bytesRead } = await file.read(Buffer.alloc(sniffBytes), 0, sniffBytes, 0);
    return head.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function renditionFrom({ name: _name, key: _key, ...wanted }: Omit<RenditionRequest, "overlay">, job: Job): Rendition {
  const { fit, width, height, attention } = wanted;
  const isCropped = fit === "cover" && width !== null && height !== null && !attention;
  return { ...wanted, focalPoint: isCropped ? job.focal_point : null };
}

/** The images service has checked the original against its limits; the decoder is held to the size in the header. */
function limitsFor({ width, height, frames }: ImageFacts): ImageLimits {
  const pixelsMax = width * height;
  return { ...defaultImageLimits, pixelsMax, avifPixelsMax: pixelsMax, framesPixelsMax: pixelsMax * frames };
}

/** The limits within which both an image and its overlay are decoded. */
function withinBoth(one: ImageLimits, other: ImageLimits): ImageLimits {
  return {
    ...one,
    pixelsMax: Math.max(one.pixelsMax, other.pixelsMax),
    avifPixelsMax: Math.max(one.avifPixelsMax, other.avifPixelsMax),
    framesPixelsMax: Math.max(one.framesPixelsMax, other.framesPixelsMax),
  };
}

function resultOf(
  { name }: RenditionRequest,
  key: string,
  made: { bytes: Buffer; mimeType: string; width: number; height: number },
): RenditionResult {
  const sha256 = createHash("sha256").update(made.bytes).digest("hex");
  const { mimeType: mime_type, width, height, bytes } = made;
  return { name, key, mime_type, width, height, size_bytes: bytes.length, sha256 };
}

const nothing = { renditions: [], placeholder: null, dominantColor: null } as const;
const unreadable = { code: "unreadable", message: "The original cannot be read." };
const damaged = { code: "decode_failed", message: "The image is damaged or incomplete." };

/** The reason of a failure, for the images service and the owner. */
interface Reason {
  readonly code: string;
  readonly message: string;
}

/** A permanent failure: the image is the cause. */
function failedFor(reason: Reason): RenderedVariants {
  return failed({ ...reason, retryable: false });
}

/** An image that crashed its process is retried: the machine may have been short of memory or time. */
function failureOf({ outcome }: Exclude<JobOutcome<unknown>, { outcome: "rendered" }>, broken: Reason): Failure {
  if (outcome === "broken") return { ...broken, retryable: false };
  const code = outcome.replaceAll("-", "_");
  return { code, message: fatalMessages[outcome], retryable: true };
}

const fatalMessages: Readonly<Record<FatalOutcome, string>> = {
  crashed: "The image crashed the process that decoded it.",
  "out-of-memory": "Decoding the image takes more memory than allowed.",
  "too-slow": "Decoding the image takes more time than allowed.",
  interrupted: "The machine did not have enough resources to decode the image.",
};

export function failed(failure: Failure): RenderedVariants {
  return { ...nothing, failure };
}

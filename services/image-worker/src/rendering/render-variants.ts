import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { EventData, RenditionRequest, RenditionResult } from "@signalbox/contracts";
import {
  computePlaceholder,
  defaultImageLimits,
  type ImageFacts,
  type ImageLimits,
  outputTraits,
  planGeometry,
  RenderError,
  type Rendition,
  readFacts,
  renderImage,
  renditionKey,
  sniffImage,
} from "@signalbox/imaging";
import type { ObjectStore } from "@signalbox/storage";
import type { Tracer } from "@signalbox/telemetry";

type Job = EventData<"image.render_requested">;
type Failure = NonNullable<EventData<"image.rendered">["failure"]>;

export interface RenderedVariants {
  readonly renditions: readonly RenditionResult[];
  readonly placeholder: string | null;
  readonly failure: Failure | null;
}

interface Dependencies {
  readonly objects: ObjectStore;
  readonly tracer: Tracer;
  readonly signal: AbortSignal;
  /** Called between renditions: the work still moves. */
  readonly beat: () => Promise<void>;
}

/**
 * Makes the renditions of a job in their order and stores each under its content-addressed key, so that doing the job
 * again changes nothing and costs little. What the image itself is to blame for is a failure in the answer; that the store
 * is away is thrown.
 */
export async function renderVariants(
  job: Job,
  { objects, tracer, signal, beat }: Dependencies,
): Promise<RenderedVariants> {
  const original = await objects.get(job.original.key, { signal });
  if (!original) return unrenderable("original_missing", "The original is not stored any more.");
  const source = await buffer(original.stream);
  const sniffed = sniffImage(source);
  const read = () => (sniffed.kind === "accepted" ? readFacts(source, sniffed, defaultImageLimits) : null);
  const facts = await tracer.span("read image", { attributes: { "image.bytes": source.length } }, read);
  if (!facts) return unrenderable("unreadable", "The original cannot be read.");

  const renderable: Renderable = { job, source, facts, limits: limitsFor(facts) };
  const renditions: RenditionResult[] = [];
  try {
    for (const request of job.renditions) {
      signal.throwIfAborted();
      renditions.push(await renderOne(renderable, request, { objects, tracer, signal }));
      await beat();
    }
    const placeholder = job.placeholder ? await computePlaceholder(source, facts, renderable.limits) : null;
    return { renditions, placeholder, failure: null };
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    return { ...unrenderable("decode_failed", error.message), renditions };
  }
}

/** An original whose header was read, and the job that wants it rendered. */
interface Renderable {
  readonly job: Job;
  readonly source: Buffer;
  readonly facts: ImageFacts;
  readonly limits: ImageLimits;
}

/** The key is made here, not taken from the job: it names the encoder that made the bytes. */
async function renderOne(
  { job, source, facts, limits }: Renderable,
  request: RenditionRequest,
  { objects, tracer, signal }: Omit<Dependencies, "beat">,
): Promise<RenditionResult> {
  const rendition = renditionFrom(request, job);
  const key = renditionKey(job.original.sha256, rendition);
  const { mimeType } = outputTraits[rendition.format];
  const stored = await objects.get(key, { signal });
  if (stored) {
    const { width, height } = planGeometry(facts, rendition).output;
    return resultOf(request, key, { bytes: await buffer(stored.stream), mimeType, width, height });
  }
  const { width, height, format } = rendition;
  const attributes = { "image.format": format, "image.width": width ?? undefined, "image.height": height ?? undefined };
  const made = await tracer.span("render image", { attributes }, () => renderImage(source, facts, rendition, limits));
  await objects.put(key, made.bytes, { size: made.bytes.length, contentType: mimeType, ifAbsent: true, signal });
  return resultOf(request, key, made);
}

function renditionFrom({ width, height, fit, format, quality, enlarge }: RenditionRequest, job: Job): Rendition {
  const focalPoint = fit === "cover" && width !== null && height !== null ? job.focal_point : null;
  return { width, height, fit, format, quality, enlarge, focalPoint };
}

/** The images service has judged the original against its limits; here the decoder is held to what the header claims. */
function limitsFor({ width, height, frames }: ImageFacts): ImageLimits {
  const pixelsMax = width * height;
  return { ...defaultImageLimits, pixelsMax, avifPixelsMax: pixelsMax, framesPixelsMax: pixelsMax * frames };
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

/** For good: the image is to blame. */
const unrenderable = (code: string, message: string): RenderedVariants => failed({ code, message, retryable: false });

export function failed(failure: Failure): RenderedVariants {
  return { renditions: [], placeholder: null, failure };
}

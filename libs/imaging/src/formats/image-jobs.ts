import type { InputFormat } from "./image-formats.ts";
import type { ImageFacts, ImageLimits } from "./image-limits.ts";
import type { Rendition } from "./rendition.ts";

/** Reads the claims of a file's header. */
interface HeaderJob {
  readonly kind: "header";
  readonly source: string;
  readonly format: InputFormat;
}

/** Decodes an original once, up to the largest shown size: detects damage and computes the placeholder. */
export interface LookJob {
  readonly kind: "look";
  readonly source: string;
  /** The file's pixels, where the codec reads only its header. */
  readonly decoded?: string;
  readonly facts: ImageFacts;
  readonly limits: ImageLimits;
}

/** Renders the file `source` and writes the result to the file `target`. */
export interface RenderJob {
  readonly kind: "render";
  readonly source: string;
  readonly decoded?: string;
  readonly target: string;
  /** The file of the rendition's overlay: its original, and a PNG of it for the child. */
  readonly overlay?: string;
  readonly facts: ImageFacts;
  readonly rendition: Rendition;
  readonly limits: ImageLimits;
}

/** Work on pixels. It names files instead of carrying bytes: a path is cheap to send. */
export type ImageJob = HeaderJob | LookJob | RenderJob;

export type ColorSpace = "srgb" | "display_p3" | "adobe_rgb" | "rec2020" | "cmyk" | "other";

export interface Look {
  /** ThumbHash in base 64. */
  readonly placeholder: string;
  /** `#rrggbb`. */
  readonly dominantColor: string;
  readonly colorSpace: ColorSpace;
  /** The kind of high dynamic range. */
  readonly hdr: "pq" | "hlg" | "gain_map" | null;
}

export interface RenderedFile {
  readonly width: number;
  readonly height: number;
  readonly sizeBytes: number;
}

/** The results of successful jobs. */
export interface JobResults {
  readonly header: ImageFacts;
  readonly look: Look;
  readonly render: RenderedFile;
}

/**
 * The outcome of a job. A `broken` image fails the same way each time; the last three crashed a process, or would have:
 * the image may be hostile, or the machine too small.
 */
export type JobOutcome<Result> =
  | { readonly outcome: "rendered"; readonly result: Result }
  | { readonly outcome: "broken"; readonly reason: string }
  | { readonly outcome: FatalOutcome; readonly reason: string };

/** `interrupted` is the machine's doing: it was killed from outside, or had too little of a processor in its time. */
export type FatalOutcome = "crashed" | "out-of-memory" | "too-slow" | "interrupted";

/** The outcome reported by a child: also that a file could not be read or written, which is not the fault of the image. */
export type ChildOutcome =
  | JobOutcome<JobResults[ImageJob["kind"]]>
  | { readonly outcome: "machine-fault"; readonly reason: string };

/** The messages of a child: once that it is ready, then for each job its receipt, and one answer. */
export type ChildMessage =
  | {
      readonly kind: "ready";
      readonly release: string;
      /** Bytes of writable memory before the first job; 0 when unknown. */
      readonly dataBytes: number;
    }
  | { readonly kind: "unfit"; readonly reason: string }
  | { readonly kind: "started" }
  | {
      readonly kind: "answer";
      readonly answer: ChildOutcome;
      /** Peak of resident memory during the job, and resident memory after it. */
      readonly peakBytes: number;
      readonly residentBytes: number;
    };

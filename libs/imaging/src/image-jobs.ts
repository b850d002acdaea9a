import type { InputFormat } from "./image-formats.ts";
import type { ImageFacts, ImageLimits } from "./image-limits.ts";
import type { Rendition } from "./rendition.ts";

/** Reads what a file's header claims. */
interface HeaderJob {
  readonly kind: "header";
  readonly source: string;
  readonly format: InputFormat;
}

/** Decodes an original once, as far as it will ever be shown: damage is found now, and the placeholder comes of it. */
export interface LookJob {
  readonly kind: "look";
  readonly source: string;
  readonly facts: ImageFacts;
  readonly limits: ImageLimits;
}

/** Makes a rendition of the file `source` and writes it to the file `target`. */
export interface RenderJob {
  readonly kind: "render";
  readonly source: string;
  readonly target: string;
  readonly facts: ImageFacts;
  readonly rendition: Rendition;
  readonly limits: ImageLimits;
}

/** Work on pixels. It names files, never carries bytes: a path costs nothing to send. */
export type ImageJob = HeaderJob | LookJob | RenderJob;

export interface Look {
  /** ThumbHash in base 64. */
  readonly placeholder: string;
  /** `#rrggbb`. */
  readonly dominantColor: string;
}

export interface RenderedFile {
  readonly width: number;
  readonly height: number;
  readonly sizeBytes: number;
}

/** What a job makes when the image lets it. */
export interface JobResults {
  readonly header: ImageFacts;
  readonly look: Look;
  readonly render: RenderedFile;
}

/**
 * How a job ended. A `broken` image gives the same each time; the last three ended a process, or would have: the image may
 * be hostile, or the machine too small.
 */
export type JobOutcome<Result> =
  | { readonly outcome: "rendered"; readonly result: Result }
  | { readonly outcome: "broken"; readonly reason: string }
  | { readonly outcome: FatalOutcome; readonly reason: string };

export type FatalOutcome = "crashed" | "out-of-memory" | "too-slow";

/** What a child says of a job: also that it could not write what it made, which is about the disk and not about the image. */
export type ChildOutcome =
  | JobOutcome<JobResults[ImageJob["kind"]]>
  | { readonly outcome: "unwritable"; readonly reason: string };

/** What a child sends: once that it is ready, then for each job that it has it, and one answer. */
export type ChildMessage =
  | {
      readonly kind: "ready";
      readonly release: string;
      /** Bytes of memory it may write to before the first job; 0 where the system does not tell. */
      readonly dataBytes: number;
    }
  | { readonly kind: "unfit"; readonly reason: string }
  | { readonly kind: "begun" }
  | {
      readonly kind: "answer";
      readonly answer: ChildOutcome;
      /** Resident memory at its highest during the job, and after it. */
      readonly peakBytes: number;
      readonly residentBytes: number;
    };

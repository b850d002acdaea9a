import type { Principal } from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import { addressBucket } from "@signalbox/http";
import type { ImageLimits, JobTerms } from "@signalbox/imaging";
import type { ImagesService } from "../context/images-service.ts";

/** The caller, and the time until which it waits. */
interface Asking {
  readonly principal: Principal | null;
  readonly clientAddress: string;
  readonly signal: AbortSignal;
}

/** Time reserved for everything around the image. */
const aroundMs = seconds(2);

/** Builds the terms of image work for a caller. Turns rotate by account, and by address for anonymous callers. */
export function jobTerms({ configuration, clock }: ImagesService, asking: Asking): JobTerms {
  const { principal, clientAddress, signal } = asking;
  const turn = principal?.accountId ?? `address ${addressBucket(clientAddress)}`;
  const answerMs = seconds(configuration.get("limits.requestTimeoutSeconds"));
  const limitMs = Math.max(seconds(1), answerMs - aroundMs);
  return { turn, signal, endsByMs: clock.steadyMs() + limitMs, limitMs };
}

/** Reads the limits of the images that are decoded. */
export const imageLimits = ({ configuration }: ImagesService): ImageLimits => ({
  sideMax: configuration.get("limits.maxImageSide"),
  pixelsMax: configuration.get("limits.maxImagePixels"),
  avifPixelsMax: configuration.get("images.limits.avif-pixels"),
  aspectRatioMax: configuration.get("images.limits.aspect-ratio"),
  framesMax: configuration.get("images.limits.frames"),
  framesPixelsMax: configuration.get("images.limits.frame-pixels"),
});

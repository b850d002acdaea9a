import {
  canonicalRendition,
  chooseFormat,
  type OutputFormat,
  outputFormats,
  planGeometry,
  type Rendition,
  renditionKey,
} from "@signalbox/imaging";
import { factsOf, type Image } from "../images/image.ts";
import type { ContentQuery } from "./content-query.ts";
import type { RenditionStore } from "./rendition-store.ts";

export type RenditionChoice =
  /** `later` is a better one that is worth making in the background. */
  | { readonly outcome: "chosen"; readonly rendition: Rendition; readonly later: Rendition | null }
  | { readonly outcome: "only-later"; readonly rendition: Rendition }
  | { readonly outcome: "not-acceptable" };

interface Dependencies {
  readonly renditions: Pick<RenditionStore, "isStored">;
  readonly isAvifOffered: () => boolean;
  /** The largest AVIF, in pixels, that is made while a caller waits. */
  readonly avifPixelsMax: () => number;
}

/** Chooses what to show, from the record and the request alone: no bytes are touched, so a 304 costs next to nothing. */
export function createChooseRendition({ renditions, isAvifOffered, avifPixelsMax }: Dependencies) {
  return async function chooseRendition(
    image: Image,
    query: ContentQuery,
    accept: string | undefined,
  ): Promise<RenditionChoice> {
    const facts = factsOf(image);
    const box = {
      width: query.width ?? null,
      height: query.height ?? null,
      fit: query.fit,
      enlarge: query.enlarge,
      focalPoint: image.focalPoint,
    };
    const renditionIn = (format: OutputFormat) =>
      canonicalRendition({ ...box, format, quality: query.quality ?? null }, facts);
    const { output } = planGeometry(facts, box);
    const question = {
      accept,
      requested: query.format,
      source: facts,
      offered: isAvifOffered() ? outputFormats : outputFormats.filter((format) => format !== "avif"),
      output,
    };

    const first = chooseFormat({ ...question, avifAtHand: output.width * output.height <= avifPixelsMax() });
    const wanted = first.outcome === "only-later" ? first.format : first.outcome === "chosen" ? first.wanted : null;
    const isStored = wanted !== null && (await renditions.isStored(renditionKey(image.sha256, renditionIn(wanted))));
    const choice = isStored ? chooseFormat({ ...question, avifAtHand: true }) : first;
    switch (choice.outcome) {
      case "not-acceptable":
        return choice;
      case "only-later":
        return { outcome: "only-later", rendition: renditionIn(choice.format) };
      case "chosen": {
        const later = choice.wanted === null ? null : renditionIn(choice.wanted);
        return { outcome: "chosen", rendition: renditionIn(choice.format), later };
      }
    }
  };
}

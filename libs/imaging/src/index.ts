export { chooseFormat, keptFormat } from "./choose-format.ts";
export { type FocalPoint, fits, planGeometry, type Size } from "./geometry.ts";
export { autoQualityOf, inputFormatOf, type OutputFormat, outputFormats, outputTraits } from "./image-formats.ts";
export type { FatalOutcome, JobOutcome, RenderedFile } from "./image-jobs.ts";
export { defaultImageLimits, type ImageFacts, type ImageLimits } from "./image-limits.ts";
export { type ImagePool, type JobTerms, openImagePool } from "./pool/image-pool.ts";
export { type Inspection, inspectImage } from "./pool/inspect-image.ts";
export {
  canonicalRendition,
  contentVersion,
  isOfThisEncoder,
  namedBoxes,
  type Rendition,
  renditionKey,
  renditionTag,
  withoutEncoder,
} from "./rendition.ts";
export { sniffBytes, sniffImage } from "./sniff-image.ts";

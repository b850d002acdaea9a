export { keptFormat } from "./formats/choose-format.ts";
export {
  type ContentRequest,
  chooseRendition,
  plainForm,
  type RenditionChoice,
  sideMax,
} from "./formats/choose-rendition.ts";
export { readRectangle, rectanglePattern } from "./formats/crop.ts";
export { editMax } from "./formats/edits.ts";
export { type OnDemandRendition, renditionsToEvict } from "./formats/evict-renditions.ts";
export { fits, planGeometry } from "./formats/geometry.ts";
export { inputFormatOf, type OutputFormat, outputFormats, outputTraits } from "./formats/image-formats.ts";
export type { FatalOutcome, JobOutcome, RenderedFile } from "./formats/image-jobs.ts";
export { defaultImageLimits, type ImageFacts, type ImageLimits } from "./formats/image-limits.ts";
export { overlayPositions } from "./formats/overlay.ts";
export { mayTransform } from "./formats/public-forms.ts";
export {
  canonicalRendition,
  contentVersion,
  namedBoxes,
  type Rendition,
  renditionKey,
  renditionTag,
} from "./formats/rendition.ts";
export type { Rotation } from "./formats/rotate.ts";
export type { FocalPoint } from "./formats/size.ts";
export { sniffBytes, sniffImage } from "./formats/sniff-image.ts";
export {
  isTransformationName,
  strayParameter,
  transformationName,
  transformedParameters,
  transformedVersion,
} from "./formats/transformation.ts";
export { type ImagePool, type JobTerms, openImagePool } from "./pool/image-pool.ts";
export { type Inspection, inspectImage } from "./pool/inspect-image.ts";
export { renderRendition } from "./pool/render-rendition.ts";

export { chooseFormat, type FormatChoice, type FormatQuestion, keptFormat } from "./choose-format.ts";
export { assertUntrustedLoadersBlocked, encoderVersion, type ImageSource } from "./codec.ts";
export { type Box, type Fit, type FocalPoint, fits, type Geometry, planGeometry, type Size } from "./geometry.ts";
export {
  type InputFormat,
  inputFormatOf,
  inputFormats,
  mimeTypeOf,
  type OutputFormat,
  outputFormats,
  outputTraits,
} from "./image-formats.ts";
export {
  defaultImageLimits,
  type ImageFacts,
  type ImageLimits,
  type LimitProblem,
  limitProblem,
} from "./image-limits.ts";
export { type Inspection, inspectImage, readFacts } from "./inspect-image.ts";
export { createJobSlots, type JobSlots } from "./job-slots.ts";
export { computePlaceholder } from "./placeholder.ts";
export { inspectCost, renderCost } from "./render-cost.ts";
export { RenderError, type RenderedImage, renderImage } from "./render-image.ts";
export { canonicalRendition, namedBoxes, type Rendition, renditionKey, renditionTag } from "./rendition.ts";
export { type SniffedFile, sniffBytes, sniffImage } from "./sniff-image.ts";

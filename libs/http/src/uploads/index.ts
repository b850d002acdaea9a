export { createDigestCheck } from "./digest-check.ts";
export { receiveForm } from "./receive-form.ts";
export {
  type Appended,
  beyondAnnounced,
  type Piece,
  pieceType,
  progressHeaders,
  ResumableFiles,
  uploadOffsetIn,
} from "./resumable-upload.ts";
export { type ArrivedFile, openStagingArea, type StagedFile, type StagingArea } from "./staging-area.ts";
export {
  speaksTus,
  tusPieceType,
  uploadChecksumIn,
  uploadLengthIn,
  uploadMetadataIn,
} from "./tus.ts";

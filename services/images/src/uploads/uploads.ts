import type { ArrivedFile } from "@signalbox/http/uploads";
import type { Flow } from "@signalbox/service";
import type { ImagesService } from "../context/images-service.ts";
import { type AccountFull, createImage } from "../images/images.ts";
import { type Image, type Original, originalOf } from "../state/image.ts";
import type { NewImageFields } from "../state/image-fields.ts";
import { fetchFile } from "./fetch-file.ts";
import { type RefusedFile, storeOriginal } from "./originals.ts";

type Imported =
  | { readonly outcome: "created"; readonly image: Image }
  | { readonly outcome: "switched-off" }
  | AccountFull
  | RefusedFile;

/** The image of a source, or why there is none: `missing` when the account has no original with this hash. */
export type Uploaded = Imported | { readonly outcome: "missing" };

/**
 * Creates the image of a file, and leaves the file to its holder. The bytes are stored before the record: a crash
 * between the two leaves only bytes, which the sweep finds.
 */
export async function createImageFromFile(
  service: ImagesService,
  flow: Flow,
  arrived: ArrivedFile,
  fields: NewImageFields,
): Promise<Imported> {
  const stored = await storeOriginal(service, flow, arrived);
  return stored.outcome === "stored" ? recordOriginal(service, flow, stored.original, fields) : stored;
}

/** Imports an image from a URL. */
export async function importImage(
  service: ImagesService,
  flow: Flow,
  sourceUrl: string,
  fields: NewImageFields,
): Promise<Imported> {
  if (!service.configuration.get("capabilities.imageImport")) return { outcome: "switched-off" };
  const fetched = await fetchFile(service, sourceUrl, flow.signal);
  if ("outcome" in fetched) return fetched;
  try {
    return await createImageFromFile(service, flow, fetched, fields);
  } finally {
    await fetched.file.discard();
  }
}

/**
 * Creates another record of an original that the account has: its bytes need not be sent again. The name is that of the
 * record that has the original, when none is given.
 */
export async function createImageFromOriginal(
  service: ImagesService,
  flow: Flow,
  sha256: string,
  filename: string | undefined,
  fields: NewImageFields,
): Promise<Uploaded> {
  const image = await service.imageStore.findOfOriginal({ accountId: flow.caller.accountId, sha256 });
  if (!image) return { outcome: "missing" };
  const original = originalOf(image);
  return recordOriginal(service, flow, { ...original, filename: filename ?? original.filename }, fields);
}

function recordOriginal(service: ImagesService, flow: Flow, original: Original, fields: NewImageFields) {
  return flow.inTransaction((tx) => createImage(service, tx, flow.caller, original, fields));
}

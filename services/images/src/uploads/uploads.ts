import type { Flow } from "@signalbox/service";
import { type Image, type Original, originalOf } from "../images/image.ts";
import type { NewImageFields } from "../images/image-fields.ts";
import type { ImageStore } from "../images/image-store.ts";
import type { AccountFull, Images } from "../images/images.ts";
import type { FetchFile } from "./fetch-file.ts";
import type { Originals, RefusedFile } from "./originals.ts";
import type { ArrivedFile } from "./staging-area.ts";

interface Dependencies {
  readonly fetchFile: FetchFile;
  readonly originals: Originals;
  readonly images: Pick<Images, "create">;
  readonly imageStore: Pick<ImageStore, "findOfOriginal">;
  readonly mayImport: () => boolean;
}

/** The image of a source, or why there is none. */
export type Uploaded =
  | { readonly outcome: "created"; readonly image: Image }
  | { readonly outcome: "switched-off" }
  /** The account has no original with this hash. */
  | { readonly outcome: "missing" }
  | AccountFull
  | RefusedFile;

interface StoredBefore {
  readonly sha256: string;
  /** The name of the new record; that of the record that has the original, when left out. */
  readonly filename?: string | undefined;
}

export type Uploads = ReturnType<typeof createUploads>;

/** Images from a file, from a URL, or from an original that the account has: bytes first, then the record. */
export function createUploads({ fetchFile, originals, images, imageStore, mayImport }: Dependencies) {
  const record = ({ caller, inTransaction }: Flow, original: Original, fields: NewImageFields) =>
    inTransaction((tx) => images.create(tx, caller, original, fields));

  /** Stores the bytes before the record: a crash between the two leaves only bytes, which the sweep finds. */
  async function fromFile(flow: Flow, arrived: ArrivedFile, fields: NewImageFields) {
    const stored = await originals.store(flow, arrived);
    return stored.outcome === "stored" ? record(flow, stored.original, fields) : stored;
  }

  return {
    /** Creates the image of a file, and leaves the file to its holder. */
    fromFile,

    /** Imports an image. @throws AppError `bad_gateway` when the source cannot be reached or sends no file. */
    async fromUrl(flow: Flow, sourceUrl: string, fields: NewImageFields) {
      if (!mayImport()) return { outcome: "switched-off" } as const;
      const fetched = await fetchFile(sourceUrl, flow.signal);
      if ("outcome" in fetched) return fetched;
      try {
        return await fromFile(flow, fetched, fields);
      } finally {
        await fetched.file.discard();
      }
    },

    /** Creates another record of an original that the account has: its bytes need not be sent again. */
    async fromOriginal(flow: Flow, { sha256, filename }: StoredBefore, fields: NewImageFields) {
      const image = await imageStore.findOfOriginal({ accountId: flow.caller.accountId, sha256 });
      if (!image) return { outcome: "missing" } as const;
      const original = originalOf(image);
      return record(flow, { ...original, filename: filename ?? original.filename }, fields);
    },
  };
}

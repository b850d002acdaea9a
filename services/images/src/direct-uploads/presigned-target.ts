import type { ObjectStore } from "@signalbox/storage";
import type { DirectUpload } from "./direct-upload.ts";
import type { UploadTarget } from "./upload-target.ts";

type PresigningStore = ObjectStore & Required<Pick<ObjectStore, "presignPut">>;

/** Builds the key of an upload's bytes, apart from judged originals. */
const keyOf = ({ accountId, id }: DirectUpload): string => `uploads/${accountId}/${id}`;

/** Lets clients put whole files into the object store by URLs that are valid for one file each. */
export function createPresignedTarget(objects: PresigningStore): UploadTarget {
  return {
    termsOf(upload, now) {
      const { sizeBytes: size, mimeType: contentType, sha256, expiresAt } = upload;
      const expiresInSeconds = Math.max(1, Math.floor((expiresAt.getTime() - now.getTime()) / 1000));
      const put = objects.presignPut(keyOf(upload), {
        ...{ size, contentType, now, expiresInSeconds },
        ...(sha256 !== null && { sha256 }),
      });
      return { method: "PUT", ...put };
    },
    receivedOf: async (upload) => (await objects.head(keyOf(upload)))?.size ?? 0,
    read: async (upload) => (await objects.get(keyOf(upload)))?.stream ?? null,
    remove: (upload) => objects.delete(keyOf(upload)),
  };
}

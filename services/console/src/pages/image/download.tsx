import { Action } from "../../parts/dialog.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { api, versioned } from "../../session/api.ts";
import type { Image } from "../image-queries.ts";

/** Downloads the bytes as they were uploaded. */
export function Download({ image: { id, filename } }: { readonly image: Image }) {
  const download = async () => {
    const params = { path: { image_id: id } };
    const { data } = await versioned(api.GET("/images/{image_id}/original", { params, parseAs: "blob" }));
    saveFile(data as unknown as Blob, filename);
  };
  return <Action label="Download the original" what="original" run={download} />;
}

import { ImageResource } from "@signalbox/contracts";
import { exportRoutes } from "@signalbox/http";
import { cursorOfImage, positionFrom } from "../images/image-cursor.ts";
import type { Verbs } from "../service.ts";

/** What the account service asks for when somebody exports their account. */
export function exportedImages({ images, view }: Pick<Verbs, "images" | "view">) {
  return exportRoutes({
    item: ImageResource,
    list: (accountId, { cursor, limit }) => {
      const after = cursor === undefined ? null : positionFrom(cursor);
      return images.list(accountId, { filter: {}, after, limit: limit + 1 });
    },
    view,
    cursorOf: cursorOfImage,
  });
}

import type { Image } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";
import { api, versioned } from "../session/api.ts";

/** Tells of every change of the account's images: made, changed, rendered, given up, deleted. */
export const imageChanges = "subscription { imageChanged { imageId } }";

export const readImage = (id: string) => versioned(api.images.get(id));

/** An image that is being processed is read again every three seconds, also where no subscription tells of it. */
export const imageQuery = (id: string) =>
  queryOptions({
    queryKey: ["image", id],
    queryFn: () => readImage(id),
    refetchInterval: ({ state }) => (state.data?.data.status === "processing" ? 3_000 : false),
  });

/** The visibilities of an image, as options of a form. */
export const audienceChoices = [
  ["private", "only your account, and people with a signed URL"],
  ["public", "everyone who has the URL"],
] as const;

/** The name that people know an image by. */
export const nameOf = ({ title, filename }: Pick<Image, "title" | "filename">): string => title ?? filename;

/** Writes a number of bytes: "482 bytes", "38.2 kB", "1.5 MB". */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Number((bytes / 1000).toFixed(1))} kB`;
  return `${Number((bytes / 1_000_000).toFixed(1))} MB`;
}

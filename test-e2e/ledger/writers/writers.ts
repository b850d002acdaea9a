import type { Writer } from "../scene.ts";
import { flags, properties } from "./configuration.ts";
import { numberedTitles, rivals, settings } from "./edits.ts";
import { deletions, endpoints, keys } from "./endings.ts";
import { signedUrls } from "./signed-urls.ts";
import { directUploads, keyedUploads, uploads } from "./uploads.ts";
import { partners, publications, replays } from "./webhooks.ts";

/** All writers of a round. Each new feature of the product adds its writer here. */
export const writers: readonly Writer[] = [
  uploads,
  keyedUploads,
  directUploads,
  numberedTitles,
  rivals,
  settings,
  partners,
  deletions,
  keys,
  endpoints,
  properties,
  flags,
  publications,
  replays,
  signedUrls,
];

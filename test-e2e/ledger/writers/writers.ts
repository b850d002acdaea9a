import type { Writer } from "../scene.ts";
import { directUploads } from "./direct-uploads.ts";
import { numberedTitles, rivals, settings } from "./edits.ts";
import { deletions, endpoints, keys } from "./endings.ts";
import { flags } from "./flags.ts";
import { partners } from "./partners.ts";
import { properties } from "./properties.ts";
import { publications } from "./publications.ts";
import { replays } from "./replays.ts";
import { signedUrls } from "./signed-urls.ts";
import { keyedUploads, uploads } from "./uploads.ts";

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

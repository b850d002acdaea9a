import { principalProperties } from "@signalbox/auth/properties";
import { defineProperties } from "@signalbox/config";
import { capabilityProperties, limitProperties, supportedProperties } from "@signalbox/contracts/properties";
import { imagingProperties } from "@signalbox/imaging/properties";
import { commonProperties } from "@signalbox/service/common-properties";
import { blobProperties, secretsProperties } from "@signalbox/storage/properties";

const count = (value: number, min: number, max: number, unit: string, effect: string) =>
  ({ type: "integer", default: value, min, max, unit, secrecy: "internal", reload: "live", effect }) as const;

/** Every property of the images service. */
export const properties = defineProperties({
  ...commonProperties,
  ...blobProperties,
  ...imagingProperties,
  ...principalProperties,
  ...secretsProperties,
  "limits.maxUploadBytes": limitProperties["limits.maxUploadBytes"],
  "limits.maxImagePixels": limitProperties["limits.maxImagePixels"],
  "limits.maxImageSide": limitProperties["limits.maxImageSide"],
  "supported.imageTypes": supportedProperties["supported.imageTypes"],
  "capabilities.imageImport": capabilityProperties["capabilities.imageImport"],
  "capabilities.imageDirectUpload": capabilityProperties["capabilities.imageDirectUpload"],
  "capabilities.imageAvif": capabilityProperties["capabilities.imageAvif"],
  "capabilities.signedUrls": capabilityProperties["capabilities.signedUrls"],
  "images.limits.avif-pixels": count(
    40_000_000,
    1,
    1_000_000_000,
    "pixels",
    "Largest pixel count of an AVIF original: its decoder takes 18 bytes of memory for each.",
  ),
  "images.limits.aspect-ratio": count(
    200,
    1,
    65_535,
    "times",
    "Largest ratio between the longer and the shorter side.",
  ),
  "images.limits.frames": count(300, 1, 10_000, "frames", "Largest number of frames of an animation."),
  "images.limits.frame-pixels": count(
    200_000_000,
    1,
    10_000_000_000,
    "pixels",
    "Largest number of pixels in all frames of an animation together.",
  ),
  "images.upload.directory": {
    type: "string",
    default: null,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Folder of incoming files until they are judged. Default: beside the blobs, where a file can become a blob without being copied; with S3, the system's temporary folder.",
  },
  "images.direct-upload.expires-after": count(
    3_600_000,
    60_000,
    86_400_000,
    "ms",
    "Time for which the bytes of a direct upload are accepted and may become an image; then they are removed.",
  ),
  "images.direct-upload.open-max": count(
    100,
    1,
    100_000,
    "uploads",
    "Largest number of open direct uploads of an account.",
  ),
  "images.direct-upload.bytes-max": count(
    1_073_741_824,
    1,
    9_007_199_254_740_991,
    "bytes",
    "Largest sum of the announced bytes of an account's open direct uploads.",
  ),
  "images.direct-upload.store-origin": {
    type: "string",
    default: null,
    pattern: "https?://[^/?#@\\s]+",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Address of the object store for clients of direct uploads, as scheme://host:port; that of blobs.url when not set. Not used by file:.",
  },
  "images.import.allow": {
    type: "list",
    default: [],
    pattern: "(\\[[0-9A-Fa-f:]+\\]|[0-9.]+):(\\*|[0-9]{1,5})",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: "Non-public addresses that images may be imported from, as address:port; 127.0.0.1:* for development.",
  },
  "images.import.deadline": count(20_000, 100, 300_000, "ms", "Time limit of an import, all redirects included."),
  "images.render.wait-max": count(
    10_000,
    10,
    60_000,
    "ms",
    "Longest expected wait of a rendition of less than a quarter of a second for its turn, also behind others of its account; beyond it the answer is 429. A rendition that would not end within limits.requestTimeoutSeconds is 429 as well.",
  ),
  "images.render.avif-pixels": count(
    500_000,
    0,
    100_000_000,
    "pixels",
    "Largest AVIF, in pixels, that is made while a caller waits; a larger one is made in the background.",
  ),
  "images.render.memory": {
    ...count(67_108_864, 0, 17_179_869_184, "bytes", "Memory for renditions that were shown recently; 0 keeps none."),
    reload: "restart",
  },
  "images.render.attempts": count(
    3,
    1,
    20,
    "attempts",
    "Number of attempts of the worker before an image counts as failed.",
  ),
  "images.render.lost-after": count(
    300_000,
    1_000,
    3_600_000,
    "ms",
    "Time after which an unanswered job of the worker is sent again; doubled each time, up to an hour.",
  ),
  "images.public.requests": {
    ...count(
      3_000,
      1,
      1_000_000,
      "requests",
      "Requests for content without credentials from one address in one window.",
    ),
    reload: "restart",
  },
  "images.public.window": {
    ...count(10_000, 1_000, 3_600_000, "ms", "Length of the window for that limit."),
    reload: "restart",
  },
  "images.public.transforms": {
    type: "string",
    default: "any",
    choices: ["any", "named", "signed"],
    secrecy: "internal",
    reload: "live",
    effect:
      "Forms of a public image that are shown without its owner's credentials or a signed URL: any, those of its record and of a ladder of widths (named), or those of its record alone (signed).",
  },
  "images.public.render-budget": count(
    60_000,
    100,
    3_600_000,
    "ms",
    "Processor time per minute and instance for new renditions of one account's public images requested by others; beyond it the answer is 429.",
  ),
  "images.quota.images": count(
    0,
    0,
    1_000_000_000,
    "images",
    "Largest number of images of an account; 0 is unlimited.",
  ),
  "images.quota.bytes": count(
    0,
    0,
    9_007_199_254_740_991,
    "bytes",
    "Largest number of bytes of an account's originals, each counted once; 0 is unlimited.",
  ),
  "images.cors.origins": {
    type: "list",
    default: [],
    pattern: "[a-z][a-z0-9+.-]*://[^/?#@\\s]+",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Origins, besides those of http.cors.origins, whose pages may upload and read images in a browser; public content is readable for every page.",
  },
  "images.cache.public": count(
    3_600,
    0,
    31_536_000,
    "s",
    "Time for which everyone may cache the content of a public image.",
  ),
  "images.cache.private": count(
    300,
    0,
    31_536_000,
    "s",
    "Time for which the owner's client may cache the content of a private image.",
  ),
  "images.sweep.grace": count(
    3_600_000,
    60_000,
    2_592_000_000,
    "ms",
    "Time for which bytes are kept after the last record that needed them is gone.",
  ),
});

export type Properties = typeof properties;

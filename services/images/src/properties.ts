import { principalProperties } from "@signalbox/auth/properties";
import { capabilityProperties, limitProperties, supportedProperties } from "@signalbox/contracts/properties";
import { imagingProperties } from "@signalbox/imaging/properties";
import { defineProperties, property } from "@signalbox/runtime";
import { commonProperties } from "@signalbox/service/common-properties";
import { blobProperties, secretsProperties } from "@signalbox/storage/properties";

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
  "images.limits.avif-pixels": property.integer(
    { default: 40_000_000, min: 1, max: 1_000_000_000, unit: "pixels", reload: "live" },
    "Largest pixel count of an AVIF original: its decoder takes 18 bytes of memory for each.",
  ),
  "images.limits.aspect-ratio": property.integer(
    { default: 200, min: 1, max: 65_535, unit: "times", reload: "live" },
    "Largest ratio between the longer and the shorter side.",
  ),
  "images.limits.frames": property.integer(
    { default: 300, min: 1, max: 10_000, unit: "frames", reload: "live" },
    "Largest number of frames of an animation.",
  ),
  "images.limits.frame-pixels": property.integer(
    { default: 200_000_000, min: 1, max: 10_000_000_000, unit: "pixels", reload: "live" },
    "Largest number of pixels in all frames of an animation together.",
  ),
  "images.upload.directory": property.string(
    { default: null, local: true },
    "Folder for incoming files until they are checked. Default: next to the blobs, so that a file can become a blob without being copied; with S3, the system's temporary folder.",
  ),
  "images.direct-upload.expires-after": property.integer(
    { default: 3_600_000, min: 60_000, max: 86_400_000, unit: "ms", reload: "live" },
    "Time for which the bytes of a direct upload are accepted and may become an image; then they are removed.",
  ),
  "images.direct-upload.open-max": property.integer(
    { default: 100, min: 1, max: 100_000, unit: "uploads", reload: "live" },
    "Largest number of open direct uploads of an account.",
  ),
  "images.direct-upload.bytes-max": property.integer(
    { default: 1_073_741_824, min: 1, max: 9_007_199_254_740_991, unit: "bytes", reload: "live" },
    "Largest sum of the announced bytes of an account's open direct uploads.",
  ),
  "images.direct-upload.store-origin": property.string(
    { default: null, pattern: "https?://[^/?#@\\s]+", format: "url", local: true },
    "Address of the object store for clients of direct uploads, as scheme://host:port; by default that of blobs.url. Not used by file:.",
  ),
  "images.import.allow": property.list(
    { default: [], pattern: "(\\[[0-9A-Fa-f:]+\\]|[0-9.]+):(\\*|[0-9]{1,5})", local: true },
    "Non-public addresses that images may be imported from, as address:port; 127.0.0.1:* for development.",
  ),
  "images.import.deadline": property.integer(
    { default: 20_000, min: 100, max: 300_000, unit: "ms", reload: "live" },
    "Time limit of an import, all redirects included.",
  ),
  "images.render.wait-max": property.integer(
    { default: 10_000, min: 10, max: 60_000, unit: "ms", reload: "live" },
    "Longest expected queueing time of a rendition that takes less than a quarter of a second, also behind others of its account; beyond it the answer is 429. A rendition that would not finish within limits.requestTimeoutSeconds also gets 429.",
  ),
  "images.render.avif-pixels": property.integer(
    { default: 500_000, min: 0, max: 100_000_000, unit: "pixels", reload: "live" },
    "Largest AVIF, in pixels, that is encoded while the caller waits; larger ones are encoded in the background.",
  ),
  "images.render.memory": property.integer(
    { default: 67_108_864, min: 0, max: 17_179_869_184, unit: "bytes", reload: "restart" },
    "Memory for recently served renditions; 0 caches none.",
  ),
  "images.render.attempts": property.integer(
    { default: 3, min: 1, max: 20, unit: "attempts", reload: "live" },
    "Number of attempts of the worker before an image counts as failed.",
  ),
  "images.render.lost-after": property.integer(
    { default: 300_000, min: 1_000, max: 3_600_000, unit: "ms", reload: "live" },
    "Time after which a job that the worker has not answered is sent again; doubled each time, up to an hour.",
  ),
  "images.public.requests": property.integer(
    { default: 3_000, min: 1, max: 1_000_000, unit: "requests", reload: "restart" },
    "Requests for content without credentials from one address in one window.",
  ),
  "images.public.window": property.integer(
    { default: 10_000, min: 1_000, max: 3_600_000, unit: "ms", reload: "restart" },
    "Length of the window for that limit.",
  ),
  "images.public.transforms": property.string(
    { default: "any", choices: ["any", "named", "signed"], reload: "live" },
    "Renditions of a public image that are served without its owner's credentials or a signed URL: all (any), those in its record and a fixed set of widths (named), or only those in its record (signed).",
  ),
  "images.public.render-budget": property.integer(
    { default: 60_000, min: 100, max: 3_600_000, unit: "ms", reload: "live" },
    "Processor time per minute and instance for new renditions of one account's public images requested by others; beyond it the answer is 429.",
  ),
  "images.quota.images": property.integer(
    { default: 0, min: 0, max: 1_000_000_000, unit: "images", reload: "live" },
    "Largest number of images of an account; 0 is unlimited.",
  ),
  "images.quota.bytes": property.integer(
    { default: 0, min: 0, max: 9_007_199_254_740_991, unit: "bytes", reload: "live" },
    "Largest total size of an account's originals, each counted once; 0 is unlimited.",
  ),
  "images.cors.origins": property.list(
    { default: [], pattern: "[a-z][a-z0-9+.-]*://[^/?#@\\s]+", local: true },
    "Origins, besides those of http.cors.origins, whose pages may upload and read images in a browser; public content is readable by every page.",
  ),
  "images.cache.public": property.integer(
    { default: 3_600, min: 0, max: 31_536_000, unit: "s", reload: "live" },
    "Time for which everyone may cache the content of a public image.",
  ),
  "images.cache.private": property.integer(
    { default: 300, min: 0, max: 31_536_000, unit: "s", reload: "live" },
    "Time for which the owner's client may cache the content of a private image.",
  ),
  "images.sweep.grace": property.integer(
    { default: 3_600_000, min: 60_000, max: 2_592_000_000, unit: "ms", reload: "live" },
    "Time for which bytes are kept after the last record that needed them is gone.",
  ),
});

export type Properties = typeof properties;

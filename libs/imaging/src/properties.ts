/** The limits of the processes that decode and encode. */
export const imagingProperties = {
  "images.render.memory-max": {
    type: "integer",
    default: 1_073_741_824,
    unit: "bytes",
    min: 67_108_864,
    max: 274_877_906_944,
    secrecy: "internal",
    reload: "restart",
    effect:
      "Memory limit for all images that a process works on at the same time, and for a single one; an image that takes more ends only its own child process.",
  },
  "images.originals.cache": {
    type: "integer",
    default: 1_073_741_824,
    unit: "bytes",
    min: 0,
    max: 1_099_511_627_776,
    secrecy: "internal",
    reload: "restart",
    effect: "Size of the cache of S3 originals on this machine; the least recently used are removed first.",
  },
} as const;

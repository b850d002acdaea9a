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
      "Memory of all images that a process works on at the same time, and the largest memory of one of them; an image that takes more ends its own child process.",
  },
  "images.originals.cache": {
    type: "integer",
    default: 1_073_741_824,
    unit: "bytes",
    min: 0,
    max: 1_099_511_627_776,
    secrecy: "internal",
    reload: "restart",
    effect:
      "Originals of an S3 store that are cached as files on this machine; the least recently used are removed first.",
  },
} as const;

import { eventsProperties } from "@signalbox/events/properties";
import { imagingProperties } from "@signalbox/imaging/properties";
import { defineProperties, property } from "@signalbox/runtime";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { blobProperties } from "@signalbox/storage/properties";

/** Every property of the image worker. */
export const properties = defineProperties({
  ...runtimeProperties,
  ...blobProperties,
  ...imagingProperties,
  ...eventsProperties,
  "image-worker.jobs": property.integer(
    { default: null, min: 1, max: 256, unit: "jobs" },
    "Largest number of images processed at the same time. Default: one per core; more would not speed up any of them.",
  ),
});

export type Properties = typeof properties;

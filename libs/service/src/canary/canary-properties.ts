import { defineProperties, property } from "@signalbox/runtime";

/** The switch of the canary, for the services on its way. */
export const canaryProperties = defineProperties({
  "canary.enabled": property.boolean(
    { default: true },
    "True makes a change of our own every minute and measures that it arrives everywhere.",
  ),
});

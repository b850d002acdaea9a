import { defineProperties, property } from "@signalbox/runtime";

/** The switch of the canary, for the services on its way. */
export const canaryProperties = defineProperties({
  "canary.enabled": property.boolean(
    { default: true },
    "True writes a canary change every minute and measures its arrival at every stage.",
  ),
});

import { defineProperties } from "@signalbox/runtime";

/** The switch of the canary, for the services on its way. */
export const canaryProperties = defineProperties({
  "canary.enabled": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "restart",
    effect:
      "True makes a change of our own every minute and measures that it arrives everywhere; customers see nothing of it.",
  },
});

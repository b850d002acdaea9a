import { principalProperties } from "@signalbox/auth/properties";
import { defineProperties } from "@signalbox/config";
import { publishedProperties, serverProperties } from "@signalbox/contracts/properties";
import { commonProperties } from "@signalbox/service/common-properties";

/** Every property of the config service. */
export const properties = defineProperties({
  ...commonProperties,
  ...principalProperties,
  ...publishedProperties,
  ...serverProperties,
  "config.approval": {
    type: "string",
    default: "off",
    choices: ["off", "guarded", "all"],
    secrecy: "internal",
    audience: "operator",
    reload: "restart",
    local: true,
    effect: "Which changes of properties need a second operator: none, those of guarded properties, or all.",
  },
});

export type Properties = typeof properties;

import { principalProperties } from "@signalbox/auth/properties";
import { publishedProperties, serverProperties } from "@signalbox/contracts/properties";
import { defineProperties, property } from "@signalbox/runtime";
import { canaryProperties, commonProperties } from "@signalbox/service/common-properties";

export const properties = defineProperties({
  ...commonProperties,
  ...canaryProperties,
  ...principalProperties,
  ...publishedProperties,
  ...serverProperties,
  "config.streams.max": property.integer(
    { default: 20_000, min: 1, max: 1_000_000, unit: "streams" },
    "Maximum number of open change streams per instance; further ones get 503.",
  ),
  "config.streams.max-per-credential": property.integer(
    { default: 10, min: 1, max: 1_000_000, unit: "streams" },
    "Maximum number of open change streams per credential and instance; further ones get 429.",
  ),
  "config.approval": property.string(
    { default: "off", choices: ["off", "guarded", "all"], audience: "operator", local: true },
    "Changes of properties that need a second operator: none, those of guarded properties, or all.",
  ),
});

export type Properties = typeof properties;

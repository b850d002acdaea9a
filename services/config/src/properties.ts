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
});

export type Properties = typeof properties;

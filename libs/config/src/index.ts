export { brokenRules } from "./broken-rules.ts";
export { refusalOfOverride } from "./check-overrides.ts";
export type {
  Configuration,
  OverrideChange,
  OverrideSet,
  PropertyEntry,
  PropertyLookup,
  PropertySource,
} from "./configuration.ts";
export { ConfigurationError } from "./configuration-error.ts";
export { environment, setVariable } from "./environment.ts";
export { loadConfiguration } from "./load-configuration.ts";
export { mask, type ShownClasses } from "./masking.ts";
export { checkValue } from "./parse-value.ts";
export {
  defineProperties,
  type PropertyDeclaration,
  type PropertyDeclarations,
  type PropertyScalar,
} from "./property-declaration.ts";
export { startHelp } from "./start-help.ts";
export { startOptions } from "./start-options.ts";

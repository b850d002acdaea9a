export { refusalOfOverride } from "./check-overrides.ts";
export type { Configuration, Problem, PropertyEntry, PropertyLookup, PropertySource } from "./configuration.ts";
export { ConfigurationError } from "./configuration-error.ts";
export { environment } from "./environment.ts";
export { formatPropertyTable } from "./format-property-table.ts";
export { type LoadConfiguration, loadConfiguration } from "./load-configuration.ts";
export { createSanitizer, mask } from "./mask.ts";
export {
  defineProperties,
  type PropertyDeclaration,
  type PropertyDeclarations,
  type PropertyScalar,
  type PropertyValue,
  type PropertyValues,
  type Secrecy,
} from "./property-declaration.ts";
export { startOptions } from "./start-options.ts";

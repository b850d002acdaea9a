import { serviceNames } from "@signalbox/core";

/** The spellings of one service's properties, and the names of other services. */
export interface Addresses {
  /** Returns the spellings of a property by precedence: `account.http.port`, then `http.port`. */
  of(property: string): readonly string[];
  /** Returns the property of an address. */
  property(address: string): string | undefined;
  /** Returns the address of an environment variable. */
  fromEnvironment(variable: string): string | undefined;
  /** Returns true when the name belongs to another service and is allowed in a shared source. */
  isForeign(address: string): boolean;
  isForeignVariable(variable: string): boolean;
  all(): Iterable<string>;
}

export function createAddresses(service: string, properties: Iterable<string>, foreign: Iterable<string>): Addresses {
  const propertyOf = new Map<string, string>();
  const addressesOf = new Map<string, readonly string[]>();
  const addressOfVariable = new Map<string, string>();
  for (const property of properties) {
    const addresses = property.startsWith(`${service}.`) ? [property] : [`${service}.${property}`, property];
    addressesOf.set(property, addresses);
    for (const address of addresses) {
      const variable = variableName(address);
      const taken = propertyOf.get(address) ?? addressOfVariable.get(variable);
      if (taken !== undefined) throw new Error(`The properties ${property} and ${taken} have the same address`);
      propertyOf.set(address, property);
      addressOfVariable.set(variable, address);
    }
  }
  const prefixes = serviceNames.filter((name) => name !== service).map((name) => `${name}.`);
  const foreignNames = new Set(foreign);
  const foreignVariables = new Set([...foreignNames].map(variableName));
  const variablePrefixes = prefixes.map(variableName);
  return {
    of: (property) => addressesOf.get(property) ?? [],
    property: (address) => propertyOf.get(address),
    fromEnvironment: (variable) => addressOfVariable.get(variable),
    isForeign: (address) => foreignNames.has(address) || prefixes.some((prefix) => address.startsWith(prefix)),
    isForeignVariable: (variable) =>
      foreignVariables.has(variable) || variablePrefixes.some((prefix) => variable.startsWith(prefix)),
    all: () => propertyOf.keys(),
  };
}

/**
 * Returns the environment variable of a name. The prefix keeps out variables that Kubernetes injects for services
 * (`CONFIG_PORT=tcp://…`).
 */
export function variableName(address: string): string {
  return `SIGNALBOX_${address.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

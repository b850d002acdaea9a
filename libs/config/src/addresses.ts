import { serviceNames } from "@signalbox/core";

/** The names under which values of one service can be written, and which names are somebody else's business. */
export interface Addresses {
  /** The ways to write a property, the one that wins first: `account.http.port`, then `http.port`. */
  of(property: string): readonly string[];
  /** The property an address stands for. */
  property(address: string): string | undefined;
  /** The address an environment variable stands for. */
  fromEnvironment(variable: string): string | undefined;
  /** Tells if the name belongs to another service and may stand in a shared place. */
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
      if (taken !== undefined) throw new Error(`The properties ${property} and ${taken} cannot be told apart`);
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

/** The environment variable of a name. The prefix keeps what Kubernetes injects for services (`CONFIG_PORT=tcp://…`) out. */
export function variableName(address: string): string {
  return `SIGNALBOX_${address.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

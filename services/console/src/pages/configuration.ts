import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "../session/api.ts";
import { askGraph } from "../session/graph.ts";

interface Shown {
  readonly value: unknown;
  readonly masked: boolean;
}

export interface Override extends Shown {
  readonly name: string;
  readonly revision: string;
  readonly reason: string | null;
  readonly changedAt: string;
  readonly expiresAt: string | null;
}

interface PropertyInstance extends Shown {
  readonly service: string;
  readonly instance: string;
  readonly source: string;
  readonly pending: (Shown & { readonly revision: string }) | null;
}

/** A property as it runs: its value with its source, in every instance, and the overrides that hold. */
export interface Property extends Shown {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "list";
  readonly unit: string | null;
  readonly effect: string;
  readonly reload: "live" | "restart";
  readonly secrecy: string;
  readonly guarded: boolean;
  readonly overridable: boolean;
  readonly services: readonly string[];
  readonly source: string | null;
  readonly bounds: {
    readonly min: number | null;
    readonly max: number | null;
    readonly choices: readonly string[] | null;
    readonly pattern: string | null;
    readonly nullable: boolean;
    readonly maxItems: number | null;
    readonly maxLength: number | null;
  };
  readonly instances: readonly PropertyInstance[];
  readonly overrides: readonly Override[];
}

const listQuery = `query { properties {
  name type unit effect reload secrecy guarded overridable services source value masked
  bounds { min max choices pattern nullable maxItems maxLength }
  instances { service instance source value masked pending { value masked revision } }
  overrides { name value masked revision reason changedAt expiresAt }
} }`;

/** All properties of every service. One is found in this list, so that both pages show the same. */
export const propertiesQuery = queryOptions({
  queryKey: ["properties"],
  queryFn: async () => (await askGraph<{ properties: readonly Property[] }>(listQuery)).properties,
});

/** Returns true when a change of the property needs a second operator, by the property `config.approval`. */
export function useNeedsApproval({ guarded }: Pick<Property, "guarded">): boolean {
  const approval = useQuery(propertiesQuery).data?.find(({ name }) => name === "config.approval")?.value;
  return approval === "all" || (approval === "guarded" && guarded);
}

/** Reads the address of a link that the deployment names; null without one, and for a person who sees no properties. */
export function useLinkOf(kind: "dashboards" | "trace"): string | null {
  const value = useQuery(propertiesQuery).data?.find(({ name }) => name === `console.links.${kind}`)?.value;
  return typeof value === "string" ? value : null;
}

/** The state of the configuration, with the lag of each running instance. */
export const configStatusQuery = queryOptions({
  queryKey: ["config-status"],
  refetchInterval: 10_000,
  queryFn: () => api.status.configuration(),
});

/** Writes a value as people read it. */
export function valueText({ value, masked }: Shown): string {
  if (masked) return "masked";
  if (value === null || value === undefined) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}

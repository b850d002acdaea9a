import { stringifySearchWith } from "@tanstack/react-router";

/** Keeps the parameters that a page knows, as texts: an address from elsewhere brings nothing else into a query. */
export const knows =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { readonly [Known in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => (typeof search[name] === "string" && search[name] !== "" ? [[name, search[name]]] : [])),
    ) as { readonly [Known in Name]?: string };

/** Addresses are read and written by people: plain texts, without the quotes of JSON. */
export const plainAddresses = {
  parseSearch: (text: string) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: stringifySearchWith((value) => String(value)),
};

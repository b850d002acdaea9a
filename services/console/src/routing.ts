import {
  type AnyRoute,
  createRoute,
  lazyRouteComponent,
  type RouteComponent,
  stringifySearchWith,
} from "@tanstack/react-router";
import type { WordsOf } from "./parts/words.ts";
import { PageFailed, PageLoading } from "./shell/page-states.tsx";

type Known<Filters extends string> = { readonly [Name in WordsOf<Filters>]?: string };

/** Keeps the parameters that a page knows, as texts: an address from elsewhere brings nothing else into a query. */
const knows =
  <Filters extends string>(names: readonly string[]) =>
  (search: Record<string, unknown>): Known<Filters> =>
    Object.fromEntries(
      names.flatMap((name) => (typeof search[name] === "string" && search[name] !== "" ? [[name, search[name]]] : [])),
    ) as Known<Filters>;

/** Makes pages below a frame: the address, the code, which comes when the page is opened, and the filters in the address. */
export const pagesBelow =
  <Root extends AnyRoute>(root: Root) =>
  <Path extends string, Name extends string, Filters extends string = never>(
    path: Path,
    load: () => Promise<Readonly<Record<NoInfer<Name>, RouteComponent>>>,
    name: Name,
    filters?: Filters,
  ) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: lazyRouteComponent(load, name) as RouteComponent,
      // Every list with pages knows the size of its pages.
      validateSearch: knows<Filters>(filters?.replace("cursor", "cursor limit").split(" ") ?? []),
    });

export const routerOptions = {
  // Addresses are read and written by people: plain texts, without the quotes of JSON.
  parseSearch: (text: string) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: stringifySearchWith((value) => String(value)),
  defaultPreload: "intent",
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
} as const;

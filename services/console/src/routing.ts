import {
  type AnyRoute,
  createRoute,
  lazyRouteComponent,
  type RouteComponent,
  stringifySearchWith,
} from "@tanstack/react-router";
import { PageFailed, PageLoading } from "./shell/page-states.tsx";

/** The filters of a page in its address. Each list takes those that it knows. */
type Texts = Readonly<Record<string, string | undefined>>;

/** Takes the parameters of an address that are texts. */
const textsOf = (search: Record<string, unknown>): Texts =>
  Object.fromEntries(Object.entries(search).filter(([, text]) => typeof text === "string" && text !== "")) as Texts;

/** Makes pages below a frame: the address, and the code, which comes when the page is opened. */
export const pagesBelow =
  <Root extends AnyRoute>(root: Root) =>
  <Path extends string, Name extends string>(
    path: Path,
    load: () => Promise<Readonly<Record<NoInfer<Name>, RouteComponent>>>,
    name: Name,
  ) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: lazyRouteComponent(load, name) as RouteComponent,
      validateSearch: textsOf,
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

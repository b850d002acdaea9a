import { createRootRoute, createRoute, type RouteComponent } from "@tanstack/react-router";
import type { Search } from "./parts/lists.tsx";
import { knows } from "./routing.ts";
import { NotFound } from "./shell/page-states.tsx";
import { Shell } from "./shell/shell.tsx";

export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** A page with its address and the filters that the address holds. Its code comes when it is opened. */
export const page = <Path extends string, Known extends Search>(
  path: Path,
  component: RouteComponent,
  validateSearch: (search: Record<string, unknown>) => Known,
) => createRoute({ getParentRoute: () => rootRoute, path, component, validateSearch });

export const none = knows();
/** The filters of a list by time. */
export const time = ["from", "to", "cursor"] as const;

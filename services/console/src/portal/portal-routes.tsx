import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import type { Search } from "../parts/lists.tsx";
import { knows, plainAddresses } from "../routing.ts";
import { consoleUrl } from "../session/place.ts";
import { NotFound, PageFailed, PageLoading } from "../shell/page-states.tsx";
import { PortalShell } from "./portal-shell.tsx";

const rootRoute = createRootRoute({ component: PortalShell, notFoundComponent: NotFound });

const page = <Path extends string, Known extends Search>(
  path: Path,
  component: RouteComponent,
  validateSearch: (search: Record<string, unknown>) => Known,
) => createRoute({ getParentRoute: () => rootRoute, path, component, validateSearch });

const none = knows();

/** The pages of the portal: those of the console about endpoints, deliveries and replays, at the same addresses below its own. */
const routeTree = rootRoute.addChildren([
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/",
    beforeLoad: () => {
      throw redirect({ to: "/webhooks/endpoints" });
    },
  }),
  page(
    "/webhooks/endpoints",
    lazyRouteComponent(() => import("../pages/endpoints/endpoints-page.tsx"), "EndpointsPage"),
    knows("status", "type", "failing", "text", "cursor"),
  ),
  page(
    "/webhooks/endpoints/$id",
    lazyRouteComponent(() => import("../pages/endpoint/endpoint-page.tsx"), "EndpointPage"),
    none,
  ),
  page(
    "/webhooks/deliveries",
    lazyRouteComponent(() => import("../pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
    knows("status", "endpoint_id", "event_id", "type", "from", "to", "cursor"),
  ),
  page(
    "/webhooks/deliveries/$id",
    lazyRouteComponent(() => import("../pages/delivery/delivery-page.tsx"), "DeliveryPage"),
    none,
  ),
  page(
    "/webhooks/replays",
    lazyRouteComponent(() => import("../pages/replays/replays-page.tsx"), "ReplaysPage"),
    knows("endpoint_id", "cursor"),
  ),
]);

export const portalRouter = createRouter({
  routeTree,
  basepath: new URL("portal", consoleUrl).pathname,
  ...plainAddresses,
  defaultPreload: "intent",
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});

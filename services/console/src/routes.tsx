import { createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { accountRoutes } from "./account-routes.tsx";
import { imageRoutes } from "./image-routes.tsx";
import { operatorRoutes } from "./operator-routes.tsx";
import { none, page, rootRoute, time } from "./page-route.tsx";
import { knows, plainAddresses } from "./routing.ts";
import { consoleUrl } from "./session/place.ts";
import { PageFailed, PageLoading } from "./shell/page-states.tsx";
import { sourceRoutes } from "./source-routes.tsx";

/** Every page with its address and the filters that the address holds. The code of a page comes when it is opened. */
const routeTree = rootRoute.addChildren([
  page(
    "/",
    lazyRouteComponent(() => import("./pages/home/home-page.tsx"), "HomePage"),
    none,
  ),
  page(
    "/webhooks/endpoints",
    lazyRouteComponent(() => import("./pages/endpoints/endpoints-page.tsx"), "EndpointsPage"),
    knows("status", "type", "failing", "text", "cursor"),
  ),
  page(
    "/webhooks/endpoints/new",
    lazyRouteComponent(() => import("./pages/endpoint/new-endpoint-page.tsx"), "NewEndpointPage"),
    none,
  ),
  page(
    "/webhooks/endpoints/$id",
    lazyRouteComponent(() => import("./pages/endpoint/endpoint-page.tsx"), "EndpointPage"),
    none,
  ),
  page(
    "/webhooks/deliveries",
    lazyRouteComponent(() => import("./pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
    knows("status", "endpoint_id", "event_id", "type", ...time),
  ),
  page(
    "/webhooks/deliveries/$id",
    lazyRouteComponent(() => import("./pages/delivery/delivery-page.tsx"), "DeliveryPage"),
    none,
  ),
  page(
    "/webhooks/replays",
    lazyRouteComponent(() => import("./pages/replays/replays-page.tsx"), "ReplaysPage"),
    knows("endpoint_id", "cursor"),
  ),
  page(
    "/webhooks/event-types",
    lazyRouteComponent(() => import("./pages/event-types/event-types-page.tsx"), "EventTypesPage"),
    knows("name", "cursor"),
  ),
  page(
    "/webhooks/events",
    lazyRouteComponent(() => import("./pages/events/events-page.tsx"), "EventsPage"),
    knows("type", "publish", ...time),
  ),
  ...sourceRoutes,
  ...imageRoutes,
  ...accountRoutes,
  ...operatorRoutes,
  page(
    "/why",
    lazyRouteComponent(() => import("./pages/why/why-page.tsx"), "WhyPage"),
    none,
  ),
  page(
    "/why/$id",
    lazyRouteComponent(() => import("./pages/why/why-page.tsx"), "WhyPage"),
    none,
  ),
]);

export const router = createRouter({
  routeTree,
  basepath: consoleUrl.pathname,
  ...plainAddresses,
  defaultPreload: "intent",
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from "@tanstack/react-router";
import type { Search } from "./parts/lists.tsx";
import { knows, plainAddresses } from "./routing.ts";
import { consoleUrl } from "./session/place.ts";
import { NotFound, PageFailed, PageLoading } from "./shell/page-states.tsx";
import { Shell } from "./shell/shell.tsx";

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const page = <Path extends string, Known extends Search>(
  path: Path,
  component: RouteComponent,
  validateSearch: (search: Record<string, unknown>) => Known,
) => createRoute({ getParentRoute: () => rootRoute, path, component, validateSearch });

const none = knows();
const time = ["from", "to", "cursor"] as const;

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
  // Webhooks in.
  page(
    "/webhooks/sources",
    lazyRouteComponent(() => import("./pages/sources/sources-page.tsx"), "SourcesPage"),
    knows("text", "status", "cursor"),
  ),
  page(
    "/webhooks/connect",
    lazyRouteComponent(() => import("./pages/connect/connect-page.tsx"), "ConnectPage"),
    knows("text"),
  ),
  page(
    "/webhooks/connect/$preset",
    lazyRouteComponent(() => import("./pages/connect/guide-page.tsx"), "GuidePage"),
    knows("source", "later"),
  ),
  page(
    "/webhooks/sources/$id",
    lazyRouteComponent(() => import("./pages/source/source-page.tsx"), "SourcePage"),
    none,
  ),
  page(
    "/webhooks/sources/$id/replays",
    lazyRouteComponent(() => import("./pages/source-replays/source-replays-page.tsx"), "SourceReplaysPage"),
    knows("cursor"),
  ),
  page(
    "/webhooks/sources/$id/verify",
    lazyRouteComponent(() => import("./pages/rejections/verify-page.tsx"), "VerifyPage"),
    none,
  ),
  page(
    "/webhooks/received",
    lazyRouteComponent(() => import("./pages/received/received-page.tsx"), "ReceivedPage"),
    knows("source_id", "event_type", "delivery_id", "forwarded", ...time),
  ),
  page(
    "/webhooks/sources/$id/received/$ref",
    lazyRouteComponent(() => import("./pages/received/one-received-page.tsx"), "OneReceivedPage"),
    none,
  ),
  page(
    "/webhooks/rejections",
    lazyRouteComponent(() => import("./pages/rejections/rejections-page.tsx"), "RejectionsPage"),
    knows("source_id", "reason", ...time),
  ),
  page(
    "/webhooks/sources/$id/rejections/$ref",
    lazyRouteComponent(() => import("./pages/rejections/one-rejection-page.tsx"), "OneRejectionPage"),
    none,
  ),
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

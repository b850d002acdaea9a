import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { pagesBelow, routerOptions } from "../routing.ts";
import { consoleUrl } from "../session/place.ts";
import { NotFound } from "../shell/page-states.tsx";
import { PortalShell } from "./portal-shell.tsx";

const rootRoute = createRootRoute({ component: PortalShell, notFoundComponent: NotFound });
const page = pagesBelow(rootRoute);

/** The pages of the portal: those of the console about endpoints, deliveries and replays, at the same addresses below its own. */
const routeTree = rootRoute.addChildren([
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/",
    beforeLoad: () => {
      throw redirect({ to: "/webhooks/endpoints" });
    },
  }),
  page("/webhooks/endpoints", () => import("../pages/endpoints/endpoints-page.tsx"), "EndpointsPage"),
  page("/webhooks/endpoints/$id", () => import("../pages/endpoint/endpoint-page.tsx"), "EndpointPage"),
  page("/webhooks/deliveries", () => import("../pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
  page("/webhooks/deliveries/$id", () => import("../pages/delivery/delivery-page.tsx"), "DeliveryPage"),
  page("/webhooks/replays", () => import("../pages/replays/replays-page.tsx"), "ReplaysPage"),
]);

export const portalRouter = createRouter({
  routeTree,
  basepath: new URL("portal", consoleUrl).pathname,
  ...routerOptions,
});

import { lazyRouteComponent } from "@tanstack/react-router";
import { none, page } from "./page-route.tsx";
import { knows } from "./routing.ts";

/** The pages for operators and administrators. */
export const operatorRoutes = [
  page(
    "/operations",
    lazyRouteComponent(() => import("./pages/operations/operations-page.tsx"), "OperationsPage"),
    none,
  ),
  page(
    "/operations/dead-letters",
    lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "DeadLettersPage"),
    knows("service", "cursor"),
  ),
  page(
    "/operations/dead-letters/$id",
    lazyRouteComponent(() => import("./pages/messages/message-page.tsx"), "DeadLetterPage"),
    none,
  ),
  page(
    "/operations/dead-events",
    lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "DeadEventsPage"),
    knows("service", "cursor"),
  ),
  page(
    "/operations/dead-events/$id",
    lazyRouteComponent(() => import("./pages/messages/message-page.tsx"), "DeadEventPage"),
    none,
  ),
  page(
    "/operations/parked",
    lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "ParkedKeysPage"),
    knows("service", "cursor"),
  ),
  page(
    "/operations/parked/$id",
    lazyRouteComponent(() => import("./pages/messages/message-page.tsx"), "ParkedKeyPage"),
    knows("cursor"),
  ),
  page(
    "/accounts",
    lazyRouteComponent(() => import("./pages/accounts/accounts-page.tsx"), "AccountsPage"),
    knows("search", "status", "recovery_requested", "cursor"),
  ),
  page(
    "/accounts/$id",
    lazyRouteComponent(() => import("./pages/accounts/account-page.tsx"), "AdministeredAccountPage"),
    none,
  ),
  page(
    "/properties",
    lazyRouteComponent(() => import("./pages/properties/properties-page.tsx"), "PropertiesPage"),
    knows("text", "service", "overridden"),
  ),
  page(
    "/properties/$name",
    lazyRouteComponent(() => import("./pages/properties/property-page.tsx"), "PropertyPage"),
    none,
  ),
  page(
    "/proposals",
    lazyRouteComponent(() => import("./pages/proposals/proposals-page.tsx"), "ProposalsPage"),
    knows("text", "state"),
  ),
  page(
    "/proposals/$id",
    lazyRouteComponent(() => import("./pages/proposals/proposal-page.tsx"), "ProposalPage"),
    none,
  ),
  page(
    "/flags",
    lazyRouteComponent(() => import("./pages/flags/flags-page.tsx"), "FlagsPage"),
    knows("text", "state"),
  ),
  page(
    "/flags/$key",
    lazyRouteComponent(() => import("./pages/flags/flag-page.tsx"), "FlagPage"),
    none,
  ),
] as const;

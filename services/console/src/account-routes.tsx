import { lazyRouteComponent } from "@tanstack/react-router";
import { none, page } from "./page-route.tsx";
import { knows } from "./routing.ts";

/** The pages about the account of the person, and those of administrators about its deployment's people. */
export const accountRoutes = [
  page(
    "/account",
    lazyRouteComponent(() => import("./pages/account/profile-page.tsx"), "ProfilePage"),
    none,
  ),
  page(
    "/account/sign-in",
    lazyRouteComponent(() => import("./pages/account/sign-in-page.tsx"), "SignInPage"),
    knows("cursor"),
  ),
  page(
    "/account/keys",
    lazyRouteComponent(() => import("./pages/account/credentials-page.tsx"), "KeysPage"),
    knows("new", "cursor"),
  ),
  page(
    "/account/clients",
    lazyRouteComponent(() => import("./pages/account/credentials-page.tsx"), "ClientsPage"),
    knows("new", "cursor"),
  ),
  page(
    "/account/audit",
    lazyRouteComponent(() => import("./pages/account/audit-page.tsx"), "AuditPage"),
    knows("action", "outcome", "subject", "actor", "since", "until", "cursor"),
  ),
  page(
    "/account/data",
    lazyRouteComponent(() => import("./pages/account/data-page.tsx"), "DataPage"),
    none,
  ),
  page(
    "/account/applications",
    lazyRouteComponent(() => import("./pages/account/applications-page.tsx"), "ApplicationsPage"),
    knows("new", "cursor"),
  ),
  page(
    "/account/applications/$id",
    lazyRouteComponent(() => import("./pages/account/application-page.tsx"), "ApplicationPage"),
    none,
  ),
  page(
    "/account/invitations",
    lazyRouteComponent(() => import("./pages/account/invitations-page.tsx"), "InvitationsPage"),
    knows("status", "new", "cursor"),
  ),
];

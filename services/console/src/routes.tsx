import { createRootRoute, createRouter } from "@tanstack/react-router";
import { pagesBelow, routerOptions } from "./routing.ts";
import { consoleUrl } from "./session/place.ts";
import { NotFound } from "./shell/page-states.tsx";
import { Shell } from "./shell/shell.tsx";

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const page = pagesBelow(rootRoute);

/** Every page with its address. The code of a page comes when it is opened. */
const routeTree = rootRoute.addChildren([
  page("/", () => import("./pages/home/home-page.tsx"), "HomePage"),
  page("/webhooks/endpoints", () => import("./pages/endpoints/endpoints-page.tsx"), "EndpointsPage"),
  page("/webhooks/endpoints/new", () => import("./pages/endpoint/new-endpoint-page.tsx"), "NewEndpointPage"),
  page("/webhooks/endpoints/$id", () => import("./pages/endpoint/endpoint-page.tsx"), "EndpointPage"),
  page("/webhooks/deliveries", () => import("./pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
  page("/webhooks/deliveries/$id", () => import("./pages/delivery/delivery-page.tsx"), "DeliveryPage"),
  page("/webhooks/replays", () => import("./pages/replays/replays-page.tsx"), "ReplaysPage"),
  page("/webhooks/event-types", () => import("./pages/event-types/event-types-page.tsx"), "EventTypesPage"),
  page("/webhooks/events", () => import("./pages/events/events-page.tsx"), "EventsPage"),
  page("/webhooks/sources", () => import("./pages/sources/sources-page.tsx"), "SourcesPage"),
  page("/webhooks/connect", () => import("./pages/connect/connect-page.tsx"), "ConnectPage"),
  page("/webhooks/connect/$preset", () => import("./pages/connect/guide-page.tsx"), "GuidePage"),
  page("/webhooks/sources/$id", () => import("./pages/source/source-page.tsx"), "SourcePage"),
  page("/webhooks/sources/$id/replays", () => import("./pages/replays/source-replays-page.tsx"), "SourceReplaysPage"),
  page(
    "/webhooks/sources/$id/rejection-retries",
    () => import("./pages/replays/source-replays-page.tsx"),
    "RejectionRetriesPage",
  ),
  page("/webhooks/sources/$id/verify", () => import("./pages/rejections/verify-page.tsx"), "VerifyPage"),
  page("/webhooks/received", () => import("./pages/received/received-page.tsx"), "ReceivedPage"),
  page(
    "/webhooks/sources/$id/received/$ref",
    () => import("./pages/received/one-received-page.tsx"),
    "OneReceivedPage",
  ),
  page("/webhooks/bookmarks", () => import("./pages/bookmarks/bookmarks-page.tsx"), "BookmarksPage"),
  page("/webhooks/bookmarks/$name", () => import("./pages/bookmarks/bookmark-page.tsx"), "BookmarkPage"),
  page("/webhooks/rejections", () => import("./pages/rejections/rejections-page.tsx"), "RejectionsPage"),
  page(
    "/webhooks/sources/$id/rejections/$ref",
    () => import("./pages/rejections/one-rejection-page.tsx"),
    "OneRejectionPage",
  ),
  page("/images", () => import("./pages/images/images-page.tsx"), "ImagesPage"),
  page("/images/$id", () => import("./pages/image/image-page.tsx"), "ImagePage"),
  page("/images/deletions/$id", () => import("./pages/image/receipt-page.tsx"), "ReceiptPage"),
  page("/account", () => import("./pages/account/profile-page.tsx"), "ProfilePage"),
  page("/account/sign-in", () => import("./pages/account/sign-in-page.tsx"), "SignInPage"),
  page("/account/team", () => import("./pages/account/team-page.tsx"), "TeamPage"),
  page("/account/keys", () => import("./pages/account/credentials-page.tsx"), "KeysPage"),
  page("/account/clients", () => import("./pages/account/credentials-page.tsx"), "ClientsPage"),
  page("/account/audit", () => import("./pages/account/audit-page.tsx"), "AuditPage"),
  page("/account/data", () => import("./pages/account/data-page.tsx"), "DataPage"),
  page("/account/applications", () => import("./pages/account/applications-page.tsx"), "ApplicationsPage"),
  page("/account/applications/$id", () => import("./pages/account/application-page.tsx"), "ApplicationPage"),
  page("/account/invitations", () => import("./pages/account/invitations-page.tsx"), "InvitationsPage"),
  page("/operations", () => import("./pages/operations/operations-page.tsx"), "OperationsPage"),
  page("/operations/dead-letters", () => import("./pages/messages/messages-page.tsx"), "DeadLettersPage"),
  page("/operations/dead-letters/$id", () => import("./pages/messages/message-page.tsx"), "DeadLetterPage"),
  page("/operations/dead-events", () => import("./pages/messages/messages-page.tsx"), "DeadEventsPage"),
  page("/operations/dead-events/$id", () => import("./pages/messages/message-page.tsx"), "DeadEventPage"),
  page("/operations/parked", () => import("./pages/messages/messages-page.tsx"), "ParkedKeysPage"),
  page("/operations/parked/$id", () => import("./pages/messages/message-page.tsx"), "ParkedKeyPage"),
  page("/accounts", () => import("./pages/accounts/accounts-page.tsx"), "AccountsPage"),
  page("/accounts/$id", () => import("./pages/accounts/account-page.tsx"), "AdministeredAccountPage"),
  page("/properties", () => import("./pages/properties/properties-page.tsx"), "PropertiesPage"),
  page("/properties/$name", () => import("./pages/properties/property-page.tsx"), "PropertyPage"),
  page("/proposals", () => import("./pages/proposals/proposals-page.tsx"), "ProposalsPage"),
  page("/proposals/$id", () => import("./pages/proposals/proposal-page.tsx"), "ProposalPage"),
  page("/flags", () => import("./pages/flags/flags-page.tsx"), "FlagsPage"),
  page("/flags/$key", () => import("./pages/flags/flag-page.tsx"), "FlagPage"),
  page("/why", () => import("./pages/why/why-page.tsx"), "WhyPage"),
  page("/why/$id", () => import("./pages/why/why-page.tsx"), "WhyPage"),
]);

export const router = createRouter({ routeTree, basepath: consoleUrl.pathname, ...routerOptions });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

import { createRootRoute, createRouter } from "@tanstack/react-router";
import { formParameters } from "./pages/image/content-address.ts";
import { pagesBelow, routerOptions } from "./routing.ts";
import { consoleUrl } from "./session/place.ts";
import { NotFound } from "./shell/page-states.tsx";
import { Shell } from "./shell/shell.tsx";

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const page = pagesBelow(rootRoute);

/** Every page with its address and the filters that the address holds. The code of a page comes when it is opened. */
const routeTree = rootRoute.addChildren([
  page("/", () => import("./pages/home/home-page.tsx"), "HomePage"),
  page(
    "/webhooks/endpoints",
    () => import("./pages/endpoints/endpoints-page.tsx"),
    "EndpointsPage",
    "status type failing text cursor",
  ),
  page("/webhooks/endpoints/new", () => import("./pages/endpoint/new-endpoint-page.tsx"), "NewEndpointPage"),
  page("/webhooks/endpoints/$id", () => import("./pages/endpoint/endpoint-page.tsx"), "EndpointPage"),
  page(
    "/webhooks/deliveries",
    () => import("./pages/deliveries/deliveries-page.tsx"),
    "DeliveriesPage",
    "status endpoint_id event_id type from to cursor",
  ),
  page("/webhooks/deliveries/$id", () => import("./pages/delivery/delivery-page.tsx"), "DeliveryPage"),
  page("/webhooks/replays", () => import("./pages/replays/replays-page.tsx"), "ReplaysPage", "endpoint_id cursor"),
  page(
    "/webhooks/event-types",
    () => import("./pages/event-types/event-types-page.tsx"),
    "EventTypesPage",
    "name cursor",
  ),
  page("/webhooks/events", () => import("./pages/events/events-page.tsx"), "EventsPage", "type publish from to cursor"),
  page("/webhooks/sources", () => import("./pages/sources/sources-page.tsx"), "SourcesPage", "text status cursor"),
  page("/webhooks/connect", () => import("./pages/connect/connect-page.tsx"), "ConnectPage", "text"),
  page("/webhooks/connect/$preset", () => import("./pages/connect/guide-page.tsx"), "GuidePage", "source later"),
  page("/webhooks/sources/$id", () => import("./pages/source/source-page.tsx"), "SourcePage"),
  page(
    "/webhooks/sources/$id/replays",
    () => import("./pages/source-replays/source-replays-page.tsx"),
    "SourceReplaysPage",
    "cursor",
  ),
  page(
    "/webhooks/sources/$id/rejection-retries",
    () => import("./pages/source-replays/source-replays-page.tsx"),
    "RejectionRetriesPage",
    "cursor",
  ),
  page("/webhooks/sources/$id/verify", () => import("./pages/rejections/verify-page.tsx"), "VerifyPage"),
  page(
    "/webhooks/received",
    () => import("./pages/received/received-page.tsx"),
    "ReceivedPage",
    "source_id event_type delivery_id forwarded from to cursor",
  ),
  page(
    "/webhooks/sources/$id/received/$ref",
    () => import("./pages/received/one-received-page.tsx"),
    "OneReceivedPage",
  ),
  page("/webhooks/bookmarks", () => import("./pages/bookmarks/bookmarks-page.tsx"), "BookmarksPage", "cursor"),
  page("/webhooks/bookmarks/$name", () => import("./pages/bookmarks/bookmark-page.tsx"), "BookmarkPage"),
  page(
    "/webhooks/rejections",
    () => import("./pages/rejections/rejections-page.tsx"),
    "RejectionsPage",
    "source_id reason from to cursor",
  ),
  page(
    "/webhooks/sources/$id/rejections/$ref",
    () => import("./pages/rejections/one-rejection-page.tsx"),
    "OneRejectionPage",
  ),
  page(
    "/images",
    () => import("./pages/images/images-page.tsx"),
    "ImagesPage",
    "text tag status visibility sort new created_after created_before cursor",
  ),
  page("/images/$id", () => import("./pages/image/image-page.tsx"), "ImagePage", formParameters),
  page("/images/deletions/$id", () => import("./pages/image/receipt-page.tsx"), "ReceiptPage"),
  page("/account", () => import("./pages/account/profile-page.tsx"), "ProfilePage"),
  page("/account/sign-in", () => import("./pages/account/sign-in-page.tsx"), "SignInPage", "cursor"),
  page("/account/team", () => import("./pages/account/team-page.tsx"), "TeamPage", "new"),
  page("/account/keys", () => import("./pages/account/credentials-page.tsx"), "KeysPage", "new cursor"),
  page("/account/clients", () => import("./pages/account/credentials-page.tsx"), "ClientsPage", "new cursor"),
  page(
    "/account/audit",
    () => import("./pages/account/audit-page.tsx"),
    "AuditPage",
    "action outcome subject actor since until cursor",
  ),
  page("/account/data", () => import("./pages/account/data-page.tsx"), "DataPage"),
  page(
    "/account/applications",
    () => import("./pages/account/applications-page.tsx"),
    "ApplicationsPage",
    "new cursor",
  ),
  page("/account/applications/$id", () => import("./pages/account/application-page.tsx"), "ApplicationPage"),
  page(
    "/account/invitations",
    () => import("./pages/account/invitations-page.tsx"),
    "InvitationsPage",
    "status new cursor",
  ),
  page("/operations", () => import("./pages/operations/operations-page.tsx"), "OperationsPage"),
  page(
    "/operations/dead-letters",
    () => import("./pages/messages/messages-page.tsx"),
    "DeadLettersPage",
    "service cursor",
  ),
  page("/operations/dead-letters/$id", () => import("./pages/messages/message-page.tsx"), "DeadLetterPage"),
  page(
    "/operations/dead-events",
    () => import("./pages/messages/messages-page.tsx"),
    "DeadEventsPage",
    "service cursor",
  ),
  page("/operations/dead-events/$id", () => import("./pages/messages/message-page.tsx"), "DeadEventPage"),
  page("/operations/parked", () => import("./pages/messages/messages-page.tsx"), "ParkedKeysPage", "service cursor"),
  page("/operations/parked/$id", () => import("./pages/messages/message-page.tsx"), "ParkedKeyPage", "cursor"),
  page(
    "/accounts",
    () => import("./pages/accounts/accounts-page.tsx"),
    "AccountsPage",
    "search status recovery_requested cursor",
  ),
  page("/accounts/$id", () => import("./pages/accounts/account-page.tsx"), "AdministeredAccountPage"),
  page(
    "/properties",
    () => import("./pages/properties/properties-page.tsx"),
    "PropertiesPage",
    "text service overridden",
  ),
  page("/properties/$name", () => import("./pages/properties/property-page.tsx"), "PropertyPage"),
  page("/proposals", () => import("./pages/proposals/proposals-page.tsx"), "ProposalsPage", "text state cursor"),
  page("/proposals/$id", () => import("./pages/proposals/proposal-page.tsx"), "ProposalPage"),
  page("/flags", () => import("./pages/flags/flags-page.tsx"), "FlagsPage", "text state"),
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

import { lazyRouteComponent } from "@tanstack/react-router";
import { none, page, time } from "./page-route.tsx";
import { knows } from "./routing.ts";

/** The pages about webhooks that come in. */
export const sourceRoutes = [
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
    "/webhooks/bookmarks",
    lazyRouteComponent(() => import("./pages/bookmarks/bookmarks-page.tsx"), "BookmarksPage"),
    knows("cursor"),
  ),
  page(
    "/webhooks/bookmarks/$name",
    lazyRouteComponent(() => import("./pages/bookmarks/bookmark-page.tsx"), "BookmarkPage"),
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
] as const;

import { lazyRouteComponent } from "@tanstack/react-router";
import { none, page } from "./page-route.tsx";
import { formNames } from "./pages/image/content-address.ts";
import { knows } from "./routing.ts";

/** The pages about images. */
export const imageRoutes = [
  page(
    "/images",
    lazyRouteComponent(() => import("./pages/images/images-page.tsx"), "ImagesPage"),
    knows("text", "tag", "status", "visibility", "sort", "new", "created_after", "created_before", "cursor"),
  ),
  page(
    "/images/$id",
    lazyRouteComponent(() => import("./pages/image/image-page.tsx"), "ImagePage"),
    knows(...formNames),
  ),
  page(
    "/images/deletions/$id",
    lazyRouteComponent(() => import("./pages/image/receipt-page.tsx"), "ReceiptPage"),
    none,
  ),
];

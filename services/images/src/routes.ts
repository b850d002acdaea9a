import { createRoutes } from "@signalbox/http";
import { imageRoutes } from "./images/image-routes.ts";
import { contentRoutes } from "./renditions/content-routes.ts";
import type { Verbs } from "./service.ts";
import { uploadRoutes } from "./uploads/upload-routes.ts";

/** Every public route of the images service. */
export function publicRoutes(verbs: Verbs) {
  const routes = createRoutes();
  routes.include(uploadRoutes(verbs));
  routes.include(imageRoutes(verbs));
  routes.include(contentRoutes(verbs));
  return routes;
}

import { createRoutes } from "@signalbox/http";
import { deletionRoutes } from "./deletions/deletion-routes.ts";
import { directUploadRoutes } from "./direct-uploads/direct-upload-routes.ts";
import { imageRoutes } from "./images/image-routes.ts";
import { contentRoutes } from "./renditions/content-routes.ts";
import { originalRoutes } from "./renditions/original-route.ts";
import { signingRoutes } from "./signing/signing-routes.ts";
import { uploadRoutes } from "./uploads/upload-routes.ts";

type Dependencies = Parameters<typeof uploadRoutes>[0] &
  Parameters<typeof directUploadRoutes>[0] &
  Parameters<typeof imageRoutes>[0] &
  Parameters<typeof contentRoutes>[0] &
  Parameters<typeof originalRoutes>[0] &
  Parameters<typeof signingRoutes>[0] &
  Parameters<typeof deletionRoutes>[0];

/** Every public route of the images service. */
export function publicRoutes(dependencies: Dependencies) {
  const routes = createRoutes();
  routes.include(uploadRoutes(dependencies));
  routes.include(directUploadRoutes(dependencies));
  routes.include(imageRoutes(dependencies));
  routes.include(contentRoutes(dependencies));
  routes.include(originalRoutes(dependencies));
  routes.include(signingRoutes(dependencies));
  routes.include(deletionRoutes(dependencies));
  return routes;
}

import { type Edges, joinEdges } from "@signalbox/service";
import type { ImagesService } from "./context/images-service.ts";
import { directUploadApi } from "./direct-uploads/direct-upload-api.ts";
import { deletionApi } from "./images/deletions.ts";
import { imageApi } from "./images/image-api.ts";
import { contentRoutes } from "./renditions/content-routes.ts";
import { signingApi } from "./signing/signing-api.ts";
import { signingKeyApi } from "./signing/signing-key-api.ts";
import { statisticsApi } from "./statistics/image-statistics.ts";
import { transformationApi } from "./transformations/transformation-api.ts";
import { uploadApi } from "./uploads/upload-api.ts";

/** The routes of this service, and its fields of the graph. */
export const serviceEdges = (service: ImagesService): Edges =>
  joinEdges([
    uploadApi(service),
    directUploadApi(service),
    // Before the paths of images, which would take `statistics`, `signing-keys` and `transformations` for ids.
    statisticsApi(service.imageStatistics, service.clock),
    signingKeyApi(service),
    transformationApi(service),
    imageApi(service),
    { routes: contentRoutes(service) },
    signingApi(service),
    deletionApi(service),
  ]);

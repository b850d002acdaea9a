import { type Edges, joinEdges } from "@signalbox/service";
import { type DirectUploadApi, directUploadApi } from "./direct-uploads/direct-upload-api.ts";
import { type DeletionApi, deletionApi } from "./images/deletions.ts";
import { type ImageApi, imageApi } from "./images/image-api.ts";
import { type ContentRoutes, contentRoutes } from "./renditions/content-routes.ts";
import { type SigningApi, signingApi } from "./signing/signing-api.ts";
import { type StatisticsApi, statisticsApi } from "./statistics/image-statistics.ts";
import { type UploadApi, uploadApi } from "./uploads/upload-api.ts";

interface Parts {
  readonly upload: UploadApi;
  readonly directUpload: DirectUploadApi;
  readonly image: ImageApi & DeletionApi;
  readonly content: ContentRoutes;
  readonly signing: SigningApi;
  readonly statistics: StatisticsApi;
}

/** The routes of this service, and its fields of the graph. */
export const serviceEdges = ({ upload, directUpload, image, content, signing, statistics }: Parts): Edges =>
  joinEdges([
    uploadApi(upload),
    directUploadApi(directUpload),
    // Before the paths of images, which would take `statistics` for an id.
    statisticsApi(statistics),
    imageApi(image),
    { routes: contentRoutes(content) },
    signingApi(signing),
    deletionApi(image),
  ]);

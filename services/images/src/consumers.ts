import type { ConsumerTable } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { ImagesService } from "./context/images-service.ts";
import { endDirectUploadsOf } from "./direct-uploads/direct-uploads.ts";
import { deleteImagesOf } from "./images/images.ts";
import { settleVariants } from "./renditions/variants.ts";

/** The reactions of this service to the events of others; each is correct when its event comes again. */
export const imageConsumers = (service: ImagesService): ConsumerTable => ({
  "account.deleted": (event, { tx }) => purge(service, tx, event.subject),
  "image.rendered": (event, { tx }) => settleVariants(service, tx, event.data),
});

/** Removes what a purged account had, in one transaction; the bytes and the statistics go after it. */
async function purge(service: ImagesService, tx: Tx, accountId: string): Promise<void> {
  await service.signingKeyStore.removeOf(tx, accountId);
  await service.transformationStore.removeOf(tx, accountId);
  await endDirectUploadsOf(service, tx, accountId);
  await deleteImagesOf(service, tx, accountId);
  await service.imageStatistics.markPurged(tx, accountId);
}

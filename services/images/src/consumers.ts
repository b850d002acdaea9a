import type { ConsumerTable } from "@signalbox/events";
import type { Tx } from "@signalbox/storage";
import type { DirectUploads } from "./direct-uploads/direct-uploads.ts";
import type { Images } from "./images/images.ts";
import type { Variants } from "./renditions/variants.ts";
import type { SigningKeyStore } from "./signing/signing-key-store.ts";
import type { ImageStatistics } from "./statistics/image-statistics.ts";

interface Dependencies {
  readonly images: Pick<Images, "deleteAllOf">;
  readonly directUploads: Pick<DirectUploads, "endAllOf">;
  readonly signingKeyStore: Pick<SigningKeyStore, "removeOf">;
  readonly variants: Pick<Variants, "settle">;
  readonly imageStatistics: Pick<ImageStatistics, "markPurged">;
}

/** The reactions of this service to the events of others; each is correct when its event comes again. */
export const imageConsumers = (dependencies: Dependencies): ConsumerTable => ({
  "account.deleted": (event, { tx }) => purge(dependencies, tx, event.subject),
  "image.rendered": (event, { tx }) => dependencies.variants.settle(tx, event.data),
});

/** Removes what a purged account had, in one transaction; the bytes and the statistics go after it. */
async function purge(dependencies: Dependencies, tx: Tx, accountId: string): Promise<void> {
  const { images, directUploads, signingKeyStore, imageStatistics } = dependencies;
  await signingKeyStore.removeOf(tx, accountId);
  await directUploads.endAllOf(tx, accountId);
  await images.deleteAllOf(tx, accountId);
  await imageStatistics.markPurged(tx, accountId);
}

import type { ConsumerTable } from "@signalbox/events";
import type { DirectUploads } from "./direct-uploads/direct-uploads.ts";
import type { Images } from "./images/images.ts";
import type { Variants } from "./renditions/variants.ts";
import type { SigningKeyStore } from "./signing/signing-key-store.ts";

interface Dependencies {
  readonly images: Pick<Images, "deleteAllOf">;
  readonly directUploads: Pick<DirectUploads, "endAllOf">;
  readonly signingKeyStore: Pick<SigningKeyStore, "removeOf">;
  readonly variants: Pick<Variants, "settle">;
}

/** The reactions of this service to the events of others; both are correct when an event comes again. */
export const imageConsumers = ({ images, directUploads, signingKeyStore, variants }: Dependencies): ConsumerTable => ({
  async "account.deleted"({ subject: accountId }, { tx }) {
    await signingKeyStore.removeOf(tx, accountId);
    await directUploads.endAllOf(tx, accountId);
    await images.deleteAllOf(tx, accountId);
  },
  "image.rendered": (event, { tx }) => variants.settle(tx, event.data),
});

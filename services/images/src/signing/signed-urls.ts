import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited, sendingThrough } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import { versionOf } from "../images/image.ts";
import type { ImageStore } from "../images/image-store.ts";
import { expiryOf, isSignedBy, queryOf, readSignature, sign, signatureParameter } from "./signature.ts";
import type { LiveKey } from "./signing-key-store.ts";
import type { SigningKeys } from "./signing-keys.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly outbox: Pick<Outbox, "append">;
  readonly signingKeys: SigningKeys;
  readonly imageStore: Pick<ImageStore, "findOwn">;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly maySign: () => boolean;
}

type Signed =
  | { readonly outcome: "signed"; readonly url: string; readonly expiresAt: Date }
  | { readonly outcome: "switched-off" }
  | { readonly outcome: "missing" };

/** A signature that is valid for its request, with a key of this account. */
export interface ValidSignature {
  readonly outcome: "valid";
  readonly accountId: string;
  readonly secondsLeft: number;
  readonly key: LiveKey;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/** The verdict on the signature of a request for content. */
export type SignatureVerdict =
  | ValidSignature
  | { readonly outcome: "switched-off" }
  | { readonly outcome: "expired" }
  | { readonly outcome: "invalid" };

export type SignedUrls = ReturnType<typeof createSignedUrls>;

/** URLs that show one form of one image to everyone with the URL, until they expire. */
export function createSignedUrls(dependencies: Dependencies) {
  const { pool, outbox, signingKeys, imageStore, clock, baseUrl, maySign } = dependencies;
  const send = sendingThrough({ pool, outbox });
  const secondsUntil = (expiresAt: number) => Math.floor(expiresAt - clock.nowMs() / 1000);
  return {
    /**
     * Signs the URL of an image with these parameters; one without a value is left out. It grants access, so there is
     * none without an audit entry.
     */
    async create(
      caller: Caller,
      imageId: string,
      parameters: Readonly<Record<string, unknown>>,
      livesSeconds: number,
    ): Promise<Signed> {
      if (!maySign()) return { outcome: "switched-off" };
      const image = await imageStore.findOwn(caller.accountId, imageId);
      if (!image) return { outcome: "missing" };
      const key = await signingKeys.forSigning(image.accountId);
      const given = Object.entries({ ...parameters, v: versionOf(image) }).filter(([, value]) => value !== undefined);
      const grant = {
        imageId,
        parameters: new Map(given.map(([name, value]) => [name, `${value}`])),
        expiresAt: expiryOf(clock.nowMs(), livesSeconds),
      };
      await send(audited(caller, { action: "image.sign_url", subject: imageId }));
      const query = `${queryOf(grant.parameters)}&${signatureParameter}=${sign(key, grant)}`;
      const url = `${baseUrl}/images/${imageId}/content?${query}`;
      return { outcome: "signed", url, expiresAt: new Date(grant.expiresAt * 1000) };
    },

    /** Judges the signature of a request. `query` is its raw query. */
    async judge(imageId: string, text: string, query: string): Promise<SignatureVerdict> {
      if (!maySign()) return { outcome: "switched-off" };
      const read = readSignature(text);
      const key = read && (await signingKeys.find(read.keyId));
      if (!read || !key) return { outcome: "invalid" };
      const parameters = new Map(new URLSearchParams(query));
      parameters.delete(signatureParameter);
      if (!isSignedBy(key, read, { imageId, parameters, expiresAt: read.expiresAt })) return { outcome: "invalid" };
      const { expiresAt } = read;
      const secondsLeft = secondsUntil(expiresAt);
      if (secondsLeft <= 0) return { outcome: "expired" };
      return { outcome: "valid", accountId: key.accountId, secondsLeft, key, expiresAt };
    },

    /** Returns the seconds that a valid signature has left; 0 when it has to be judged again. */
    secondsLeft: ({ key, expiresAt }: ValidSignature): number =>
      maySign() && signingKeys.isCurrent(key) ? Math.max(0, secondsUntil(expiresAt)) : 0,
  };
}

import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited, sendingThrough } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import type { Image } from "../images/image.ts";
import { versionOf } from "../images/image-view.ts";
import { expiryOf, isSignedBy, queryOf, readSignature, sign, signatureParameter } from "./signature.ts";
import type { SigningKeys } from "./signing-keys.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly outbox: Pick<Outbox, "append">;
  readonly signingKeys: SigningKeys;
  readonly clock: Clock;
  readonly baseUrl: string;
}

export interface SignedUrl {
  readonly url: string;
  readonly expiresAt: Date;
}

/** The verdict on the signature of a request for content. */
export type SignatureVerdict =
  /** Valid for this request, with a key of this account. */
  | { readonly outcome: "valid"; readonly accountId: string; readonly secondsLeft: number }
  | { readonly outcome: "expired" }
  | { readonly outcome: "invalid" };

export type SignedUrls = ReturnType<typeof createSignedUrls>;

/** URLs that show one form of one image to everyone with the URL, until they expire. */
export function createSignedUrls({ pool, outbox, signingKeys, clock, baseUrl }: Dependencies) {
  const send = sendingThrough({ pool, outbox });
  return {
    /** Signs the URL of an image with these parameters. It grants access, so there is none without an audit entry. */
    async create(
      caller: Caller,
      image: Image,
      parameters: Readonly<Record<string, unknown>>,
      livesSeconds: number,
    ): Promise<SignedUrl> {
      const key = await signingKeys.forSigning(image.accountId);
      const given = Object.entries({ ...parameters, v: versionOf(image) }).map(
        ([name, value]) => [name, `${value}`] as const,
      );
      const grant = {
        imageId: image.id,
        parameters: new Map(given),
        expiresAt: expiryOf(clock.nowMs(), livesSeconds),
      };
      await send(audited(caller, { action: "image.sign_url", subject: image.id }));
      const query = `${queryOf(grant.parameters)}&${signatureParameter}=${sign(key, grant)}`;
      return { url: `${baseUrl}/images/${image.id}/content?${query}`, expiresAt: new Date(grant.expiresAt * 1000) };
    },

    /** Judges the signature of a request. `query` is its raw query. */
    async judge(imageId: string, text: string, query: string): Promise<SignatureVerdict> {
      const read = readSignature(text);
      const key = read && (await signingKeys.find(read.keyId));
      if (!read || !key) return { outcome: "invalid" };
      const parameters = new Map(new URLSearchParams(query));
      parameters.delete(signatureParameter);
      if (!isSignedBy(key, read, { imageId, parameters, expiresAt: read.expiresAt })) return { outcome: "invalid" };
      const secondsLeft = Math.floor(read.expiresAt - clock.nowMs() / 1000);
      if (secondsLeft <= 0) return { outcome: "expired" };
      return { outcome: "valid", accountId: key.accountId, secondsLeft };
    },
  };
}

import {
  type Caller,
  expiryOf,
  isSignedBy,
  queryOf,
  readSignature,
  signatureParameter,
  signGrant,
} from "@signalbox/auth";
import { seconds } from "@signalbox/core";
import { audited } from "@signalbox/service";
import { inTransaction } from "@signalbox/storage";
import type { ImagesService } from "../context/images-service.ts";
import type { ValidSignature } from "../state/content-cache.ts";
import { trackingParameters } from "../state/content-query.ts";
import { type Image, versionOf } from "../state/image.ts";
import { isOfOwner, longestLifeMs } from "./signing-keys.ts";

/** A requested form, as the parameters of its content. */
type SignedForm = Readonly<Record<string, unknown>> & {
  readonly id?: string | undefined;
  readonly transformation?: string | undefined;
};

/** Signs a URL of content, all but its signature. */
export type SignUrl = (url: string) => string;

/** The verdict on the signature of a request for content. */
export type SignatureVerdict =
  | ValidSignature
  | { readonly outcome: "switched-off" }
  | { readonly outcome: "expired" }
  | { readonly outcome: "too-far-away" }
  | { readonly outcome: "invalid" };

/**
 * Signs a URL for each form of the image, or of another one that it names: it shows that to everyone until it expires. The
 * URL of a missing image or transformation is null. Parameters without a value are left out.
 */
export async function signForms(
  service: ImagesService,
  caller: Caller,
  imageId: string,
  forms: readonly SignedForm[],
  livesSeconds: number,
) {
  const ids = new Set([imageId, ...forms.map(({ id = imageId }) => id)]);
  const own = new Map((await service.imageStore.findOwnMany(caller.accountId, [...ids])).map((one) => [one.id, one]));
  if (!own.has(imageId)) return { outcome: isOffered(service) ? ("missing" as const) : ("switched-off" as const) };
  const { transformations = {} } = own.get(imageId) ?? {};
  const isKnown = ({ transformation: name }: SignedForm) => name === undefined || Object.hasOwn(transformations, name);
  if (!forms.some(isKnown)) return { outcome: "no-transformation" as const };
  const found = [...ids].filter((id) => own.has(id));
  const signer = await openSigner(service, caller, found, livesSeconds);
  if (!signer) return { outcome: "switched-off" as const };
  const contentOf = (image: Image, form: SignedForm) => {
    const v = versionOf(image, transformations[form.transformation ?? ""]);
    const given = Object.entries({ ...form, v }).filter(([, value]) => value !== undefined);
    const query = queryOf(new Map(given.map(([name, value]) => [name, `${value}`])));
    return signer.signUrl(`${service.configuration.get("http.base-url")}/images/${image.id}/content?${query}`);
  };
  const urls = forms.map(({ id = imageId, ...form }) => {
    const image = own.get(id);
    return image && isKnown(form) ? contentOf(image, form) : null;
  });
  return { outcome: "signed" as const, urls, expiresAt: signer.expiresAt };
}

/**
 * Opens what signs URLs of an account's images; null where signed URLs are switched off. They grant access, so there are
 * none without an audit entry, of which one tells of them all.
 */
export async function openSigner(service: ImagesService, caller: Caller, imageIds: string[], livesSeconds: number) {
  const { pool, outbox, signingKeyStore, clock } = service;
  if (!isOffered(service)) return null;
  const key = await signingKeyStore.forSigning(caller.accountId);
  const expiresAt = expiryOf(clock.nowMs(), livesSeconds);
  const [subject, ...others] = imageIds;
  if (subject !== undefined) {
    const reason = others.length > 0 ? others.join(", ") : null;
    const entry = audited(caller, { action: "image.sign_url", subject, reason });
    await inTransaction(pool, (tx) => outbox.append(tx, [entry]));
  }
  const signUrl: SignUrl = (url) => {
    const { pathname, searchParams: parameters } = new URL(url);
    const grant = { path: contentPath(pathname.split("/").at(-2)), parameters: new Map(parameters), expiresAt };
    return `${url}&${signatureParameter}=${signGrant(key, grant)}`;
  };
  return { signUrl, expiresAt: new Date(expiresAt * 1000) };
}

/** Judges the signature of a request. `query` is its raw query. */
export async function judgeSignature(
  service: ImagesService,
  imageId: string,
  text: string,
  query: string,
): Promise<SignatureVerdict> {
  if (!isOffered(service)) return { outcome: "switched-off" };
  const read = readSignature(text);
  const key = read && (await service.signingKeyStore.find(read.keyId));
  if (!read || !key) return { outcome: "invalid" };
  const { expiresAt } = read;
  const isMeant = (name: string) => name !== signatureParameter && !trackingParameters.test(name);
  const parameters = new Map([...new URLSearchParams(query)].filter(([name]) => isMeant(name)));
  if (!isSignedBy(key, read, { path: contentPath(imageId), parameters, expiresAt })) return { outcome: "invalid" };
  const secondsLeft = secondsUntil(service, expiresAt);
  if (secondsLeft <= 0) return { outcome: "expired" };
  if (isOfOwner(key) && seconds(secondsLeft) > longestLifeMs) return { outcome: "too-far-away" };
  return { outcome: "valid", accountId: key.accountId, secondsLeft, key, expiresAt };
}

/** Returns the seconds that a valid signature has left; 0 when it has to be judged again. */
export function signatureSecondsLeft(service: ImagesService, { key, expiresAt }: ValidSignature): number {
  if (!isOffered(service) || !service.signingKeyStore.isCurrent(key)) return 0;
  return Math.max(0, secondsUntil(service, expiresAt));
}

/** The path that a signature is about, wherever the service is mounted. */
const contentPath = (imageId: string | undefined): string => `/images/${imageId}/content`;

const isOffered = ({ configuration }: ImagesService): boolean => configuration.get("capabilities.signedUrls");

const secondsUntil = ({ clock }: ImagesService, expiresAt: number): number =>
  Math.floor(expiresAt - clock.nowMs() / 1000);

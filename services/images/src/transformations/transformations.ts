import { isDeepStrictEqual } from "node:util";
import type { Caller } from "@signalbox/auth";
import { newId } from "@signalbox/core";
import { type ContentRequest, chooseRendition, isTransformationName, transformedParameters } from "@signalbox/imaging";
import { audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { ImagesService } from "../context/images-service.ts";
import { ContentQuery, contentParameters } from "../state/content-query.ts";
import { factsOf, type Image, versionOf } from "../state/image.ts";
import { singleRenderRequested } from "../state/render-job.ts";
import type { Transformation } from "../state/transformation-store.ts";

const transformationsMax = 50;

/** The transformations of an account, locked for a change of one of them. */
interface Locked {
  /** The one with the name of the request. */
  readonly known: Transformation | null;
  readonly count: number;
  /** The number of the account's last change. */
  readonly last: number;
}

/** Locks the transformations of an account for a change of this one. */
export async function lockTransformations(
  { transformationStore }: ImagesService,
  tx: Tx,
  accountId: string,
  name: string,
): Promise<Locked> {
  const last = await transformationStore.lockNumber(tx, accountId);
  const all = await transformationStore.readAll(tx, accountId);
  return { known: all.find((one) => one.name === name) ?? null, count: all.length, last };
}

/** Creates or changes a transformation. An equal one leaves no trace. */
export async function setTransformation(
  { transformationStore, outbox, clock }: ImagesService,
  tx: Tx,
  caller: Caller,
  { known, count, last }: Locked,
  { name, form, eager }: Pick<Transformation, "name" | "form" | "eager">,
) {
  if (!isTransformationName(name)) return { outcome: "invalid-name" as const };
  if (!known && count >= transformationsMax) return { outcome: "limit-reached" as const };
  const isSameForm = known !== null && isDeepStrictEqual(known.form, form);
  if (isSameForm && known.eager === eager) return { outcome: "saved" as const, transformation: known, isNew: false };
  const { accountId } = caller;
  const updatedAt = clock.now();
  const made = known ?? { id: newId("trf", updatedAt.getTime()), accountId, name, createdAt: updatedAt };
  const revision = last + 1;
  const transformation = { ...made, form, eager, version: isSameForm ? known.version : revision, revision, updatedAt };
  await transformationStore.save(tx, transformation, { isNew: !known });
  await outbox.append(tx, [audited(caller, { action: "image_transformation.set", subject: name })]);
  return { outcome: "saved" as const, transformation, isNew: !known };
}

/** Deletes a transformation. Its URLs are refused from then on. */
export async function deleteTransformation(
  { transformationStore, outbox }: ImagesService,
  tx: Tx,
  caller: Caller,
  transformation: Transformation,
): Promise<void> {
  await transformationStore.remove(tx, transformation);
  await outbox.append(tx, [audited(caller, { action: "image_transformation.delete", subject: transformation.name })]);
}

/** The form that a request for content wants, and the version of its URL. */
export interface WantedForm {
  readonly form: ContentQuery;
  readonly version: string;
  /** The owner's transformations among which one was found; null without one. */
  readonly from: readonly Transformation[] | null;
  readonly overlay: ContentRequest["overlay"];
}

/** Applies the transformation that a request names; null when the owner of the image has none of this name. */
export async function wantedForm(
  service: ImagesService,
  image: Image,
  query: ContentQuery,
  queryText: string,
): Promise<WantedForm | null> {
  if (query.transformation === undefined) {
    return { form: query, version: versionOf(image), from: null, overlay: await overlayOf(service, image, query) };
  }
  const from = await service.transformationStore.findAll(image.accountId);
  const found = from.find(({ name }) => name === query.transformation);
  if (!found) return null;
  const given = Object.fromEntries(contentParameters(queryText));
  const form = ContentQuery.parse(transformedParameters(found.form, given));
  return { form, version: versionOf(image, found.version), from, overlay: await overlayOf(service, image, form) };
}

/** Finds the original that a form lays on an image of the same account; a missing and a foreign one look the same. */
async function overlayOf({ imageStore }: ImagesService, image: Image, { overlay }: ContentQuery) {
  return overlay === undefined ? null : laidOn(image, await imageStore.find(overlay));
}

const laidOn = ({ accountId }: Image, found: Image | null): ContentRequest["overlay"] =>
  found?.accountId === accountId ? { sha256: found.sha256, facts: factsOf(found) } : null;

/**
 * Drafts the jobs that render the eager transformations of an image. Each has a job of its own, and none is that of the
 * image: one that fails harms neither the others nor the image.
 */
export async function eagerJobs(service: ImagesService, tx: Tx, image: Image, all: readonly Transformation[]) {
  const { imageStore, configuration } = service;
  const { accountId, focalPoint, colorSpace } = image;
  const recorded = { facts: factsOf(image), focalPoint, colorSpace };
  const terms = { accept: undefined, isAvifOffered: configuration.get("capabilities.imageAvif") };
  const jobs: ReturnType<typeof singleRenderRequested>[] = [];
  for (const { form: own } of all.filter(({ eager }) => eager)) {
    const form = ContentQuery.parse(transformedParameters(own, {}));
    const overlay = form.overlay === undefined ? null : await imageStore.findOwn(accountId, form.overlay, tx);
    const request = { form, overlay: laidOn(image, overlay), ...terms };
    const choice = chooseRendition(recorded, request, Number.POSITIVE_INFINITY);
    if (choice.outcome === "chosen") jobs.push(singleRenderRequested(image, newId("job"), choice.rendition));
  }
  return jobs;
}

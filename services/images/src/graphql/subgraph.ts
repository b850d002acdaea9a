import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { type Principal, requireScopes, requireState } from "@signalbox/auth";
import type { AccessKind, Scope } from "@signalbox/contracts";
import { AppError, systemClock } from "@signalbox/core";
import {
  type ConnectionArguments,
  connection,
  connectionArguments,
  createSubgraph,
  mutationPayload,
  requirePrincipal,
  type SubgraphContext,
} from "@signalbox/graphql";
import type { Logger } from "@signalbox/telemetry";
import type { Image } from "../images/image.ts";
import { cursorOfImage, positionFrom } from "../images/image-cursor.ts";
import { type ImageChanges, ImagePatch } from "../images/image-fields.ts";
import type { Verbs } from "../service.ts";

type Context = SubgraphContext<unknown>;

const schemaFile = new URL("../../schema.graphql", import.meta.url);

/** The images service's part of the graph. */
export async function createImagesSubgraph(verbs: Verbs, log: Logger): Promise<RequestListener> {
  const typeDefs = await readFile(schemaFile, "utf8");
  return createSubgraph({
    typeDefs,
    log,
    clock: systemClock,
    createLoaders: () => ({}),
    resolvers: resolversOf(verbs),
  });
}

/** What every field answers, and to whom. */
export function resolversOf({ images, updateImage, deleteImage, view, pageLimits }: Verbs) {
  return {
    Account: {
      images: async (account: { id: string }, given: ConnectionArguments, context: Context) => {
        const { accountId } = allowed(context, "images:read", "read");
        const bounds = { maxPageSize: pageLimits.maxPageSize(), defaultPageSize: pageLimits.pageSize() };
        const { limit, cursor } = connectionArguments(given, bounds);
        if (account.id !== accountId) return connection<Image>({ items: [], hasMore: false }, cursorOfImage);
        const after = cursor === null ? null : positionFrom(cursor);
        const rows = await images.list(accountId, { filter: {}, after, limit: limit + 1 });
        return connection({ items: rows.slice(0, limit), hasMore: rows.length > limit }, cursorOfImage);
      },
    },
    Image: {
      __resolveReference: ({ id }: { id: string }, _given: unknown, context: Context) =>
        images.findOwn(allowed(context, "images:read", "read").accountId, id),
      url: (image: Image) => view(image).url,
      animated: (image: Image) => image.frames > 1,
      variants: (image: Image) => Object.entries(view(image).variants).map(([name, url]) => ({ name, url })),
    },
    Mutation: {
      updateImage: (_parent: unknown, { id, input }: { id: string; input: UpdateImageInput }, context: Context) => {
        const { accountId } = allowed(context, "images:write", "write");
        return mutationPayload("image", async () => {
          const image = await updateImage({ accountId, imageId: id, changes: changesFrom(input) });
          return image ?? missing();
        });
      },
      deleteImage: (_parent: unknown, { id }: { id: string }, context: Context) => {
        const principal = allowed(context, "images:write", "write");
        return mutationPayload("deletedImageId", async () => {
          const deletedBy = `${principal.accountId} ${principal.credential.id}`;
          return (await deleteImage({ accountId: principal.accountId, imageId: id, deletedBy })) ? id : missing();
        });
      },
    },
  };
}

/** Names of the input, and of the REST body whose rules hold here too. */
const inputNames = {
  title: "title",
  caption: "caption",
  altText: "alt_text",
  filename: "filename",
  tags: "tags",
  visibility: "visibility",
  focalPoint: "focal_point",
} as const;

type UpdateImageInput = { readonly [Name in keyof typeof inputNames]?: unknown };

/** Absent and null are two things here as in PATCH. */
function changesFrom(input: UpdateImageInput): ImageChanges {
  const names = Object.keys(input) as (keyof UpdateImageInput)[];
  const parsed = ImagePatch.safeParse(Object.fromEntries(names.map((name) => [inputNames[name], plain(input[name])])));
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map(({ path, message }) => {
    const field = names.find((name) => inputNames[name] === path[0]) ?? "input";
    return { field, code: "invalid", message };
  });
  throw new AppError("validation_error", "A member of the input is not valid.", { details });
}

/** GraphQL's own objects have no prototype, which a strict schema does not take for objects. */
const plain = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : value;

function allowed(context: Context, scope: Scope, access: AccessKind): Principal {
  const principal = requirePrincipal(context);
  requireState(principal, access);
  requireScopes(principal, [scope]);
  return principal;
}

function missing(): never {
  throw new AppError("not_found", "There is no such image.");
}

import type { Principal } from "@signalbox/auth";
import type { Resolvers } from "@signalbox/graphql";
import { type ReceivedFields, receivedLoaders, receivedResolvers } from "./receiving/received-resolvers.ts";
import type { ReceivedStore } from "./receiving/received-store.ts";
import { type RejectionFields, rejectionResolvers } from "./rejections/rejection-resolvers.ts";
import { type ReplayFields, replayResolvers } from "./replays/replay-resolvers.ts";
import { type SourceFields, sourceLoaders, sourceResolvers } from "./sources/source-resolvers.ts";
import type { SourceStore } from "./sources/source-store.ts";

type Fields = SourceFields & ReceivedFields & RejectionFields & ReplayFields;
type Loaders = ReturnType<ReturnType<typeof loadersOf>>;

/** GraphQL fields of this service, merged by type from all its capabilities. */
export function resolversOf(fields: Fields): Resolvers<Loaders> {
  const parts: readonly Resolvers<Loaders>[] = [
    sourceResolvers(fields),
    receivedResolvers(fields),
    rejectionResolvers(fields),
    replayResolvers(fields),
  ];
  const types = [...new Set(parts.flatMap((part) => Object.keys(part)))];
  return Object.fromEntries(types.map((type) => [type, Object.assign({}, ...parts.map((part) => part[type]))]));
}

/** Creates the loaders of one request. They find only rows of the caller's account. */
export const loadersOf =
  (stores: { readonly sourceStore: SourceStore; readonly receivedStore: ReceivedStore }) =>
  (principal: Principal | null) => ({
    ...sourceLoaders(stores.sourceStore)(principal),
    ...receivedLoaders(stores.receivedStore, principal),
  });

import { field, type Resolvers } from "@signalbox/graphql";
import { type FlagResolverDependencies, flagResolvers } from "./flags/flag-resolvers.ts";
import { type ChangeResolverDependencies, changeResolvers } from "./overrides/change-resolvers.ts";
import type { OverrideStore } from "./overrides/override-store.ts";
import { type PropertyHistoryDependencies, propertyHistory } from "./overrides/property-history.ts";
import { listProperties, type PropertyListDependencies } from "./overrides/property-list.ts";
import { type ProposalResolverDependencies, proposalResolvers } from "./overrides/proposal-resolvers.ts";
import { audienceOf, type SettingsDependencies, viewSettings } from "./settings.ts";

interface Dependencies
  extends SettingsDependencies,
    PropertyListDependencies,
    ChangeResolverDependencies,
    ProposalResolverDependencies,
    PropertyHistoryDependencies,
    FlagResolverDependencies {
  readonly overrideStore: OverrideStore;
}

/** The GraphQL fields of configuration, with their scopes. */
export function resolversOf(dependencies: Dependencies): Resolvers<unknown> {
  const ofProposals = proposalResolvers(dependencies);
  const ofFlags = flagResolvers(dependencies);
  return {
    Query: {
      serverSettings: field(
        { scopes: [], optional: true },
        (_parent, _args, { principal }) => viewSettings(dependencies, principal).resource,
      ),
      properties: field({ scopes: ["config:read"] }, async (_parent, _args, { caller }) =>
        listProperties(dependencies, await dependencies.overrideStore.list(), audienceOf(caller)),
      ),
      propertyHistory: propertyHistory(dependencies),
      ...ofProposals.Query,
      ...ofFlags.Query,
    },
    Mutation: { ...changeResolvers(dependencies), ...ofProposals.Mutation, ...ofFlags.Mutation },
  };
}

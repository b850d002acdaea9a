import { connectionField, type PageLimits } from "@signalbox/graphql";
import type { OverrideStore, PastChange } from "./override-store.ts";
import type { PropertyCatalogue } from "./property-catalogue.ts";

export interface PropertyHistoryDependencies {
  readonly overrideStore: Pick<OverrideStore, "history">;
  readonly catalogue: PropertyCatalogue;
  readonly pageLimits: PageLimits;
}

/** Lists the changes of a property, newest first: old and new value, actor, credential and reason. */
export function propertyHistory({ overrideStore, catalogue, pageLimits }: PropertyHistoryDependencies) {
  return connectionField(
    { scopes: ["config:admin"] },
    {
      limits: pageLimits,
      read: (range, _parent, _context, { name }: { readonly name: string }) => {
        catalogue.target(name);
        return overrideStore.history(name, range);
      },
      position: ({ changedAt: at, revision }) => ({ at, id: String(revision) }),
      node: (change: PastChange) => viewPastChange(change, catalogue),
    },
  );
}

function viewPastChange(change: PastChange, catalogue: PropertyCatalogue) {
  const { name, set, value, wasSet, before, revision } = change;
  const { actor, credential, reason, requestId, changedAt, expiresAt } = change;
  const shown = (isSet: boolean, given: unknown) => {
    const masked = isSet && catalogue.isMasked(name, given);
    return { set: isSet, masked, value: masked || !isSet ? null : given };
  };
  return {
    ...{ revision: String(revision), actor, credential, reason, requestId, changedAt, expiresAt },
    ...{ before: shown(wasSet, before), after: shown(set, value) },
  };
}

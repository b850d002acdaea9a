import { type AuditAction, type Audited, actionsOf } from "@signalbox/contracts";
import type { ServiceDoors } from "./service-doors.ts";

/** A route or mutation that changes something, or that has an audit entry for another reason. */
export interface Write {
  /** `PATCH /images/{image_id}`, `Mutation.updateImage` */
  readonly operation: string;
  /** Its audit actions; null where the declaration has none. */
  readonly actions: readonly AuditAction[] | null;
}

/** Lists the writes of a service by their declarations. */
export async function writesOf({ routes, resolvers }: ServiceDoors): Promise<Write[]> {
  const { isDeclared } = await import("@signalbox/graphql");
  const byRoute = routes
    .filter(({ method, spec }) => method !== "get" || spec.audit)
    .map(({ method, path, spec: { audit } }) => ({
      operation: `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
      actions: declaredActions(audit),
    }));
  const byMutation = Object.entries(resolvers.Mutation ?? {}).map(([name, resolve]) => ({
    operation: `Mutation.${name}`,
    actions: isDeclared(resolve) ? declaredActions(resolve.declared.audit) : null,
  }));
  return [...byRoute, ...byMutation];
}

const declaredActions = (audit: Audited | undefined) => (audit === undefined ? null : actionsOf(audit));

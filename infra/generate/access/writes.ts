import { type AuditAction, type Audited, actionsOf } from "@signalbox/contracts";
import type { ServiceDoors } from "./service-doors.ts";

/** An operation that changes something, or a read with an audit entry. */
export interface Write {
  /** `PATCH /images/{image_id}`, `Mutation.updateImage` */
  readonly operation: string;
  readonly actions: readonly AuditAction[];
  /** Why it leaves no entry; null where the declaration gives no reason. */
  readonly unaudited: string | null;
}

/** Lists the writes of a service by their declarations. */
export async function writesOf({ routes, resolvers }: ServiceDoors): Promise<Write[]> {
  const { isDeclared } = await import("@signalbox/http");
  const byRoute = routes
    .filter(({ method, spec }) => method !== "get" || spec.audit)
    .map(({ method, path, spec: { audit } }) =>
      writeOf(`${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`, audit),
    );
  const byField = Object.entries(resolvers).flatMap(([type, fields]) =>
    Object.entries(fields).flatMap(([name, resolve]) => {
      const audit = isDeclared(resolve) ? resolve.declared.audit : undefined;
      return type === "Mutation" || audit ? [writeOf(`${type}.${name}`, audit)] : [];
    }),
  );
  return [...byRoute, ...byField];
}

function writeOf(operation: string, audit: Audited | undefined): Write {
  const unaudited = typeof audit === "object" && "unaudited" in audit ? audit.unaudited : null;
  return { operation, actions: actionsOf(audit), unaudited };
}

import { type AuditAction, type Audited, actionsOf } from "@signalbox/contracts";
import { isDeclared, type Resolvers, type Routes } from "@signalbox/http";
import type { Edges } from "@signalbox/service";
import { importDoors } from "../repository.ts";

/** The public declarations of a service: its routes, and the fields of its part of the graph. */
export interface ServiceDoors {
  readonly service: string;
  readonly routes: Routes["list"];
  readonly resolvers: Resolvers;
}

/** Reads the declarations of every service that exports `./edges`, by its name. */
export async function serviceDoors(): Promise<ServiceDoors[]> {
  return (await importDoors("./edges")).map(({ name, module }) => {
    const { serviceEdges } = module as { readonly serviceEdges: (parts: never) => Edges };
    const { routes, resolvers } = serviceEdges(standIn);
    return { service: name, routes: routes.list, resolvers };
  });
}

/**
 * Replaces the dependencies of routes and resolvers: every member is a function that returns it again. Only
 * declarations are made with it; their work is never run.
 */
const standIn: never = new Proxy(() => {}, {
  // Neither a promise nor iterable: code that awaits or iterates it continues or fails, instead of hanging.
  get: (_target, name) => {
    if (name === Symbol.toPrimitive) return () => 1;
    return name === "then" || typeof name === "symbol" ? undefined : standIn;
  },
  apply: () => standIn,
}) as never;

/** The name of a route's operation: `PATCH /images/{image_id}` */
export const routeName = ({ method, path }: Routes["list"][number]): string =>
  `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;

/** An operation that changes something, or a read with an audit entry. */
export interface Write {
  /** `PATCH /images/{image_id}`, `Mutation.updateImage` */
  readonly operation: string;
  readonly actions: readonly AuditAction[];
  /** Why it leaves no entry; null where the declaration gives no reason. */
  readonly unaudited: string | null;
}

export function writesOf({ routes, resolvers }: ServiceDoors): Write[] {
  const byRoute = routes
    .filter(({ method, spec }) => method !== "get" || spec.audit)
    .map((route) => writeOf(routeName(route), route.spec.audit));
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

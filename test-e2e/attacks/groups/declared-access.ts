import type { Scope } from "@signalbox/contracts";
import { isDeclared } from "@signalbox/graphql";
import { routeAccess } from "@signalbox/http";
import { serviceDoors } from "@signalbox/infra/generate/access/service-doors.ts";

/** The declared access of a route or a field. */
export interface DeclaredAccess {
  readonly scopes: readonly Scope[];
  /** True when it always needs a recent sign-in; a text names the changes that do. */
  readonly stepUp: boolean | string;
  /** True when callers without credentials are admitted. */
  readonly isOpen: boolean;
}

/** Reads the declarations of all services: `PATCH /images/{image_id}`, `Mutation.updateImage`. */
export async function declaredAccess(): Promise<ReadonlyMap<string, DeclaredAccess>> {
  const doors = await serviceDoors();
  const routes = doors.flatMap((door) =>
    door.routes.map(({ method, path, spec }) => {
      const { scopes, stepUp, stepUpFor, optional } = routeAccess(spec.auth, method);
      const operation = `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;
      return [operation, { scopes, stepUp: stepUp || (stepUpFor ?? false), isOpen: optional }] as const;
    }),
  );
  const fields = doors.flatMap(({ resolvers }) =>
    Object.entries(resolvers).flatMap(([type, resolveAll]) =>
      Object.entries(resolveAll).flatMap(([name, resolve]) => {
        if (!isDeclared(resolve)) return [];
        const { scopes, stepUp = false, stepUpFor, optional = false } = resolve.declared;
        return [[`${type}.${name}`, { scopes, stepUp: stepUp || (stepUpFor ?? false), isOpen: optional }] as const];
      }),
    ),
  );
  return new Map<string, DeclaredAccess>([...routes, ...fields]);
}

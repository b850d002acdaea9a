import { AppError } from "@signalbox/core";
import { refused } from "../responses/http-response.ts";
import type { ErrorStyle, Method, Route } from "../routes/route-spec.ts";

interface Known {
  readonly method: Method;
  readonly path: string;
  readonly errors: ErrorStyle;
}

/** What answers when nothing here has the path: 404, or 400 where the path cannot even be read. */
export function notFoundRoute(): Route {
  return ownRoute("(unmatched)", "plain", ({ request }) => {
    if (isDecodable(request.url ?? "")) throw new AppError("not_found", "There is nothing here.");
    throw new AppError("invalid_request", "The path is not well-formed percent-encoding.");
  });
}

/** One route per path, to stand behind all others: 405 naming what the path can do (RFC 9110 §15.5.6). */
export function wrongMethodRoutes(routes: readonly Known[]): Route[] {
  const paths = new Map(routes.map(({ path, errors }) => [withoutSlash(path), errors]));
  return [...paths].map(([path, errors]) => {
    const Allow = allowed(routes.filter((route) => patternOf(route.path).test(path)));
    return ownRoute(path || "/", errors, () => refused(405, "method_not_allowed", { headers: { Allow } }));
  });
}

function ownRoute(path: string, errors: ErrorStyle, handle: NonNullable<Route["spec"]["handle"]>): Route {
  return {
    method: "get",
    path,
    spec: { summary: "", auth: "anonymous", responses: {}, unmatched: true, errors, handle },
  };
}

/** Everything Express answers on these routes, HEAD with GET included. */
function allowed(routes: readonly Known[]): string {
  const methods = routes.flatMap(({ method }) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]));
  return [...new Set(methods)].join(", ");
}

/** Which declared paths a path falls under; a parameter takes any one segment, another parameter included. */
function patternOf(path: string): RegExp {
  const segments = withoutSlash(path).split("/");
  const parts = segments.map((segment) =>
    segment.startsWith(":") ? "[^/]+" : segment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
  );
  return new RegExp(`^${parts.join("/")}$`);
}

const withoutSlash = (path: string): string => path.replace(/\/+$/, "");

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url.replace(/\?.*$/s, ""));
    return true;
  } catch {
    return false;
  }
}

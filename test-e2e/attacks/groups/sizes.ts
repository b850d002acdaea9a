import { publishedRoutes } from "../../outside/published-routes.ts";
import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, refusedAs, succeeds } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import { anyPath } from "./foreign-origins.ts";

const sizes = ["101", "1000000", "-1", "0", "1.5", "1e2", "0x10", "ten", "", "NaN", "99999999999999999999"];

/** Pages and bodies that exceed the published limits. */
export async function sizeRows({ system, send, administrator }: TrustingScene): Promise<Attack[]> {
  const routes = await publishedRoutes(system);
  const headers = { ...administrator };
  const lists = routes.filter(({ listParameters, path }) => listParameters !== null && !path.includes("{"));
  const pages = lists.flatMap(({ path }) => {
    const control = httpControl({
      send,
      path: `${path}?limit=10`,
      request: { headers },
      what: `a page of ten of ${path}`,
      judge: succeeds,
    });
    return sizes.map((size) =>
      httpAttack({
        send,
        path: `${path}?limit=${size}`,
        request: { headers },
        what: `a page of "${size}" of ${path}`,
        must: "be refused",
        judge: refusedAs("invalid_request"),
        control,
      }),
    );
  });
  const small = httpControl({
    send,
    path: "/api/account/",
    request: { method: "PATCH", headers, body: {} },
    what: "a small body",
    judge: succeeds,
  });
  const large = Buffer.from(`{"name":"${"x".repeat(1024 * 1024)}"}`);
  const bodies = routes.flatMap(({ path, methods }) =>
    methods
      .filter(
        (method) =>
          ["post", "put", "patch"].includes(method) &&
          !path.startsWith("/ingest") &&
          path !== "/images" &&
          !path.includes("contact-links"),
      )
      .map((method) =>
        httpAttack({
          send,
          path: anyPath(path),
          control: small,
          must: "be refused",
          request: {
            method: method.toUpperCase(),
            headers: { ...headers, "content-type": "application/json" },
            body: large,
          },
          what: `a body of a megabyte to ${method.toUpperCase()} ${path}`,
          judge: refusedAs(
            "validation_failed",
            "payload_too_large",
            "image_too_large",
            "not_found",
            "forbidden",
            "unsupported_media_type",
            "invalid_request",
          ),
        }),
      ),
  );
  return [...pages, ...bodies];
}

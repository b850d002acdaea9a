import { documentedServices, publishedRoutes } from "../../outside/published-routes.ts";
import type { Attack } from "../runner/attack.ts";
import {
  httpAttack,
  httpControl,
  type Judge,
  plantedAnswer,
  shown,
  succeeds,
  weakAnswers,
} from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import { anyPath, foreignOriginRows, type Route } from "./foreign-origins.ts";
import type { Group } from "./group.ts";
import { hiddenPathRows } from "./hidden-paths.ts";
import { hostRows } from "./named-hosts.ts";
import { isRead, operationsOf } from "./operations.ts";
import { malformedHeadRows, smugglingRows } from "./smuggling.ts";

/** Attacks by the protocol itself. */
export const http: Group = {
  name: "http",
  atOnce: 16,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const routes = await publishedRoutes(scene.system);
    const documents = documentedServices.map((service) => ({ path: `/openapi/${service}.json`, methods: ["get"] }));
    return [
      ...smugglingRows(scene.system.baseUrl),
      ...malformedHeadRows(scene.system.baseUrl),
      ...hiddenPathRows(scene),
      ...(await hostRows(scene)),
      ...foreignOriginRows(scene, routes),
      ...headerRows(scene, [...routes, ...documents]),
      ...methodRows(scene, routes),
      ...(await cachingRows(scene)),
    ];
  },
};

const guarding: Judge = ({ status, headers, bytes }) => {
  const wrong = [
    ...(headers.get("x-content-type-options") === "nosniff" ? [] : ["no nosniff"]),
    ...(headers.get("content-security-policy")?.includes("default-src 'none'") ? [] : ["no policy for content"]),
    ...(headers.get("referrer-policy") === "no-referrer" ? [] : ["no policy for referrers"]),
    ...(headers.has("cross-origin-opener-policy") ? [] : ["no policy for openers"]),
    ...(headers.has("permissions-policy") ? [] : ["no policy for permissions"]),
    ...(headers.has("x-powered-by") || /\d/.test(headers.get("server") ?? "") ? ["a banner"] : []),
    ...(headers.has("set-cookie") ? ["a cookie"] : []),
    ...(status >= 500 ? [`${status}`] : []),
    ...(/node_modules|\.[jt]s:\d+/.test(bytes.toString()) ? ["a stack"] : []),
  ];
  return wrong.length === 0 ? null : `${status} with ${wrong.join(", ")}`;
};

/** Requests that end early at different stages; each answer must carry the same security headers. */
const endings: Readonly<Record<string, { method?: string; headers?: Record<string, string> }>> = {
  "nobody's": {},
  "a bad credential's": { headers: { authorization: "Bearer x" } },
  "an unreadable credential's": { headers: { authorization: "x" } },
  "an unknown method's": { method: "PROPFIND" },
  "an unacceptable type's": { headers: { accept: "application/x-nothing" } },
  "a page's": { headers: { accept: "text/html" } },
  "a range's": { headers: { range: "bytes=0-1,2-3,-5" } },
  "a preflight's": {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", "access-control-request-method": "PUT" },
  },
};

function headerRows({ send }: TrustingScene, routes: readonly Route[]): Attack[] {
  const whole = httpControl({ send, path: "/docs/errors", what: "an answer that is seen", judge: succeeds });
  const guards = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=()",
  };
  const planted = [
    ...weakAnswers,
    plantedAnswer(200, {}, { ...guards, server: "nginx/1.2" }),
    plantedAnswer(401, {}, { ...guards, "set-cookie": "a=b" }),
  ];
  return routes.flatMap(({ path }) =>
    Object.entries(endings).map(([what, request]) =>
      httpAttack({
        send,
        path: anyPath(path),
        request,
        planted,
        judge: guarding,
        control: whole,
        what: `${what} answer at ${path}`,
        must: "carry the security headers, and reveal nothing about the server",
      }),
    ),
  );
}

const overrides = ["x-http-method-override", "x-http-method", "x-method-override", "x-original-method"];
const isNoOverride: Judge = (answer) => ([400, 401, 404, 405].includes(answer.status) ? null : shown(answer));

/** A GET or POST that claims to be another method. */
function methodRows({ send, administrator }: TrustingScene, routes: readonly Route[]): Attack[] {
  const paths = routes.filter(({ methods }) => methods.includes("delete") && !methods.includes("post"));
  const seen = httpControl({
    send,
    path: "/api/account/",
    request: { headers: administrator },
    what: "a method that there is",
    judge: succeeds,
  });
  const rows = paths.flatMap(({ path }) => [
    ...overrides.map((name) => ({
      what: `POST ${path} with ${name}: DELETE`,
      path,
      request: { method: "POST", headers: { ...administrator, [name]: "DELETE" } },
    })),
    {
      what: `POST ${path} with _method=DELETE in its query`,
      path: `${path}?_method=DELETE`,
      request: { method: "POST", headers: administrator },
    },
  ]);
  const others = routes.flatMap(({ path }) =>
    ["PROPFIND", "SEARCH", "PURGE", "LINK", "DEBUG"].map((method) => ({
      what: `${method} ${path}`,
      path,
      request: { method, headers: administrator },
    })),
  );
  return [...rows, ...others].map(({ what, path, request }) =>
    httpAttack({ send, what, path: anyPath(path), request, must: "be refused", judge: isNoOverride, control: seen }),
  );
}

/** Personal answers must not be cached for others. */
const isPrivate: Judge = ({ status, headers }) => {
  const [kept, varies] = [headers.get("cache-control") ?? "", (headers.get("vary") ?? "").toLowerCase()];
  const isKept = !/\b(private|no-store)\b/.test(kept) || /\b(public|s-maxage)\b/.test(kept);
  const isShared = !kept.includes("no-store") && !(varies.includes("authorization") && varies.includes("x-api-key"));
  return isKept || isShared || status >= 500 ? `${status} with Cache-Control: ${kept}; Vary: ${varies}` : null;
};

async function cachingRows(scene: TrustingScene): Promise<Attack[]> {
  const { send } = scene;
  const { operations } = await operationsOf(scene, () => false);
  const planted = [
    ...weakAnswers,
    plantedAnswer(200, {}, { "cache-control": "public, max-age=60", vary: "authorization, x-api-key" }),
    plantedAnswer(200, {}, { "cache-control": "private" }),
  ];
  return operations
    .filter(isRead)
    .filter(({ name }) => name.startsWith("GET "))
    .map(({ name, attempt: { by, path } }) => {
      const row = { send, path, request: { headers: { ...by } } };
      const control = httpControl({ ...row, what: `${name} by its owner`, judge: succeeds });
      return httpAttack({
        ...row,
        what: `${name} from a shared cache`,
        must: "not be kept for others",
        judge: isPrivate,
        planted,
        control,
      });
    });
}

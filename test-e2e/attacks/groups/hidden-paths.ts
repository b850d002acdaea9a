import { type Attack, attack, type Control, control } from "../runner/attack.ts";
import { type RawAnswer, rawExchange, rawRequest } from "../runner/raw-exchange.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";

/** Paths of the management address, which the public one must not serve. */
const managed = [
  "/management/health/live",
  "/management/health/ready",
  "/management/metrics",
  "/management/info",
  "/management/env",
];

/** Disguises of a path against a list of published ones. */
const detours: Readonly<Record<string, (path: string) => string>> = {
  "as it is": (path) => path,
  "with two slashes": (path) => `/${path}`,
  "with a dot": (path) => `/.${path}`,
  "below a published path": (path) => `/images/..${path}`,
  "below a published path, twice": (path) => `/api/account/../..${path}`,
  "below the schemas": (path) => `/schemas/image.created/../..${path}`,
  "below the schemas with a coded slash": (path) => `/schemas/image.created/..%2f..%2f${path.slice(1)}`,
  "below a subject": (path) => `/subjects/..%2f${path.slice(1)}`,
  "with a coded slash": (path) => `/images/..%2f${path.slice(1)}`,
  "with coded dots": (path) => `/images/%2e%2e${path}`,
  "with dots coded twice": (path) => `/images/%252e%252e${path}`,
  "with an overlong slash": (path) => `/images/..%c0%af${path.slice(1)}`,
  "with a backslash": (path) => `/images/..\\${path.slice(1)}`,
  "with a coded backslash": (path) => `/images/..%5c${path.slice(1)}`,
  "with a semicolon": (path) => `/images/..;${path}`,
  "with a coded letter": (path) => path.replace("m", "%6d"),
  "in capitals": (path) => path.toUpperCase(),
  "with U+0000": (path) => `${path}%00`,
  "with an extension": (path) => `${path};.json`,
  "as a whole URL": (path) => `http://127.0.0.1${path}`,
  "as a whole URL of another host": (path) => `http://management.internal${path}`,
};

/** Headers by which some proxies let a client choose another path. */
const pathHeaders = ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Path", "X-Forwarded-Prefix", "X-Original-URI"];

const found = (...statuses: number[]): RawAnswer => ({
  statuses,
  text: statuses.map((status) => `HTTP/1.1 ${status}`).join(""),
});
const isHidden = ({ statuses, text }: RawAnswer) =>
  statuses.length === 1 && (statuses[0] ?? 0) >= 400 ? null : text.slice(0, 300);

/** Requests for private paths at the public address, with the key of an administrator. */
export function hiddenPathRows({ system }: TrustingScene): Attack[] {
  const headers = ["Host: x", `X-API-Key: ${system.apiKey}`, "Connection: close"];
  const managementUrl = system.managementUrls.get("account") ?? system.managementUrl;
  return managed.flatMap((path) => {
    const answered = control<RawAnswer>({
      what: `${path} at the address for it`,
      attempt: () => rawExchange(managementUrl, rawRequest(`GET ${path}`, headers)),
      judge: ({ statuses, text }) => (statuses[0] === 200 ? null : text.slice(0, 300)),
      planted: [found(404), found(401)],
    });
    const row = (what: string, bytes: string) => rowOf(system.baseUrl, `${path} ${what}`, bytes, answered);
    return [
      ...Object.entries(detours).map(([what, detour]) => row(what, rawRequest(`GET ${detour(path)}`, headers))),
      ...pathHeaders.map((name) => row(`by ${name}`, rawRequest("GET /nothing", [...headers, `${name}: ${path}`]))),
    ];
  });
}

const rowOf = (baseUrl: string, what: string, bytes: string, control: Control): Attack =>
  attack<RawAnswer>({
    what: `the hidden path ${what}`,
    must: "not be there",
    repeat: `printf '%b' ${JSON.stringify(bytes)} | nc HOST PORT`,
    control,
    attempt: () => rawExchange(baseUrl, bytes),
    judge: isHidden,
    planted: [found(200), found(302), found()],
  });

import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, type Judge, plantedAnswer, shown } from "../runner/http-attack.ts";
import { friendlyOrigin, type TrustingScene } from "../scene/trusting-scene.ts";

/** Origins of pages that may not read answers, some of them named almost like the allowed one. */
const origins = [
  "https://evil.example",
  "null",
  "http://console.example",
  "https://console.example.evil.example",
  "https://evilconsole.example",
  "https://console.example:8443",
  "https://CONSOLE.EXAMPLE.",
  "https://console.example, https://evil.example",
  "http://localhost",
];

const allowed = (origin: string, headers: Record<string, string> = {}) =>
  [200, 204, 401].map((status) => plantedAnswer(status, {}, { "access-control-allow-origin": origin, ...headers }));

const isLetIn: Judge = (answer) => {
  const { headers } = answer;
  const said = headers.get("access-control-allow-origin") ?? headers.get("access-control-allow-credentials");
  return said === null && answer.status < 500 ? null : `allows ${said}: ${shown(answer)}`;
};

/** Fills the parameters of a path with arbitrary values: the origin is judged earlier. */
export const anyPath = (template: string): string => template.replace(/\{[^}]+\}/g, "rubbish");

/** Rows for every route called by a foreign page: as a preflight and as the call itself. */
export function foreignOriginRows({ send }: TrustingScene, routes: readonly Route[]): Attack[] {
  return routes.flatMap(({ path, methods }) => {
    const at = anyPath(path);
    const method = methods[0]?.toUpperCase() ?? "GET";
    const asking = (origin: string) => ({
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": method,
        "access-control-request-headers": "authorization,x-api-key",
      },
    });
    const friendly = httpControl({
      send,
      path: at,
      request: asking(friendlyOrigin),
      what: `${path} from the page that may`,
      judge: (answer) => (answer.headers.get("access-control-allow-origin") === friendlyOrigin ? null : shown(answer)),
    });
    return origins.flatMap((origin) => {
      const row = { send, path: at, judge: isLetIn, control: friendly, must: "not be allowed" };
      const planted = {
        planted: [
          ...allowed(origin),
          ...allowed("*"),
          plantedAnswer(204, {}, { "access-control-allow-credentials": "true" }),
        ],
      };
      return [
        httpAttack({ ...row, ...planted, what: `a preflight for ${path} from ${origin}`, request: asking(origin) }),
        httpAttack({
          ...row,
          ...planted,
          what: `${method} ${path} from ${origin}`,
          request: { method, headers: { origin } },
        }),
      ];
    });
  });
}

export interface Route {
  readonly path: string;
  readonly methods: readonly string[];
}

import { type Attack, attack, type Control, control } from "../runner/attack.ts";
import { type RawAnswer, rawExchange, rawRequest } from "../runner/raw-exchange.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import { ownerOfEverything } from "./owned-things.ts";

const evil = "evil.example";

/** Headers that name another host. */
const claims: Readonly<Record<string, readonly string[]>> = {
  Host: [`Host: ${evil}`],
  "Host with a port": [`Host: ${evil}:443`],
  "Host with a user": [`Host: x@${evil}`],
  "X-Forwarded-Host": ["Host: x", `X-Forwarded-Host: ${evil}`],
  "X-Forwarded-Server": ["Host: x", `X-Forwarded-Server: ${evil}`],
  "X-Host": ["Host: x", `X-Host: ${evil}`, `X-HTTP-Host-Override: ${evil}`],
  Forwarded: ["Host: x", `Forwarded: for=1.2.3.4;host=${evil};proto=https`],
  "X-Forwarded-Proto": ["Host: x", `X-Forwarded-Proto: javascript://${evil}`],
  "X-Forwarded-Prefix": ["Host: x", `X-Forwarded-Prefix: //${evil}`],
  Referer: ["Host: x", `Referer: https://${evil}/`, `Origin: https://${evil}`],
};

const isClean = ({ text }: RawAnswer) =>
  text.toLowerCase().includes(evil) || /^HTTP\/1\.1 5/.test(text) ? text.slice(0, 500) : null;
const planted = [
  `HTTP/1.1 200 OK\r\nlocation: http://${evil}/`,
  `HTTP/1.1 200 OK\r\n\r\n{"self":"https://EVIL.example/x"}`,
].map((text): RawAnswer => ({ text, statuses: [200] }));

/** Requests for answers with links, in the name of another host. */
export async function hostRows(scene: TrustingScene): Promise<Attack[]> {
  const { system } = scene;
  const { headers, things } = await ownerOfEverything(scene);
  const credential = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const paths = [
    "/",
    "/openapi.json",
    "/docs/errors",
    "/api/account",
    "/api/account/settings",
    "/api/account/api-keys",
    `/images/${things.image}`,
  ]
    .concat([
      "/images",
      "/images?limit=1",
      "/api/v1/config",
      "/api/v2/settings",
      `/api/v1/webhooks/sources/${things.source}`,
      "/nothing",
      "/oauth/authorize",
    ])
    .concat([`//${evil}/..`, `/\\${evil}`, `/images//${evil}/%2f..`, `/api/account//${evil}`, `/%2f%2f${evil}`]);
  return paths.flatMap((path) => {
    const named = (own: readonly string[]) =>
      rawRequest(`GET ${path}`, [...own, ...credential, "Accept: */*", "Connection: close"]);
    const isOfOurs = !path.includes(evil);
    const asked = answers(
      system.baseUrl,
      isOfOurs ? named(["Host: x"]) : rawRequest("GET /openapi.json", ["Host: x", "Connection: close"]),
      path,
    );
    return Object.entries(claims).map(([what, own]) =>
      attack<RawAnswer>({
        what: `${path} in the name of another host by ${what}`,
        must: "not name it",
        repeat: `printf '%b' ${JSON.stringify(named(own))} | nc HOST PORT`,
        control: asked,
        attempt: () => rawExchange(system.baseUrl, named(own)),
        // An error may quote the requested name; it must not lead a client there.
        judge: isOfOurs ? isClean : leadsNowhere,
        planted: isOfOurs ? planted : planted.slice(0, 1),
      }),
    );
  });
}

const leadsNowhere = ({ text }: RawAnswer) =>
  /^(location|refresh|link):.*evil/im.test(text) ? text.slice(0, 500) : null;

const answers = (baseUrl: string, bytes: string, path: string): Control =>
  control<RawAnswer>({
    what: `${path} in nobody's name`,
    attempt: () => rawExchange(baseUrl, bytes),
    judge: ({ statuses, text }) => (statuses.length === 1 && (statuses[0] ?? 500) < 500 ? null : text.slice(0, 300)),
    planted: [
      { text: "", statuses: [] },
      { text: "", statuses: [502] },
    ],
  });

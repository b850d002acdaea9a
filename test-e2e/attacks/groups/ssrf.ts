import { hostname } from "node:os";
import { eventually } from "@signalbox/testing";
import type { Headers } from "../../audit/world.ts";
import type { Answer } from "../../journey/client.ts";
import { type Attack, attack, type Control, control, type Finding } from "../runner/attack.ts";
import { plantedAnswer, shown } from "../runner/http-attack.ts";
import { inLanes } from "../runner/run-attacks.ts";
import { leadingTo, type TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";

/** Private addresses, in every form, by every way to make the system connect. */
export const ssrf: Group = {
  name: "ssrf",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const { headers } = await scene.person();
    const ways = await waysOf(scene, headers);
    const direct = ways.flatMap((way) => {
      const reaches = controlOf(scene, way);
      return targets.map((target) => rowOf(scene, way, target, reaches));
    });
    return [...direct, ...(await rowsOfDeliveries(scene))];
  },
};

/** Targets of which one is of each kind: `target-policy.test.ts` knows all spellings and ranges. */
const targets = [
  ...["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "0.0.0.0", "127.000.000.001"].map(atHost),
  ...["[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "localhost", "a.localhost"].map(atHost),
  ...["①②⑦.⓪.⓪.①", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "127%2e0%2e0%2e1", "local\thost"].map(atHost),
  ...["169.254.169.254", "10.0.0.1", "192.168.0.1", "[fd00:ec2::254]", "[fe80::1]"].map(atHost),
  // URLs in which two parsers see two different hosts.
  ...["http://public.example@127.0.0.1:PORT/PATH", "http://127.0.0.1:PORT/PATH#@public.example/"],
  ...["http://127.0.0.1:PORT\\@public.example/PATH", "http:\\\\127.0.0.1:PORT/PATH", "http:127.0.0.1:PORT/PATH"],
  ...["//127.0.0.1:PORT/PATH", " http://127.0.0.1:PORT/PATH", "ht\ntp://127.0.0.1:PORT/PATH"],
  ...["http://127.0.0.1%00.public.example:PORT/PATH", "https://127.0.0.1:PORT/PATH"],
  ...[
    "file:///etc/passwd",
    "data:image/png;base64,iVBORw0KGgo=",
    "ftp://127.0.0.1:PORT/PATH",
    "gopher://127.0.0.1:PORT/PATH",
  ],
];

/** Names that this machine resolves to its own addresses, which only shows at the connection. */
const ownNames = [hostname(), "ip6-localhost", "ip6-loopback", "localhost.localdomain"];

function atHost(host: string): string {
  return `http://${host}:PORT/PATH`;
}

/** A way to make the system connect to a URL. */
interface Way {
  readonly name: string;
  readonly ask: (url: string) => Promise<Answer>;
  /** A permitted URL. */
  readonly good: string;
}

const redirects = [301, 302, 303, 307, 308];

async function waysOf({ world, receiver }: TrustingScene, owner: Headers): Promise<readonly Way[]> {
  const { photoUrl } = world;
  const endpoints = "/api/v1/webhooks/endpoints";
  const event_types = ["account.updated"];
  const { id } = (await world.send(owner, endpoints, { body: { url: receiver.url, event_types } })).json;
  const importFrom = (source_url: string) => world.tryTo(owner, "/images/import", { body: { source_url } });
  return [
    { name: "an import", ask: importFrom, good: photoUrl },
    {
      name: "a new endpoint",
      good: receiver.url,
      ask: (url) => world.tryTo(owner, endpoints, { body: { url, event_types } }),
    },
    {
      name: "an endpoint that moves",
      good: `${receiver.url}/moved`,
      ask: (url) => world.tryTo(owner, `${endpoints}/${id}`, { method: "PATCH", body: { url } }),
    },
    ...redirects.map((status) => ({
      name: `an import that is redirected with ${status}`,
      good: photoUrl,
      ask: (url: string) => importFrom(leadingTo(receiver, status, url)),
    })),
  ];
}

interface Tried {
  readonly answer: Answer;
  readonly isReached: boolean;
}

const reached: Tried = { answer: plantedAnswer(422, { error: { code: "validation_error" } }), isReached: true };
const taken: Tried = { answer: plantedAnswer(201, { id: "planted" }), isReached: false };
const broken: Tried = { answer: plantedAnswer(500), isReached: false };

/** A forbidden URL is the caller's mistake; a redirect to one may be the server's. */
function neverReached({ answer, isReached }: Tried): Finding {
  if (isReached) return `it was reached, and the answer is ${shown(answer)}`;
  return [400, 422, 502].includes(answer.status) ? null : shown(answer);
}

function rowOf({ crown }: TrustingScene, way: Way, target: string, control: Control): Attack {
  const path = `/${crypto.randomUUID()}`;
  const url = target.replace("PORT", String(crown.port)).replace("/PATH", path);
  return attack<Tried>({
    what: `${way.name}: ${target}`,
    must: "be refused, and never connect",
    repeat: `${way.name} with ${JSON.stringify(url)}`,
    control,
    attempt: async () => ({ answer: await way.ask(url), isReached: crown.visits.has(path) }),
    judge: neverReached,
    planted: [reached, taken, broken],
  });
}

/** The way works for a permitted target, and a visit to the crown would be seen. */
function controlOf({ crown }: TrustingScene, { name, ask, good }: Way): Control {
  return control<Tried>({
    what: `${name} of what may be reached`,
    attempt: async () => {
      const probe = `/${crypto.randomUUID()}`;
      await fetch(`${crown.url}${probe}`);
      return { answer: await ask(good), isReached: crown.visits.has(probe) };
    },
    judge: ({ answer, isReached }) => (answer.status < 300 && isReached ? null : shown(answer)),
    planted: [{ ...reached, isReached: false }, broken],
  });
}

interface Delivered {
  readonly isTried: boolean;
  readonly isReached: boolean;
}

/** Endpoints that lead to the crown at delivery: by a redirect, or by a name of this machine. */
async function rowsOfDeliveries(scene: TrustingScene): Promise<readonly Attack[]> {
  const { world, crown, receiver } = scene;
  const { headers } = await scene.person();
  const path = () => `/${crypto.randomUUID()}`;
  const forms = ["127.0.0.1", "[::1]", "localhost"];
  const endpoints = [
    ...redirects.flatMap((status) =>
      forms.map((host) => {
        const mark = path();
        return {
          what: `a delivery that is redirected with ${status} to ${host}`,
          mark,
          url: leadingTo(receiver, status, `http://${host}:${crown.port}${mark}`),
        };
      }),
    ),
    ...ownNames.map((name) => {
      const mark = path();
      return { what: `a delivery to the name ${name}`, mark, url: `https://${name}:${crown.port}${mark}` };
    }),
  ];
  const ids = new Map<string, string>();
  const create = async (url: string) =>
    (await world.send(headers, "/api/v1/webhooks/endpoints", { body: { url, event_types: ["account.updated"] } })).json
      .id as string;
  const good = await create(`${receiver.url}/deliveries`);
  await inLanes(endpoints, 4, async ({ mark, url }) => ids.set(mark, await create(url)));
  await world.send(headers, "/api/account/", { method: "PATCH", body: { display_name: "Delivered" } });
  const isTried = (endpointId: string) =>
    eventually(
      async () =>
        (await world.send(headers, `/api/v1/webhooks/attempts?endpoint_id=${endpointId}`)).json.items.length > 0,
      { message: `an attempt at ${endpointId} is recorded` },
    );
  const arrives = control<Delivered>({
    what: "a delivery to where it may go",
    attempt: async () => ({
      isTried: await isTried(good),
      isReached: receiver.requests.some(({ path }) => path === "/deliveries"),
    }),
    judge: ({ isReached }) => (isReached ? null : "it never arrived"),
    planted: [{ isTried: true, isReached: false }],
  });
  return endpoints.map(({ what, mark, url }) =>
    attack<Delivered>({
      what,
      must: "fail, and never connect",
      repeat: `an endpoint at ${url}`,
      control: arrives,
      attempt: async () => ({ isTried: await isTried(ids.get(mark) ?? ""), isReached: crown.visits.has(mark) }),
      judge: (found) => (found.isTried && !found.isReached ? null : "the crown was reached"),
      planted: [
        { isTried: true, isReached: true },
        { isTried: false, isReached: false },
      ],
    }),
  );
}

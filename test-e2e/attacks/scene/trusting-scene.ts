import assert from "node:assert/strict";
import {
  createMailbox,
  createOidcIssuer,
  createOtlpReceiver,
  createReceiver,
  type Mailbox,
  type OidcIssuer,
  type OtlpReceiver,
  type Receiver,
  readFixture,
  type ServedListener,
  serveListener,
} from "@signalbox/testing";
import { type Headers, type Person, type World, worldOf } from "../../audit/world.ts";
import { type Client, createClient, expectStatus } from "../../journey/client.ts";
import { trusting } from "../../systems/trusted-people.ts";
import type { Attacked } from "./start-system.ts";

/** The one origin whose pages may call the API. */
export const friendlyOrigin = "https://console.example";

/** A person of the test's issuer, for whom any token can be signed. */
export interface Victim extends Person {
  readonly subject: string;
  readonly name: string;
}

/** A system that trusts a test issuer, without limits, and the servers that attacks need. */
export interface TrustingScene {
  readonly system: Attacked;
  readonly issuer: OidcIssuer;
  readonly mailbox: Mailbox;
  readonly send: Client;
  readonly world: World;
  person(claims?: object): Promise<Victim>;
  /** Signs a token for the sender of these headers, with other claims. */
  tokenOf(headers: Headers, claims: object): string;
  /** Signs a valid token of an unused login. */
  newcomer(claims?: object): string;
  readonly administrator: Headers;
  /** A permitted target of imports and deliveries. */
  readonly receiver: Receiver;
  /** A permitted target that takes requests and never answers. */
  readonly silent: ServedListener;
  /** A forbidden target. */
  readonly crown: Crown;
  readonly spans: OtlpReceiver;
}

/** Opens the servers that a system needs, starts it, and returns its scene. */
export async function openTrustingScene(
  opened: AsyncDisposableStack,
  start: (properties: Readonly<Record<string, string>>) => Promise<Attacked>,
): Promise<TrustingScene> {
  const [issuer, mailbox, photo, receiver, silent, crown, spans] = await Promise.all([
    createOidcIssuer(),
    createMailbox(),
    readFixture("photo.jpg"),
    createReceiver(),
    serveListener(() => {}),
    createCrown(),
    createOtlpReceiver(),
  ]);
  const photos = await serveListener((_request, response) => void response.end(photo));
  for (const one of [issuer, mailbox, receiver, silent, crown, spans, photos]) opened.defer(() => one.close());
  receiver.answer(({ path }) => answerTo(path));
  const system = await start({
    ...propertiesOf(issuer, [receiver, silent, photos]),
    "mail.url": mailbox.url,
    "telemetry.otlp-endpoint": spans.endpoint,
  });
  const send = createClient(system.baseUrl);
  const people = createPeople(issuer, send);
  const world = worldOf(opened, system, {
    person: people.person,
    signIn: () => Promise.reject(new Error("there is no built-in issuer")),
    join: () => Promise.reject(new Error("there is no built-in issuer")),
    secondAdministrator: () => ({ authorization: `Bearer ${people.newcomer({ roles: ["admin"] })}` }),
    freshToken: () => people.newcomer(),
    mailbox,
    photo,
    photoUrl: `${photos.url}/photo.jpg`,
    goneUrl: `${receiver.url}/gone`,
  });
  const { administrator } = world;
  return { system, issuer, mailbox, send, world, ...people, administrator, receiver, silent, crown, spans };
}

/** `/gone` answers 410, `/to/307/<base64url>` redirects, and other paths succeed. */
function answerTo(path: string) {
  if (path.startsWith("/gone")) return { status: 410 };
  const [, status, target] = /^\/to\/(\d+)\/([\w-]+)$/.exec(path) ?? [];
  if (target === undefined) return { status: 200 };
  return { status: Number(status), headers: { location: Buffer.from(target, "base64url").toString("latin1") } };
}

/** Builds a redirecting URL of the receiver. Latin-1, as headers are. */
export const leadingTo = ({ url }: Receiver, status: number, target: string): string =>
  `${url}/to/${status}/${Buffer.from(target, "latin1").toString("base64url")}`;

function propertiesOf(issuer: OidcIssuer, reachable: readonly { readonly port: number }[]): Record<string, string> {
  const allowed = reachable.map(({ port }) => `127.0.0.1:${port}`).join(",");
  return {
    ...trusting(issuer),
    "graphql.limits.anonymous-cost-window": "1000000",
    "webhook-ingest.refusals.failed-verifications": "1000000",
    "http.cors.origins": friendlyOrigin,
    "log.level": "info",
    // A slow server is read until the deadline.
    "images.import.deadline": "4000",
    "webhook-delivery.attempt.timeout": "4000",
    "images.import.allow": allowed,
    "webhook-delivery.outbound.allow": allowed,
    "webhook-ingest.outbound.allow": allowed,
  };
}

type People = Pick<TrustingScene, "person" | "tokenOf" | "newcomer">;

function createPeople(issuer: OidcIssuer, send: Client): People {
  const subjects = new Map<string, string>();
  const sign = (claims: object) => {
    const always = { jti: crypto.randomUUID(), auth_time: Math.floor(Date.now() / 1000) };
    return issuer.sign({ ...always, ...claims }, { expiresInSeconds: 900 });
  };
  return {
    async person(claims = {}) {
      const subject = crypto.randomUUID();
      const [address, name] = [`${subject}@example.org`, `Victim ${subject}`];
      const headers = {
        authorization: `Bearer ${sign({ sub: subject, name, email: address, email_verified: true, ...claims })}`,
      };
      subjects.set(headers.authorization, subject);
      const { id } = expectStatus(await send("/api/account/", { headers }), 200).json;
      return { id, headers, address, subject, name };
    },
    tokenOf(headers, claims) {
      const sub = subjects.get(headers.authorization ?? "");
      assert.ok(sub !== undefined, "a token of somebody whom the scene made");
      return sign({ sub, ...claims });
    },
    newcomer: (claims = {}) => sign({ sub: crypto.randomUUID(), ...claims }),
  };
}

/** A server that must never be reached: it offers what an attacker wants. */
interface Crown extends ServedListener {
  /** Requested paths. */
  readonly visits: ReadonlySet<string>;
}

async function createCrown(): Promise<Crown> {
  const visits = new Set<string>();
  const served = await serveListener((request, response) => {
    visits.add(request.url ?? "");
    response.end("the crown jewels");
  });
  return { ...served, visits };
}

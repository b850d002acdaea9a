import { sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createCertificates } from "@signalbox/testing";
import type { Headers } from "../../audit/world.ts";
import { type Attack, attack, type Control, control, type Finding } from "../runner/attack.ts";
import type { HostileAnswer } from "../scene/hostile-server.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { hostileAnswers } from "./hostile-answers.ts";

/** Webhooks that name a certificate of somebody else's, as those of AWS SNS and PayPal do. */
export const senderCertificates: Group = {
  name: "sender-certificates",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const owner = (await scene.person()).headers;
    const keys = await createKeys();
    serveCertificates(scene, keys);
    const honest = await createSource(scene, owner, `${scene.hostile.url}/*.pem`);
    const inside = await createSource(scene, owner, `${scene.crown.url}/*.pem`);
    const tools = { scene, owner, keys, control: onlyHonest(scene, owner, honest, keys) };
    return [
      ...addressesOutside(scene).map(([what, url]) => rowAt(tools, honest, what, message(keys.good, url))),
      ...Object.keys(badCertificates(scene, keys)).map((what) =>
        rowAt(tools, honest, what, message(keyFor(what, keys), `${scene.hostile.url}/${fileOf(what)}`)),
      ),
      ...Object.keys(hostileAnswers).map((what) =>
        rowAt(tools, honest, `a certificate from a server with ${what}`, message(keys.good, urlOfHostile(scene, what))),
      ),
      rowAt(tools, inside, "a certificate at an address inside", message(keys.good, `${scene.crown.url}/inside.pem`)),
      rowAt(tools, honest, "a signature of another key", message(keys.other, goodUrl(scene))),
      rowAt(tools, honest, "a confirmation at another host", confirmation(scene, keys, `${scene.crown.url}/confirm`)),
    ];
  },
};

interface Signer {
  readonly privateKey: string;
  readonly certificate: string;
}

type Keys = Readonly<Record<"good" | "other" | "expired", Signer>>;

interface Source {
  readonly id: string;
  readonly path: string;
}

const topic = "arn:aws:sns:us-west-2:123456789012:MyTopic";
const goodUrl = ({ hostile }: TrustingScene): string => `${hostile.url}/good.pem`;

/** Keys with a certificate each: the sender's, one of somebody else, and an old one of the sender. */
async function createKeys(): Promise<Keys> {
  const certificates = await createCertificates();
  const read = async ({ certFile, keyFile }: { readonly certFile: string; readonly keyFile: string }) => ({
    certificate: await readFile(certFile, "utf8"),
    privateKey: await readFile(keyFile, "utf8"),
  });
  const [good, other, expired] = [
    await read(certificates),
    await read(await certificates.issue("elsewhere.example")),
    await read(await certificates.issue("old.example", { endsAt: new Date(Date.now() - 3_600_000) })),
  ];
  await certificates.remove();
  return { good, other, expired };
}

async function createSource({ world }: TrustingScene, owner: Headers, certificateUrl: string): Promise<Source> {
  const settings = { certificate_urls: [certificateUrl] };
  const body = { name: "SNS", preset: "aws-sns", secret: topic, settings };
  const { id, ingest_path: path } = (await world.send(owner, "/api/v1/webhooks/sources", { body })).json;
  return { id, path };
}

const signedNames = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

/** Builds a notification that a key has signed and whose certificate is said to be at a URL. */
function message({ privateKey }: Signer, SigningCertURL: unknown, more: Readonly<Record<string, string>> = {}): Buffer {
  const content: Record<string, string> = {
    Type: "Notification",
    MessageId: "5f0f5d5f-0000-4000-8000-000000000001",
    TopicArn: topic,
    Message: "Hello",
    Timestamp: new Date().toISOString(),
    ...more,
  };
  const text = signedNames.flatMap((name) => (name in content ? [`${name}\n${content[name]}\n`] : [])).join("");
  const Signature = sign("sha256", Buffer.from(text), privateKey).toString("base64");
  return Buffer.from(JSON.stringify({ SigningCertURL, SignatureVersion: "2", ...content, Signature }));
}

const confirmation = (scene: TrustingScene, keys: Keys, SubscribeURL: string): Buffer =>
  message(keys.good, goodUrl(scene), { Type: "SubscriptionConfirmation", Token: "t-1", SubscribeURL });

/** Addresses that the list does not have, although a careless reader takes them for one that it has. */
function addressesOutside({ hostile, crown }: TrustingScene): [what: string, url: unknown][] {
  const { host, port } = new URL(hostile.url);
  const at = (rest: string) => `${hostile.url}${rest}`;
  const addresses: Readonly<Record<string, unknown>> = {
    "another host": `${crown.url}/good.pem`,
    "the metadata of a cloud": "http://169.254.169.254/latest/meta-data/good.pem",
    "another port": `http://127.0.0.1:${Number(port) - 1}/good.pem`,
    "another name of the host": `http://localhost:${port}/good.pem`,
    "another scheme": `ftp://${host}/good.pem`,
    "a file": "file:///etc/ssl/certs/good.pem",
    "the host as a user": `http://${host}@${new URL(crown.url).host}/good.pem`,
    "a user before the host": `http://user@${host}/good.pem`,
    "another suffix": at("/good.txt"),
    "another folder": at("/folder/good.pem"),
    "an encoded folder": at("/folder%2Fgood.pem"),
    "a way back": at("/folder/../good.pem"),
    "a query": at("/good.pem?x=.pem"),
    "a fragment": at("/good.pem#.pem"),
    "a backslash": at("\\good.pem"),
    "a space before it": ` ${at("/good.pem")}`,
    "a line break in it": at("/go\nod.pem"),
    "a path alone": "/good.pem",
    "no address": "",
    "a list of addresses": [at("/good.pem")],
    "a number": 7,
    nothing: null,
  };
  return Object.entries(addresses).map(([what, url]) => [`a certificate at ${what}`, url]);
}

const fileOf = (what: string): string => `${what.replaceAll(/\W+/g, "-")}.pem`;
const urlOfHostile = ({ hostile }: TrustingScene, what: string): string =>
  `${hostile.url}/${fileOf(`certificate-${what}`)}`;
const keyFor = (what: string, keys: Keys): Signer => (what.includes("expired") ? keys.expired : keys.good);

const answering = (status: string, body: string, header = ""): HostileAnswer => {
  const head = `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n${header}\r\n`;
  return () => [head, ...(body === "" ? [] : [body])];
};

/** Answers at an address of the list that do not prove the sender. */
function badCertificates({ crown }: TrustingScene, { good, other, expired }: Keys): Record<string, HostileAnswer> {
  const padded = `${good.certificate}${"#".repeat(64 * 1_024)}`;
  return {
    "an expired certificate": answering("200 OK", expired.certificate),
    "the certificate of another host": answering("200 OK", other.certificate),
    "a certificate behind another one": answering("200 OK", other.certificate + good.certificate),
    "a certificate of 64 kilobytes": answering("200 OK", padded),
    "a redirect out of the list": answering("302 Found", "", `location: ${crown.url}/good.pem\r\n`),
    "a permanent redirect out of the list": answering("308 Permanent Redirect", "", `location: ${crown.url}/a.pem\r\n`),
    "a certificate in a refusal": answering("403 Forbidden", good.certificate),
    "a certificate in a fault": answering("500 Internal Server Error", good.certificate),
    "a private key": answering("200 OK", good.privateKey),
    "an empty certificate": answering("200 OK", ""),
    "a page": answering("200 OK", "<!doctype html><title>Sign in</title>"),
  };
}

function serveCertificates(scene: TrustingScene, keys: Keys): void {
  const { hostile } = scene;
  hostile.serve("good.pem", answering("200 OK", keys.good.certificate));
  for (const [what, answer] of Object.entries(badCertificates(scene, keys))) hostile.serve(fileOf(what), answer);
  for (const [what, answer] of Object.entries(hostileAnswers)) hostile.serve(fileOf(`certificate-${what}`), answer);
}

export interface Outcome {
  readonly status: number;
  /** Webhooks that the source has received. */
  readonly received: number;
  /** Visits at the server that must not be reached. */
  readonly visits: number;
  /** Bytes of the certificate that were taken. */
  readonly bytes: number;
}

/** A socket's buffers are larger than a certificate may be. */
const bytesMax = 16 * 1024 * 1024;

/** Finds a webhook that was taken, a visit inside, and an endless read. A certificate that cannot be read is a 503. */
export const provesNothing = ({ status, received, visits, bytes }: Outcome): Finding =>
  [400, 401, 503].includes(status) && received <= 1 && visits === 0 && bytes <= bytesMax
    ? null
    : `${status}, ${received} received, ${visits} visits, ${bytes} bytes`;

interface Tools {
  readonly scene: TrustingScene;
  readonly owner: Headers;
  readonly keys: Keys;
  readonly control: Control;
}

const textPlain = { "content-type": "text/plain; charset=UTF-8" };

const receivedAt = async ({ world }: TrustingScene, owner: Headers, { id }: Source): Promise<number> =>
  (await world.send(owner, `/api/v1/webhooks/sources/${id}/received`)).json.items.length;

function rowAt({ scene, owner, control: honest }: Tools, source: Source, what: string, body: Buffer): Attack {
  const { send, hostile, crown } = scene;
  const named = /"SigningCertURL":"[^"]*\/([^"/]+)"/.exec(body.toString())?.[1] ?? "";
  return attack<Outcome>({
    what,
    must: "be refused, without a request outside of the list",
    repeat: `POST ${source.path} with ${body.toString().slice(0, 500)}`,
    control: honest,
    async attempt() {
      const visitsBefore = crown.visits.size;
      const { status } = await send(source.path, { headers: textPlain, body });
      const received = await receivedAt(scene, owner, source);
      return { status, received, visits: crown.visits.size - visitsBefore, bytes: hostile.bytesTaken(named) };
    },
    judge: provesNothing,
    planted: [
      { status: 202, received: 1, visits: 0, bytes: 0 },
      { status: 401, received: 2, visits: 0, bytes: 0 },
      { status: 401, received: 0, visits: 1, bytes: 0 },
      { status: 503, received: 0, visits: 0, bytes: 256 * 1024 * 1024 },
    ],
  });
}

/** Checks that the sender's own webhook is taken, and that the source has received nothing else. */
const onlyHonest = (scene: TrustingScene, owner: Headers, source: Source, { good }: Keys): Control =>
  control<Pick<Outcome, "status" | "received">>({
    what: "a webhook with the sender's own certificate",
    async attempt() {
      const { status } = await scene.send(source.path, { headers: textPlain, body: message(good, goodUrl(scene)) });
      return { status, received: await receivedAt(scene, owner, source) };
    },
    judge: ({ status, received }) => (status === 202 && received === 1 ? null : `${status}, ${received} received`),
    planted: [
      { status: 401, received: 0 },
      { status: 202, received: 2 },
    ],
  });

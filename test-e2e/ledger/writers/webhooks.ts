import { createHmac, hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { awkwardMembers } from "../awkward-json.ts";
import { type Call, createHttp, outcomeOf } from "../http.ts";
import type { Random } from "../random.ts";
import { insist, type Member, publishedType, type Scene, untilStopped, type Writer } from "../scene.ts";

/**
 * Accounts that publish their own events, each repeated until it is answered; one in five violates its type's schema.
 * Their data is JSON that not every program carries unchanged, in any of the forms of a publication. CloudEvents of two
 * sources share their ids.
 */
export const publications: Writer = {
  name: "publications",
  run: async (scene) =>
    void (await Promise.all(
      scene.members.map(async ({ account, http }, index) => {
        const random = scene.random.fork(`publisher ${index}`);
        let number = 0;
        await untilStopped(scene, random, [120, 600], async () => {
          const fits = random.next() < 0.8;
          number++;
          const data = `{"number":${fits ? number : `"${number}"`}${awkwardMembers(random, publishedDepthMax)}}`;
          const { event, call } = publicationOf(random, `${scene.round}-${index}-published`, number, data);
          const publish = () => http("/api/v1/webhooks/events", call);
          const done = scene.history.begin(`publisher ${index}`, "publish", { account, event, fits, data });
          const reply = await insist(scene, publish);
          if (random.next() < 0.1) await publish();
          done(outcomeOf(reply), { status: reply?.status });
        });
      }),
    )),
};

/** Deeper than JSON that is not only carried may be. */
const publishedDepthMax = 300;

/** Writes a publication in one of its forms, with the id of its event. */
function publicationOf(random: Random, name: string, number: number, data: string): { event: string; call: Call } {
  if (random.next() < 0.5) {
    const event = `${name}-${number}`;
    return { event, call: random.pick(plainForms)(event, data) };
  }
  const id = `${name}-${Math.floor(number / 2)}`;
  const attributes = { specversion: "1.0", id, source: `/ledger/${number % 2}`, type: publishedType.name };
  return { event: eventIdOf(attributes), call: random.pick(cloudEventModes)(attributes, data) };
}

/** JSON alone and in a list. */
const plainForms: readonly ((id: string, data: string) => Call)[] = [
  (id, data) => ({ body: Buffer.from(`{"id":"${id}","type":"${publishedType.name}","data":${data}}`) }),
  (id, data) => ({ body: Buffer.from(`[{"data":${data},"id":"${id}","type":"${publishedType.name}"}]`) }),
];

/** Structured, batched and binary. */
const cloudEventModes: readonly ((attributes: Readonly<Record<string, string>>, data: string) => Call)[] = [
  (attributes, data) => ({
    headers: { "content-type": "application/cloudevents+json" },
    body: Buffer.from(`{"data":${data},${JSON.stringify(attributes).slice(1)}`),
  }),
  (attributes, data) => ({
    headers: { "content-type": "application/cloudevents-batch+json" },
    body: Buffer.from(`[{"data":${data},${JSON.stringify(attributes).slice(1)}]`),
  }),
  (attributes, data) => ({
    headers: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
    body: Buffer.from(data),
  }),
];

/** Makes the id of a CloudEvent's event as the page on publishing says. */
const eventIdOf = ({ source, id }: Readonly<Record<string, string>>) =>
  `ce_${hash("sha256", JSON.stringify([source, id])).slice(0, 40)}`;

const reachesBackMs = 4_000;

/** Owners who replay the deliveries of the last seconds, one endpoint after another. */
export const replays: Writer = {
  name: "replays",
  run: async (scene) => void (await Promise.all(scene.members.map((member) => replay(scene, member)))),
};

async function replay(scene: Scene, { account, http, endpoints: { main } }: Member): Promise<void> {
  const path = "/api/v1/webhooks/replays";
  let number = 0;
  await untilStopped(scene, scene.random.fork(`replays of ${main.name}`), [800, 2_500], async () => {
    const from = new Date(Date.now() - reachesBackMs).toISOString();
    // Those that wait may be under way already, and then go out without the replay.
    const body = { endpoint_id: main.id, event_types: ["image.*"], status: "succeeded", from };
    const headers = { "idempotency-key": `ledger-replay-${main.name}-${++number}` };
    const done = scene.history.begin(`replays of ${main.name}`, "start-replay", { account, endpoint: main.name });
    const reply = await insist(scene, () => http(path, { body, headers }));
    done(outcomeOf(reply), { replay: reply?.json?.id, status: reply?.status });
    const isRunning = async () => (await http(`${path}/${reply?.json?.id}`))?.json?.status !== "done";
    if (reply?.status === 202) while (!scene.stopped.aborted && (await isRunning())) await sleep(200);
  });
}

/** Partners who post signed webhooks, each repeated with a new signature until it is accepted, some of them twice. */
export const partners: Writer = {
  name: "partners",
  run: async (scene) => {
    const http = createHttp(scene.system.baseUrl);
    await Promise.all(
      scene.members.map(async ({ account, source }, index) => {
        const random = scene.random.fork(`partner ${index}`);
        let number = 0;
        await untilStopped(scene, random, [120, 600], async () => {
          const delivery = `${scene.round}-${index}-${++number}`;
          const payload = `{"type":"order.created","order":"${delivery}"${awkwardMembers(random, partnerDepthMax)}}`;
          const post = () => http(`/ingest/${source.id}`, signed(delivery, source.secret, payload));
          const named = { account, source: source.id, delivery, payload };
          const done = scene.history.begin(`partner ${index}`, "webhook", named);
          const lot = random.next();
          // One in ten comes twice at the same moment, one in ten once more after it was taken.
          const [reply] = await Promise.all([insist(scene, post), ...(lot < 0.1 ? [post()] : [])]);
          if (lot > 0.9) await post();
          done(outcomeOf(reply), { status: reply?.status });
        });
      }),
    );
  },
};

const partnerDepthMax = 100;

/** Signs by the specification of Standard Webhooks. */
export function signed(id: string, secret: Buffer, payload = JSON.stringify({ type: "order.created", order: id })) {
  const body = Buffer.from(payload);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  return { body, headers };
}

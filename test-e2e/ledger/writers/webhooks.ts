import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createHttp, outcomeOf } from "../http.ts";
import { insist, type Member, publishedType, type Scene, untilStopped, type Writer } from "../scene.ts";

/**
 * Accounts that publish their own events, each repeated until it is answered; one in five violates its type's schema.
 */
export const publications: Writer = {
  name: "publications",
  run: async (scene) =>
    void (await Promise.all(
      scene.members.map(async ({ account, http }, index) => {
        const random = scene.random.fork(`publisher ${index}`);
        let number = 0;
        await untilStopped(scene, random, [120, 600], async () => {
          const event = `${scene.round}-${index}-published-${++number}`;
          const fits = random.next() < 0.8;
          const body = { id: event, type: publishedType.name, data: { number: fits ? number : `${number}` } };
          const publish = () => http("/api/v1/webhooks/events", { body });
          const done = scene.history.begin(`publisher ${index}`, "publish", { account, event, fits });
          const reply = await insist(scene, publish);
          if (random.next() < 0.1) await publish();
          done(outcomeOf(reply), { status: reply?.status });
        });
      }),
    )),
};

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
    const body = { endpoint_id: main.id, event_types: ["image.*"], from };
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
          const post = () => http(`/ingest/${source.id}`, signed(delivery, source.secret));
          const done = scene.history.begin(`partner ${index}`, "webhook", { account, source: source.id, delivery });
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

/** Signs by the specification of Standard Webhooks. */
export function signed(id: string, secret: Buffer) {
  const body = Buffer.from(JSON.stringify({ type: "order.created", order: id }));
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

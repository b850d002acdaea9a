import { createHmac } from "node:crypto";
import { createHttp, outcomeOf } from "../http.ts";
import { insist, untilStopped, type Writer } from "../scene.ts";

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
          const [reply] = await Promise.all([insist(post), ...(lot < 0.1 ? [post()] : [])]);
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

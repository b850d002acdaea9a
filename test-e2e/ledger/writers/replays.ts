import { setTimeout as sleep } from "node:timers/promises";
import { outcomeOf } from "../http.ts";
import { insist, type Member, type Scene, untilStopped, type Writer } from "../scene.ts";

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
    const reply = await insist(() => http(path, { body, headers }));
    done(outcomeOf(reply), { replay: reply?.json?.id, status: reply?.status });
    const isRunning = async () => (await http(`${path}/${reply?.json?.id}`))?.json?.status !== "done";
    if (reply?.status === 202) while (!scene.stopped.aborted && (await isRunning())) await sleep(200);
  });
}

import { outcomeOf } from "../http.ts";
import { insist, publishedType, untilStopped, type Writer } from "../scene.ts";

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
          const reply = await insist(publish);
          if (random.next() < 0.1) await publish();
          done(outcomeOf(reply), { status: reply?.status });
        });
      }),
    )),
};

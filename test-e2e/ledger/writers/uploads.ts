import { formOf, outcomeOf, type Reply } from "../http.ts";
import { pictureOf } from "../picture.ts";
import type { Random } from "../random.ts";
import { insist, type Member, type Scene, untilStopped, type Writer } from "../scene.ts";

/** Sends each picture once. */
export const uploads: Writer = {
  name: "uploads",
  run: (scene) => uploadAll(scene, "uploads", async (send) => await send({})),
};

/** Sends each picture with an idempotency key, repeatedly until it is answered. */
export const keyedUploads: Writer = {
  name: "keyed-uploads",
  run: (scene) =>
    uploadAll(scene, "keyed-uploads", (send, title) => insist(() => send({ "idempotency-key": `ledger-${title}` }))),
};

type Send = (headers: Record<string, string>) => Promise<Reply | null>;

async function uploadAll(
  scene: Scene,
  name: string,
  deliver: (send: Send, title: string) => Promise<Reply | null>,
): Promise<void> {
  const random = scene.random.fork(name);
  let count = 0;
  await untilStopped(scene, random, [200, 800], async () => {
    const member = random.pick(scene.members);
    await upload(scene, { name, member, random, title: `${scene.round}-${name}-${++count}` }, deliver);
  });
}

async function upload(
  { history }: Scene,
  { name, member, random, title }: { name: string; member: Member; random: Random; title: string },
  deliver: (send: Send, title: string) => Promise<Reply | null>,
): Promise<void> {
  const { bytes, sha256 } = pictureOf(random);
  const { body, headers } = formOf({ title }, { name: `${title}.png`, type: "image/png", bytes });
  const done = history.begin(name, "upload", { account: member.account, title, sha256, keyed: name !== "uploads" });
  const reply = await deliver((more) => member.http("/images", { body, headers: { ...headers, ...more } }), title);
  done(outcomeOf(reply), { image: reply?.json?.id, status: reply?.status });
}

import { formOf, type Http, outcomeOf, type Reply } from "../http.ts";
import { pictureOf, type Random } from "../random.ts";
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
    uploadAll(scene, "keyed-uploads", (send, title) =>
      insist(scene, () => send({ "idempotency-key": `ledger-${title}` })),
    ),
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

/** Announces each picture, sends it to its target and completes it, repeating each step until it is answered. */
export const directUploads: Writer = {
  name: "direct-uploads",
  async run(scene) {
    const random = scene.random.fork("direct-uploads");
    let count = 0;
    await untilStopped(scene, random, [120, 400], async () => {
      const member = random.pick(scene.members);
      const title = `${scene.round}-direct-uploads-${++count}`;
      const { bytes, sha256 } = pictureOf(random);
      const asked = { account: member.account, title, sha256, keyed: true };
      const done = scene.history.begin("direct-uploads", "upload", asked);
      const reply = await uploadDirectly(scene, member, title, bytes);
      done(outcomeOf(reply), { image: reply?.json?.id, status: reply?.status });
    });
  },
};

const uploadsPath = "/images/uploads";

/** Returns the answer to the completion, or to the step that failed. */
async function uploadDirectly(scene: Scene, { http }: Member, title: string, bytes: Buffer): Promise<Reply | null> {
  const body = { filename: `${title}.png`, mime_type: "image/png", size_bytes: bytes.length };
  const headers = { "idempotency-key": `ledger-${title}` };
  const announced = await insist(scene, () => http(uploadsPath, { body, headers }));
  if (announced?.status !== 201) return announced;
  const { id, method, url, headers: wanted } = announced.json;
  const path = `${uploadsPath}/${id}`;
  const sent = await (method === "PUT"
    ? insist(scene, () => http(url, { method, body: bytes, headers: wanted }))
    : sendRest(scene, http, path, bytes, wanted));
  if (sent === null || sent.status >= 300) return sent;
  return insist(scene, () => http(`${path}/complete`, { body: { title } }));
}

/** Resumes where the last try stopped, until all bytes are sent. */
async function sendRest(
  scene: Scene,
  http: Http,
  path: string,
  bytes: Buffer,
  wanted: Readonly<Record<string, string>>,
): Promise<Reply | null> {
  let offset = 0;
  return insist(scene, async () => {
    const headers = { ...wanted, "Upload-Offset": String(offset) };
    const reply = await http(path, { method: "PATCH", body: bytes.subarray(offset), headers });
    if (reply?.status !== 409) return reply;
    offset = (await http(path))?.json?.received_bytes ?? offset;
    return offset === bytes.length ? { ...reply, status: 200 } : reply;
  });
}

import { setTimeout as sleep } from "node:timers/promises";
import { formOf, outcomeOf } from "../http.ts";
import { pictureOf } from "../random.ts";
import { insist, type Member, type Scene, untilStopped, type Writer } from "../scene.ts";

/** Uploads images to delete them again. */
export const deletions: Writer = {
  name: "deletions",
  run: async (scene) => {
    const random = scene.random.fork("deletions");
    const name = "deletions";
    let count = 0;
    await untilStopped(scene, random, [100, 500], async () => {
      const { account, http } = random.pick(scene.members);
      const { bytes, sha256 } = pictureOf(random);
      const title = `${scene.round}-deleted-${++count}`;
      const uploaded = scene.history.begin(name, "upload", { account, title, sha256, keyed: false });
      const made = await http("/images", formOf({ title }, { name: "short.png", type: "image/png", bytes }));
      const image = made?.json?.id;
      uploaded(outcomeOf(made), { image, status: made?.status });
      if (made?.status !== 201) return;
      await sleep(random.between(0, 150));
      const deleted = scene.history.begin(name, "delete-image", { account, image });
      const reply = await http(`/images/${image}`, { method: "DELETE" });
      deleted(outcomeOf(reply), { status: reply?.status });
    });
  },
};

/** Creates keys, uses each once and revokes it. Only a clear answer counts as a revocation. */
export const keys: Writer = {
  name: "keys",
  run: async (scene) => {
    const random = scene.random.fork("keys");
    await untilStopped(scene, random, [300, 900], async () => {
      const { account, http } = random.pick(scene.members);
      const made = scene.history.begin("keys", "create-key", { account });
      const body = { name: "short", scopes: ["account:write", "images:write", "webhooks:write"] };
      const key = await http("/api/account/api-keys/", { body });
      const { id, key: secret } = key?.json ?? {};
      made(outcomeOf(key), { key: id, status: key?.status });
      if (key?.status !== 201) return;
      await http("/images/nothing", { method: "DELETE", headers: { "x-api-key": secret } });
      const revoked = scene.history.begin("keys", "revoke-key", { account, key: id });
      const reply = await insist(scene, () => http(`/api/account/api-keys/${id}`, { method: "DELETE" }));
      // A repetition after a lost answer finds the key revoked.
      revoked(reply?.status === 404 ? "ok" : outcomeOf(reply), { key: id, secret, status: reply?.status });
    });
  },
};

/** Pauses and resumes one endpoint of each account, and deletes another halfway. */
export const endpoints: Writer = {
  name: "endpoints",
  run: async (scene) => void (await Promise.all(scene.members.map((member) => useEndpoints(scene, member)))),
};

async function useEndpoints(scene: Scene, { http, endpoints: { paused, deleted }, account }: Member): Promise<void> {
  const random = scene.random.fork(`endpoints of ${paused.name}`);
  const path = (id: string, action = "") => `/api/v1/webhooks/endpoints/${id}${action}`;
  const act = async (op: string, endpoint: { id: string; name: string }, action: string) => {
    const done = scene.history.begin("endpoints", op, { account, endpoint: endpoint.name });
    const method = action === "" ? "DELETE" : "POST";
    const reply = await insist(scene, () => http(path(endpoint.id, action), { method }));
    // A repetition after a lost answer finds it done.
    done(action === "" && reply?.status === 404 ? "ok" : outcomeOf(reply), { status: reply?.status });
  };
  let turns = 0;
  await untilStopped(scene, random, [300, 900], async () => {
    if (++turns === 2) await act("delete-endpoint", deleted, "");
    await act("pause-endpoint", paused, "/pause");
    await sleep(random.between(200, 2_600));
    await act("resume-endpoint", paused, "/resume");
  });
  if (turns < 2) await act("delete-endpoint", deleted, "");
}

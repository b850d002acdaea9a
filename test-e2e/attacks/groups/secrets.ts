import { randomBytes } from "node:crypto";
import { formsOf } from "../../purge/plants.ts";
import { type Attack, attack, type Control, control, type Finding } from "../runner/attack.ts";
import type { Group } from "./group.ts";
import { type Planted, plantSecrets } from "./planted-secrets.ts";
import { type Sink, sinksOf } from "./sinks.ts";

/** Searches every output for every secret that was sent. */
export const secrets: Group = {
  name: "secrets",
  atOnce: 4,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const owner = await scene.person({ roles: ["admin"] });
    const planted = await plantSecrets(scene, owner);
    const marks = {
      requestId: crypto.randomUUID(),
      traceId: randomBytes(16).toString("hex"),
      displayName: `Marked ${crypto.randomUUID()}`,
    };
    const headers = {
      "x-request-id": marks.requestId,
      traceparent: `00-${marks.traceId}-${randomBytes(8).toString("hex")}-01`,
    };
    await scene.world.send(owner.headers, "/api/account/", {
      method: "PATCH",
      headers,
      body: { display_name: marks.displayName },
    });
    const inSinks = sinksOf(scene, owner, marks).flatMap((sink) => {
      const seen = sinkControl(sink);
      return planted.map((one) => rowOf(one, sink.name, sink.read, seen));
    });
    return [...inSinks, ...answerRows(planted)];
  },
};

/** Finds the secret in any encoding. */
function finds({ secret }: Planted): (text: string) => Finding {
  const forms = [...formsOf(secret), encodeURIComponent(secret), Buffer.from(secret).toString("hex")];
  return (text) => {
    const form = forms.find((one) => text.includes(one));
    if (form === undefined) return null;
    const at = text.indexOf(form);
    return `found as ${text.slice(Math.max(0, at - 150), at + 60)}`;
  };
}

const plantedTexts = ({ secret }: Planted) => [`{"a":"${secret}"}`, Buffer.from(`user:${secret}`).toString("base64")];

function rowOf(one: Planted, where: string, read: () => Promise<string>, control: Control): Attack {
  return attack<string>({
    what: `${one.what}, in ${where}`,
    must: "not be there",
    repeat: `give ${one.secret} as ${one.what}, and read ${where}`,
    control,
    attempt: read,
    judge: finds(one),
    planted: plantedTexts(one),
  });
}

const sinkControl = ({ name, marker, read }: Sink): Control =>
  control<string>({
    what: `the contents of ${name}`,
    attempt: read,
    judge: (text) => (text.includes(marker) ? null : `no ${marker}`),
    planted: ["", "something else"],
  });

/** An answer never repeats a secret to its sender: clients log answers. */
function answerRows(planted: readonly Planted[]): Attack[] {
  return planted.flatMap((one) => {
    const { answer } = one;
    if (answer === null) return [];
    const text = `${answer.status} ${JSON.stringify([...answer.headers])} ${answer.bytes}`;
    const answered = control<number>({
      what: `the answer to ${one.what}`,
      attempt: async () => answer.status,
      judge: (status) => (status >= 200 && status < 500 ? null : `${status}`),
      planted: [500, 0],
    });
    return [rowOf(one, "the answer to it", async () => text, answered)];
  });
}

import { eventually } from "@signalbox/testing";
import type { Headers } from "../../audit/world.ts";
import { type Attack, attack, type Control, control, type Finding } from "../runner/attack.ts";
import { inLanes } from "../runner/run-attacks.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { hostileAnswers, hostileFiles } from "./hostile-answers.ts";
import { photoForm } from "./owned-things.ts";

/** Hostile servers that the system connects to, and hostile files that it reads. */
export const hostileServers: Group = {
  name: "hostile-servers",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const { headers } = await scene.person();
    return [...importRows(scene, headers), ...(await deliveryRows(scene)), ...fileRows(scene, headers)];
  },
};

interface Taken {
  readonly status: number;
  /** Bytes of the answer that were taken, including the system's socket buffers. */
  readonly bytes: number;
  readonly text: string;
}

/** More than the largest upload plus all buffers of a socket; an endless answer offers eight times as much. */
/** Counted on the wire, where a chunk of one byte takes six. */
const bytesMax = 6 * 32 * 1024 * 1024;

export const isRefused = ({ status, bytes, text }: Taken): Finding =>
  status >= 400 && status !== 500 && bytes <= bytesMax ? null : `${status} after ${bytes} bytes: ${text.slice(0, 200)}`;
const planted: readonly Taken[] = [
  { status: 201, bytes: 0, text: "" },
  { status: 500, bytes: 0, text: "" },
  { status: 502, bytes: 256 * 1024 * 1024, text: "" },
];
const works = ({ status, text }: Taken): Finding => (status === 201 ? null : `${status}: ${text.slice(0, 200)}`);
const broken: readonly Taken[] = [{ status: 502, bytes: 0, text: "" }];

const nameOf = (way: string, what: string): string => encodeURIComponent(`${way}-${what.replaceAll(/\W+/g, "-")}`);

function importRows({ world, hostile }: TrustingScene, owner: Headers): Attack[] {
  const importFrom = async (source_url: string, name = "") => {
    const { status, bytes } = await world.tryTo(owner, "/images/import", { body: { source_url } });
    return { status, bytes: hostile.bytesTaken(name), text: bytes.toString() };
  };
  const honest = control<Taken>({
    what: "an import from an honest server",
    attempt: () => importFrom(world.photoUrl),
    judge: works,
    planted: broken,
  });
  return Object.entries(hostileAnswers).map(([what, answer]) => {
    const name = nameOf("import", what);
    hostile.serve(name, answer);
    const url = `${hostile.url}/${name}/a.jpg`;
    return attack<Taken>({
      what: `an import from a server with ${what}`,
      must: "fail, and take no more than an image may have",
      repeat: `import ${url}`,
      control: honest,
      attempt: () => importFrom(url, name),
      judge: isRefused,
      planted,
    });
  });
}

/** A head alone acknowledges a delivery; but a delivery must never read an endless answer, or wait for ever. */
async function deliveryRows({ world, hostile, receiver, person }: TrustingScene): Promise<Attack[]> {
  const { headers } = await person();
  const create = async (url: string): Promise<string> =>
    (await world.send(headers, "/api/v1/webhooks/endpoints", { body: { url, event_types: ["account.updated"] } })).json
      .id;
  const ids = new Map<string, string>();
  const good = await create(`${receiver.url}/beside-hostile`);
  await inLanes(Object.entries(hostileAnswers), 4, async ([what, answer]) => {
    const name = nameOf("delivery", what);
    hostile.serve(name, answer);
    ids.set(what, await create(`${hostile.url}/${name}/hook`));
  });
  await world.send(headers, "/api/account/", { method: "PATCH", body: { display_name: "Delivered" } });
  const attemptAt = async (id: string, name: string): Promise<Taken> => {
    const read = async () =>
      (await world.send(headers, `/api/v1/webhooks/attempts?endpoint_id=${id}`)).json.items[0] ?? null;
    const { status } = await eventually(read, { message: `the attempt at ${name} is recorded` });
    return { status: status ?? 0, bytes: hostile.bytesTaken(name), text: "" };
  };
  const honest: Control = control<Taken>({
    what: "a delivery to an honest server",
    attempt: () => attemptAt(good, ""),
    judge: ({ status }) => (status === 200 ? null : `${status}`),
    planted: broken,
  });
  return Object.keys(hostileAnswers).map((what) =>
    attack<Taken>({
      what: `a delivery to a server with ${what}`,
      must: "end, and take little",
      repeat: `an endpoint at ${hostile.url}/${nameOf("delivery", what)}/hook`,
      control: honest,
      attempt: () => attemptAt(ids.get(what) ?? "", nameOf("delivery", what)),
      judge: ({ bytes }) => (bytes <= bytesMax ? null : `${bytes} bytes were taken`),
      planted: planted.slice(2),
    }),
  );
}

/** Hostile files, uploaded and imported. */
function fileRows({ world, hostile }: TrustingScene, owner: Headers): Attack[] {
  const upload = async (body: FormData): Promise<Taken> => {
    const { status, bytes } = await world.tryTo(owner, "/images", { method: "POST", body });
    return { status, bytes: 0, text: bytes.toString() };
  };
  const importFrom = async (source_url: string): Promise<Taken> => {
    const { status, bytes } = await world.tryTo(owner, "/images/import", { body: { source_url } });
    return { status, bytes: 0, text: bytes.toString() };
  };
  const uploaded = control<Taken>({
    what: "the upload of a photograph",
    attempt: () => upload(photoForm(world.photo)),
    judge: works,
    planted: broken,
  });
  const imported = control<Taken>({
    what: "the import of a photograph",
    attempt: () => importFrom(world.photoUrl),
    judge: works,
    planted: broken,
  });
  return Object.entries(hostileFiles).flatMap(([what, file]) => {
    const name = nameOf("file", what);
    hostile.serve(name, () => [
      `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: ${file.length}\r\nconnection: close\r\n\r\n`,
      ...(file.length > 0 ? [file] : []),
    ]);
    const row = { must: "be refused", judge: isRefused, planted };
    return [
      attack<Taken>({
        ...row,
        what: `the upload of ${what}`,
        repeat: `POST /images with ${what}`,
        control: uploaded,
        attempt: () => upload(photoForm(file)),
      }),
      attack<Taken>({
        ...row,
        what: `the import of ${what}`,
        repeat: `import ${hostile.url}/${name}/a.png`,
        control: imported,
        attempt: () => importFrom(`${hostile.url}/${name}/a.png`),
      }),
    ];
  });
}

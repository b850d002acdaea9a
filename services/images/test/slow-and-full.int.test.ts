import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readlink, rm, statfs, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { createManualClock, minutes } from "@signalbox/core";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

const run = promisify(execFile);
const clock = createManualClock(new Date());
let photo: Buffer;
let disk: SmallDisk;
let images: Harness;
before(async () => {
  photo = await readFixture("photo.jpg");
  disk = await openSmallDisk();
  images = await startImages({ "blobs.url": `file:${disk.folder}`, "images.upload.directory": disk.folder }, { clock });
});
after(async () => {
  await images.close();
  await disk.close();
});

const sha256Of = (file: Buffer) => createHash("sha256").update(file).digest("hex");
const begin = async (who: TestPerson): Promise<string> => {
  const body = { filename: "hills.jpg", mime_type: "image/jpeg", size_bytes: photo.length };
  return (await images.send(who, "POST", "/images/uploads", { body })).body.id;
};
const patch = (who: TestPerson, id: string, offset: number) =>
  images.send(who, "PATCH", `/images/uploads/${id}`, {
    headers: { "content-type": "application/partial-upload", "upload-offset": String(offset) },
    body: photo.subarray(offset),
  });
const complete = (who: TestPerson, id: string) =>
  images.send(who, "POST", `/images/uploads/${id}/complete`, { body: {} });
const receivedOf = async (who: TestPerson, id: string): Promise<number> =>
  (await images.send(who, "GET", `/images/uploads/${id}`)).body.received_bytes;

/** Sends the rest of an upload, and creates its image. */
async function goOn(who: TestPerson, id: string): Promise<void> {
  assert.equal((await patch(who, id, await receivedOf(who, id))).status, 204);
  const made = await complete(who, id);
  assert.deepEqual([made.status, made.body.sha256], [201, sha256Of(photo)]);
}

/** Returns true when no file waits to be judged and no upload file is open. */
async function isNothingLeft(): Promise<boolean> {
  const staging = (await readdir(disk.folder)).filter((name) => name.startsWith("signalbox-uploads-"));
  const waiting = await Promise.all(staging.map((name) => readdir(join(disk.folder, name))));
  const descriptors = await readdir("/proc/self/fd");
  const open = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
  return waiting.flat().length === 0 && !open.some((path) => path.includes("direct-uploads"));
}

const isBegun = async (id: string): Promise<boolean> =>
  (await readdir(join(disk.folder, ".incoming", "direct-uploads"))).includes(id);

/** Opens a request whose body the test sends. */
function open(t: TestContext, who: TestPerson, head: string): { readonly socket: Socket; answer(): string } {
  const { hostname, port } = new URL(images.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  socket.write(
    `${head}\r\nhost: x\r\nauthorization: ${who.headers.authorization}\r\ncontent-length: ${photo.length}\r\n\r\n`,
  );
  return { socket, answer: () => text };
}
const patchOf = (id: string) =>
  `PATCH /images/uploads/${id} HTTP/1.1\r\ncontent-type: application/partial-upload\r\nupload-offset: 0`;
const formHead = "POST /images HTTP/1.1\r\ncontent-type: multipart/form-data; boundary=b";
const filePart = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n';

/** Watches the pace of uploads in windows of a second instead of ten. */
function watchClosely(t: TestContext): void {
  const change = { revision: ++revision, set: true, value: 1 };
  images.context.configuration.setOverrides({ revision, changes: { "limits.requestTimeoutSeconds": change } });
  t.after(watchAsUsual);
}

function watchAsUsual(): void {
  images.context.configuration.setOverrides({ revision: ++revision, changes: {} });
}
let revision = 0;

const isTooSlow = /^HTTP\/1\.1 408 [\s\S]*Connection: close[\s\S]*"request_timeout"/;

test("a dripping piece is 408 without harm to other uploads", async (t) => {
  const [slow, other] = [testPerson(), testPerson()];
  const [id, others] = [await begin(slow), await begin(other)];
  watchClosely(t);
  const { socket, answer } = open(t, slow, patchOf(id));
  await eventually(() => isBegun(id), { message: "its pace is watched" });
  watchAsUsual();
  let sent = 100_000;
  socket.write(photo.subarray(0, sent));
  const dripping = setInterval(() => socket.write(photo.subarray(sent, ++sent)), 20);
  t.after(() => clearInterval(dripping));
  await goOn(other, others);
  await eventually(() => assert.match(answer(), isTooSlow));
  await eventually(() => socket.closed, { message: "the connection is closed, although bytes keep arriving" });
  assert.ok((await receivedOf(slow, id)) >= 100_000);
  await eventually(isNothingLeft);
  await goOn(slow, id);
});

test("a dripping form is 408 and leaves nothing", async (t) => {
  watchClosely(t);
  const { socket, answer } = open(t, testPerson(), formHead);
  socket.write(filePart);
  socket.write(photo.subarray(0, 100_000));
  await eventually(async () => !(await isNothingLeft()), { message: "the file waits for its end" });
  const dripping = setInterval(() => socket.write("x"), 20);
  t.after(() => clearInterval(dripping));
  await eventually(() => assert.match(answer(), isTooSlow));
  await eventually(isNothingLeft);
});

test("a slow but moving piece is 408 after a quarter of an hour", async (t) => {
  const who = testPerson();
  const id = await begin(who);
  watchClosely(t);
  const { socket, answer } = open(t, who, patchOf(id));
  let sent = 0;
  const moving = setInterval(() => {
    socket.write(photo.subarray(sent, sent + 1_000));
    sent += 1_000;
  }, 50);
  t.after(() => clearInterval(moving));
  await eventually(async () => (await receivedOf(who, id)) > 10_000);
  assert.equal(answer(), "");
  clock.advance(minutes(15));
  await eventually(() => assert.match(answer(), isTooSlow));
  await eventually(() => socket.closed);
  await eventually(isNothingLeft);
  watchAsUsual();
  await goOn(who, id);
});

test("on a full disk uploads are 503 until there is room again", async () => {
  const who = testPerson();
  const id = await begin(who);
  await disk.fill(200_000);
  const refused = await patch(who, id, 0);
  assert.deepEqual([refused.status, refused.body.error.code], [503, "unavailable"]);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.ok(images.context.logged.some(({ msg, level }) => level === "error" && /storing .* failed/.test(String(msg))));
  const received = await receivedOf(who, id);
  assert.ok(received > 0 && received <= 200_000, `the disk took ${received} bytes`);
  await eventually(isNothingLeft);

  await disk.free();
  assert.equal((await patch(who, id, received)).status, 204);
  await disk.fill(200_000);
  const early = await complete(who, id);
  assert.deepEqual([early.status, early.body.error.code], [503, "unavailable"]);
  await eventually(isNothingLeft);
  assert.deepEqual((await images.send(who, "GET", "/images")).body.items, []);
  assert.equal((await images.send(who, "GET", `/images/uploads/${id}`)).body.status, "open");

  await disk.free();
  const made = await complete(who, id);
  assert.deepEqual([made.status, made.body.sha256], [201, sha256Of(photo)]);
  await eventually(isNothingLeft);
});

interface SmallDisk {
  readonly folder: string;
  /** Leaves room for so many bytes. */
  fill(room: number): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates a file system that can be filled. Mounting one requires root; without it no file may grow beyond the
 * remaining room.
 */
async function openSmallDisk(): Promise<SmallDisk> {
  const parent = await mkdtemp(join(tmpdir(), "signalbox-small-disk-"));
  const folder = join(parent, "disk");
  await mkdir(folder);
  const removed = () => rm(parent, { recursive: true });
  if (process.getuid?.() !== 0) {
    const limit = (bytes: string) => run("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`]);
    const free = async () => void (await limit("unlimited"));
    return { folder, fill: async (room) => void (await limit(String(room))), free, close: removed };
  }
  await run("mount", ["-t", "tmpfs", "-o", "size=16m", "small", folder]);
  const filler = join(folder, "filler");
  return {
    folder,
    async fill(room) {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(filler, Buffer.alloc(bavail * bsize - room));
    },
    free: () => rm(filler),
    async close() {
      await run("umount", [folder]);
      await removed();
    },
  };
}

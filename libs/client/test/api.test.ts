import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createReceiver } from "@signalbox/testing";
import { createHome, json } from "./call.ts";

async function setUp(t: TestContext) {
  const receiver = await createReceiver(json({}));
  t.after(() => receiver.close());
  const { home, call } = await createHome(t);
  const environment = { SIGNALBOX_URL: receiver.url, SIGNALBOX_API_KEY: "key" };
  const api = (words: readonly string[], more: Parameters<typeof call>[1] = {}) =>
    call(["api", ...words], { environment, ...more });
  return { home, receiver, api };
}

test("fields become JSON, a query or a form, by the method or the files", async (t) => {
  const { home, receiver, api } = await setUp(t);
  const fields = [
    "-F",
    "size=3",
    "-F",
    "on=true",
    "-F",
    "none=null",
    "-F",
    'list=["a"]',
    "-f",
    "text=4",
    "-F",
    "id=007",
  ];
  await api(["PATCH", "/thing", ...fields, "-F", "tag=a", "-F", "tag=b", "-H", 'If-Match: "1"']);
  const [{ method, headers, body } = assert.fail()] = receiver.requests;
  assert.deepEqual([method, headers["content-type"], headers["if-match"]], ["PATCH", "application/json", '"1"']);
  const expected = { size: 3, on: true, none: null, list: ["a"], text: "4", id: "007", tag: ["a", "b"] };
  assert.deepEqual(JSON.parse(body.toString()), expected);

  receiver.clear();
  await api(["get", "/things?x=1", "-f", "limit=2", "-F", "q=a b"]);
  await writeFile(join(home, "photo.jpg"), "bytes");
  await api(["/images", "-F", `file=@${join(home, "photo.jpg")}`, "-f", "title=@home"]);
  await api(["/raw", "--input", "-"], { stdin: "as it is" });
  const [query, form, raw] = receiver.requests;
  assert.deepEqual([query?.method, query?.path], ["GET", "/things?x=1&q=a+b&limit=2"]);
  assert.match(form?.headers["content-type"] ?? "", /^multipart\/form-data/);
  assert.match(
    form?.body.toString() ?? "",
    /name="file"; filename="photo.jpg"[\s\S]*bytes[\s\S]*name="title"\r\n\r\n@home/,
  );
  assert.deepEqual([raw?.method, raw?.body.toString()], ["POST", "as it is"]);
});

test("a number in a field is sent with the digits with which it was given", async (t) => {
  const { receiver, api } = await setUp(t);
  const fields = ["-F", "id=9007199254740993", "-F", "price=1.10", "-F", "list=[820982911946154508, -0]"];
  await api(["/things", ...fields]);
  await api(["GET", "/things", ...fields]);
  const [sent, asked] = receiver.requests;
  assert.equal(sent?.body.toString(), '{"id":9007199254740993,"price":1.10,"list":[820982911946154508,-0]}');
  assert.equal(asked?.path, "/things?id=9007199254740993&price=1.10&list=820982911946154508%2C-0");
});

test("every page of a list is read with its filters, one item a line", async (t) => {
  const { receiver, api } = await setUp(t);
  receiver.answerNext(json({ items: [1, { a: "\u009b" }], next_cursor: "c/1" }), json({ items: [3], has_more: false }));
  const { stdout, exitCode } = await api(["/things", "-f", "status=x", "--paginate"]);
  assert.deepEqual([stdout, exitCode], ['1\n{"a":"\\u009b"}\n3\n', 0]);
  assert.deepEqual(
    receiver.requests.map(({ path }) => path),
    ["/things?status=x", "/things?status=x&cursor=c%2F1"],
  );
  assert.match((await api(["/things", "--paginate"])).stderr, /is not a list/);
});

test("a pipe gets the bytes of an answer, a terminal only safe text", async (t) => {
  const { receiver, api } = await setUp(t);
  const bytes = Buffer.from('{"a":"\u009b"}');
  receiver.answer({ headers: { "content-type": "application/json" }, body: bytes });
  assert.equal((await api(["/x"])).stdout, bytes.toString());
  assert.equal((await api(["/x"], { isTerminal: true })).stdout, '{\n  "a": "\\u009b"\n}\n');
  receiver.answer({ headers: { "content-type": "text/plain" }, body: "a\n\u001b[2J" });
  assert.equal((await api(["/x"], { isTerminal: true })).stdout, "a\n\\u001b[2J\n");
  receiver.answer({ headers: { "content-type": "image/png" }, body: "\u0089PNG" });
  assert.match((await api(["/x"], { isTerminal: true })).stderr, /would garble the terminal/);
  assert.match((await api(["/x", "-i"])).stdout, /^HTTP 200 OK\n[\s\S]*content-type: image\/png\n[\s\S]*\n\n/);
});

test("a dry run shows the request without sending it, credentials left out", async (t) => {
  const { receiver, api } = await setUp(t);
  const { stdout } = await api(["DELETE", "/things/1", "-F", "reason=x", "--dry-run"]);
  assert.equal(stdout, 'DELETE /things/1\ncontent-type: application/json\n\n{"reason":"x"}\n');
  assert.equal(receiver.requests.length, 0);
});

test("a request that cannot be meant is explained before anything is sent", async (t) => {
  const { receiver, api } = await setUp(t);
  for (const [words, reason] of [
    [["GET"], /Name the path of a route/],
    [["GET", "//elsewhere.example/x"], /Name the path of a route/],
    [["FETCH", "/x"], /Method FETCH/],
    [["/x", "-F", "nothing"], /Invalid field "nothing"/],
    [["/x", "-H", "nothing"], /Invalid header "nothing"/],
    [["/x", "-F", "file=@/does/not/exist"], /cannot be read/],
    [["/x", "-F", `file=@${tmpdir()}`], /cannot be read/],
    [["/x", "--input", "/does/not/exist"], /cannot be read/],
    [["POST", "/x", "--paginate"], /use it with GET/],
  ] as const) {
    const { exitCode, stderr } = await api(words);
    assert.deepEqual([exitCode, receiver.requests.length], [2, 0], stderr);
    assert.match(stderr, reason);
  }
});

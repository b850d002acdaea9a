import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { compareOutput, writeOutput } from "./generator.ts";
import { columnsOf } from "./generators/table-columns.ts";

const base = await mkdtemp(join(tmpdir(), "signalbox-output-"));
after(() => rm(base, { recursive: true }));

test("a missing or edited generated file is listed until it is rewritten", async () => {
  const output = new Map([
    ["one/a.json", "a\n"],
    ["one/deep/b.json", "b\n"],
  ]);
  assert.deepEqual(await writeOutput(output, ["one"], base), ["one/a.json", "one/deep/b.json"]);
  assert.deepEqual(await compareOutput(output, ["one"], base), []);

  await writeFile(join(base, "one/a.json"), "edited\n");
  assert.deepEqual(await compareOutput(output, ["one"], base), ["one/a.json"]);
  await writeOutput(output, ["one"], base);
  assert.equal(await readFile(join(base, "one/a.json"), "utf8"), "a\n");
});

test("a .br file is stored compressed but compared by its content", async () => {
  const output = new Map([["kept.json.br", "a".repeat(10_000)]]);
  await writeOutput(output, [], base);
  assert.ok((await readFile(join(base, "kept.json.br"))).length < 100);
  assert.deepEqual(await compareOutput(output, [], base), []);
  assert.deepEqual(await compareOutput(new Map([["kept.json.br", "b"]]), [], base), ["kept.json.br"]);
});

test("a file no longer generated is removed, from folders of generated files only", async () => {
  await writeOutput(new Map([["two/old.json", "old\n"]]), ["two"], base);
  const output = new Map([["two/new.json", "new\n"]]);
  assert.deepEqual(await compareOutput(output, [], base), ["two/new.json"]);
  assert.deepEqual(await writeOutput(output, ["two"], base), ["two/new.json", "two/old.json"]);
  await assert.rejects(readFile(join(base, "two/old.json")), { code: "ENOENT" });
});

test("columns, unlike relations, have a domain name and a PostgreSQL type", () => {
  const schema = `
/// A parcel.
model Parcel {
  id        String    @id
  /// Grams.
  weight    Int       @default(1)
  senderId  String?   @map("sender_id") @db.Uuid
  tags      String[]
  sentAt    DateTime? @map("sent_at") @db.Timestamptz(3)
  sender    Person?   @relation(fields: [senderId], references: [id])

  @@index([senderId])
  @@map("parcels")
}

model Person {
  id      String   @id
  parcels Parcel[]

  @@map("people")
}
`;
  assert.deepEqual(columnsOf(schema), {
    parcels: { id: "text", weight: "int4", senderId: "uuid", tags: "text[]", sentAt: "timestamptz" },
    people: { id: "text" },
  });
  assert.throws(() => columnsOf(schema.replace("Int       @", "Colour    @")), /no column type is known for Colour/);
});

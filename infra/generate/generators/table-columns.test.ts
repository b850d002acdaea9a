import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf } from "./table-columns.ts";

test("each column of a model has its domain name and its PostgreSQL type; relations are none", () => {
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

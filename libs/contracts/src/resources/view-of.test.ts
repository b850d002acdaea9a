import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { viewOf } from "./view-of.ts";

interface Row {
  readonly id: string;
  readonly endsAt: Date | null;
  readonly createdAt: Date;
  readonly digest: Buffer;
}

const Resource = z.object({
  id: z.string(),
  status: z.enum(["active", "ended"]),
  created_at: z.string(),
  ends_at: z.string().nullable(),
  note: z.string().optional(),
});

const view = viewOf(Resource, ({ endsAt }: Row, now: Date) => ({
  status: endsAt !== null && endsAt <= now ? ("ended" as const) : ("active" as const),
}));

test("a view holds the members of its resource alone, in the order of the schema", () => {
  const row = { digest: Buffer.from("secret"), endsAt: null, createdAt: new Date(0), id: "one" };
  const shown = { id: "one", status: "active", created_at: "1970-01-01T00:00:00.000Z", ends_at: null };
  assert.equal(JSON.stringify(view(row, new Date(1))), JSON.stringify(shown));
});

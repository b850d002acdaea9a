import { test } from "node:test";
import { expectRepelled } from "./expect-repelled.ts";

test("embedded: every attack of every table is repelled, and its control succeeds", () => expectRepelled("embedded"));

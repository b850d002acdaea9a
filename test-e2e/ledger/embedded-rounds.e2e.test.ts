import { test } from "node:test";
import { playRounds } from "./rounds-of-the-day.ts";

test("ten rounds of faults on what `npm start` runs break no promise", (t) => playRounds(t, "embedded", 10));

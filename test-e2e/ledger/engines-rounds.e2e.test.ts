import { test } from "node:test";
import { playRounds } from "./rounds-of-the-day.ts";

test("eight rounds of faults on two instances of each service and three brokers break no promise", (t) =>
  playRounds(t, "engines", 8));

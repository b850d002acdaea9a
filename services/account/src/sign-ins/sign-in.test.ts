import assert from "node:assert/strict";
import { test } from "node:test";
import { browserNameOf } from "./sign-in.ts";

const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)";
const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";

test("browsers and systems are told by their names, and nothing else of the header is shown", () => {
  const named: readonly (readonly [userAgent: string | undefined, name: string | null])[] = [
    ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox, Linux"],
    [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36`, "Chrome, Windows"],
    [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, "Edge, Windows"],
    [`Mozilla/5.0 (Linux; Android 15; K) ${webkit} Chrome/142.0.0.0 Mobile Safari/537.36`, "Chrome, Android"],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
      "Safari, iOS",
    ],
    ["curl/8.11.0", null],
    ["Buy at evil.example", null],
    [`${"x".repeat(600)} Firefox/1`, null],
    ["", null],
    [undefined, null],
  ];
  for (const [userAgent, name] of named) assert.equal(browserNameOf(userAgent), name, userAgent);
});

import { writeDurably } from "./durable-file.ts";

/** Replaces one file for ever, each time with `<number> <that many letters>`, until it is killed. */
const file = process.argv[2] as string;
console.log("writing");
for (let number = 1; ; number++) await writeDurably(file, `${number} ${"x".repeat(number % 4096)}\n`);

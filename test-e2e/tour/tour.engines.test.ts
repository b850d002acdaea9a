import { test } from "node:test";
import { cloneRepository } from "./clone.ts";
import { follow, newReader } from "./reader.ts";

for (const shell of ["bash", "zsh"] as const) {
  test(`a reader with a fresh ${shell} gets from the tour of the README to the first event`, async () => {
    await using stack = new AsyncDisposableStack();
    const clone = await cloneRepository();
    stack.defer(() => clone.remove());
    const reader = await newReader(stack, clone, { shell });
    await follow("README.md", reader);
    await follow("docs/how-to/get-started.md", reader);
  });
}

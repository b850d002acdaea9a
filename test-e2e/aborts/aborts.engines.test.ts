import { after, before, test } from "node:test";
import { environment } from "@signalbox/runtime";
import { createRandom } from "../ledger/random.ts";
import { runCourse } from "./course.ts";
import { expectNothingLeft } from "./nothing-left.ts";
import { type AbortScene, openAbortScene } from "./scene.ts";
import { strangers } from "./strangers.ts";

/** `TEST_ABORTS_SEED` repeats a failure; `npm run aborts` goes on with the last test for as long as it is told. */
const seed = environment().TEST_ABORTS_SEED ?? String(Date.now());
const opened = new AsyncDisposableStack();
let scene: AbortScene;

before(async () => {
  scene = await openAbortScene(opened);
});
after(() => opened.disposeAsync());

for (const stranger of strangers) {
  test(`nothing stays of a client that ${stranger.name}`, async (t) => {
    t.diagnostic(`TEST_ABORTS_SEED=${seed}`);
    await stranger.visit(scene, createRandom(`${seed}/${stranger.name}`));
    await expectNothingLeft(scene);
  });
}

test("nothing stays of clients that leave any operation or stream at any byte", async (t) => {
  t.diagnostic(`TEST_ABORTS_SEED=${seed}`);
  await runCourse(scene, { seed, isOver: () => true, print: (line) => t.diagnostic(line) });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@signalbox/testing";
import { sharedEngines } from "./engines.ts";
import { startOwnEngine } from "./own-engines.ts";

for (const engine of sharedEngines) {
  test(`${engine.name} can be paused, killed and started again on its port`, async () => {
    const own = await startOwnEngine(engine);
    try {
      await eventually(() => engine.answers(own.port), { message: "it answers once it is started" });
      await own.pause();
      assert.equal(await engine.answers(own.port), false, "a paused engine is silent");
      await own.resume();
      await eventually(() => engine.answers(own.port), { message: "it answers after the pause" });
      await own.kill();
      assert.equal(await engine.answers(own.port), false, "a killed engine is gone");
      await own.restart();
      await eventually(() => engine.answers(own.port), { message: "it answers after the restart" });
    } finally {
      await own.close();
    }
    assert.equal(await engine.answers(own.port), false, "a closed engine is gone");
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { plainForm } from "./choose-rendition.ts";
import { mayTransform, widthLadder } from "./public-forms.ts";

const judged = (text: string) => {
  const given = [...new URLSearchParams(text)].map(([name, value]) => [name, /^\d+$/.test(value) ? +value : value]);
  const form = { ...plainForm, ...Object.fromEntries(given) };
  return [mayTransform("any", form), mayTransform("named", form), mayTransform("signed", form)];
};

test("the forms of the record are always shown, the ladder unless signed, everything else for any only", () => {
  const ofRecord = [
    "",
    "v=abc",
    "width=200&height=200&fit=cover",
    "width=480",
    "width=1920&v=abc",
    "dpr=1",
    "transformation=card&v=a-1",
  ];
  const onLadder = [...widthLadder.filter((width) => ![480, 960, 1920].includes(width))].map(
    (width) => `width=${width}`,
  );
  const asFormat = ["format=webp", "width=480&format=avif", "width=640&format=jpeg", "transformation=card&format=png"];
  const chosen = [
    ...["width=481", "height=480", "width=480&height=480", "width=480&fit=cover", "width=200&height=200", "fit=fill"],
    ...["width=480&quality=1", "width=480&dpr=2", "enlarge=true", "gravity=attention", "background=ffffff"],
    ...["metadata=copyright", "transformation=card&dpr=2"],
  ];
  for (const text of ofRecord) assert.deepEqual(judged(text), [true, true, true], text);
  for (const text of [...onLadder, ...asFormat]) assert.deepEqual(judged(text), [true, true, false], text);
  for (const text of chosen) assert.deepEqual(judged(text), [true, false, false], text);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseExactly, roundedNumber } from "./exact-json.ts";
import { createOutput, cut, printable, printableJson, widthOf } from "./output.ts";

/** Moves the cursor, sets the title of the window, 8-bit CSI, right-to-left override, a hidden tag, a line separator. */
const hostile = "a\u001b[2Jb\u001b]0;c\u0007\u009b31m\u202ed\u{e0041}\u2028";

test("control characters from outside are shown, not obeyed", () => {
  const shown = printable(hostile);
  assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  assert.equal(shown, "a\\u001b[2Jb\\u001b]0;c\\u0007\\u009b31m\\u202ed\\udb40\\udc41\\u2028");
});

test("escaped JSON is the same document", () => {
  const document = { [hostile]: [hostile, "plain", 1, null] };
  for (const indent of [0, 2]) {
    const text = printableJson(document, indent);
    assert.deepEqual(JSON.parse(text), document);
    assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
});

test("a table stays aligned within the terminal, wide characters included", () => {
  const written: string[] = [];
  const stdout = { write: (text: string) => written.push(text), isTTY: true, columns: 24 };
  const output = createOutput({ stdout, stderr: stdout, json: false, environment: { NO_COLOR: "1" } });
  output.table(
    ["A", "B"],
    [
      ["日本", "a long text that does not fit"],
      ["x", hostile],
    ],
  );
  assert.deepEqual(written.slice(0, 2), ["A     B\n", "日本  a long text that …\n"]);
  for (const line of written) {
    assert.ok(widthOf(line.trimEnd()) <= 24, line);
    assert.doesNotMatch(line.trimEnd(), /\p{Cc}/u);
  }
  assert.equal(cut("日本語", 5), "日本…");
});

test("colours need a terminal, and NO_COLOR or TERM=dumb disables them", () => {
  const styled = (isTTY: boolean, environment: Record<string, string>) => {
    const stdout = { write: () => true, isTTY };
    return createOutput({ stdout, stderr: stdout, json: false, environment }).style("red", "x");
  };
  assert.equal(styled(true, {}), "\u001b[31mx\u001b[0m");
  assert.deepEqual(
    [styled(false, {}), styled(true, { NO_COLOR: "1" }), styled(true, { TERM: "dumb" })],
    ["x", "x", "x"],
  );
});

test("numbers are printed as they were written", () => {
  const text = '{"a":[9007199254740993,1.10,-0,1e400,"1.10"]}';
  assert.equal(printableJson(parseExactly(text)), text);
});

test("a number that a double rounds is found outside of texts", () => {
  assert.equal(
    roundedNumber('{"a":[1.10,-0,0.1,1e3,1E-7,100000000000000000000,123456789.123],"b":"9007199254740993"}'),
    null,
  );
  for (const source of ["9007199254740993", "-4566206088344615922", "1e400", "0.12345678901234567891"])
    assert.deepEqual(roundedNumber(`{\n"a": ${source}}`), { source, line: 2 });
});

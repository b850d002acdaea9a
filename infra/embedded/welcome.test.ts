import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { publicLinksAt } from "@signalbox/gateway-service/front-links";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { welcome } from "./welcome.ts";

test("the banner ends with what to open first, within 24 lines of 80 columns", () => {
  const baseUrl = "http://127.0.0.1:8080";
  const managementUrl = "http://127.0.0.1:8081";
  const text = welcome(
    {
      baseUrl,
      links: [...publicLinksAt(baseUrl), { name: "Management", url: `${managementUrl}/management/health/ready` }],
      apiKey: `sbx_dev_${"a".repeat(43)}`,
      apiKeyFile: join(repositoryFolder, ".signalbox/first-key"),
      replaced: true,
      startMs: 2_345,
    },
    repositoryFolder,
  );
  const lines = text.trimEnd().split("\n");
  assert.ok(lines.length <= 24, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length <= 80, line);
  assert.equal(lines[0], baseUrl);
  assert.match(lines.at(-1) ?? "", /^Open http:\/\/127\.0\.0\.1:8080 in a browser first/);
});

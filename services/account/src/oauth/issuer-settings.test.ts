import assert from "node:assert/strict";
import { test } from "node:test";
import { parseApplications } from "./issuer-settings.ts";

const one = { client_id: "console", name: "Console", redirect_uris: ["https://console.example/back"] };
const parse = (...applications: object[]) => parseApplications(JSON.stringify(applications));

test("an application is read, and has no address to go to after a sign-out unless it names one", () => {
  assert.deepEqual(parse(one), [{ ...one, post_logout_redirect_uris: [] }]);
});

test("a browser is sent back to https, to this machine, or to a scheme of the application's own", () => {
  const redirect = (uri: string) => () => parse({ ...one, redirect_uris: [uri] });
  for (const good of ["https://a.example/x?y=1", "http://127.0.0.1/", "http://[::1]/x", "org.example.app:/back"]) {
    assert.doesNotThrow(redirect(good), good);
  }
  for (const bad of ["http://a.example/", "javascript:alert(1)", "data:text/html,x", "https://a.example/#x", "x"]) {
    assert.throws(redirect(bad), /account\.oauth\.applications is wrong: 0\.redirect_uris\.0/, bad);
  }
});

test("a wrong list stops the start with what is wrong", () => {
  assert.throws(() => parseApplications("["), /not JSON/);
  assert.throws(() => parse(one, one), /duplicate client_id/);
  assert.throws(() => parse({ ...one, client_id: "A B" }), /0\.client_id/);
  assert.throws(() => parse({ ...one, secret: "x" }), /wrong/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { metadataOfApplication } from "../identity/application-clients.ts";
import { builtInApplications, parseApplications } from "./application.ts";

const one = { client_id: "desk", name: "Console", redirect_uris: ["https://console.example/back"] };
const parse = (...applications: object[]) => parseApplications(JSON.stringify(applications));

test("an application is read, and has no address to go to after a sign-out unless it names one", () => {
  const [{ id, redirectUris, postLogoutRedirectUris, type } = { id: "" }] = parse(one);
  assert.deepEqual([id, redirectUris, postLogoutRedirectUris, type], ["desk", one.redirect_uris, [], "browser"]);
});

test("a browser is sent back to https, to this machine, or to a scheme of the application's own", () => {
  const redirect = (uri: string) => () => parse({ ...one, redirect_uris: [uri] });
  for (const good of ["https://a.example/x?y=1", "http://127.0.0.1/", "http://[::1]/x", "org.example.app:/back"]) {
    assert.doesNotThrow(redirect(good), good);
  }
  for (const bad of [
    "http://a.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://a.example/#x",
    "https://u:p@a.example/",
    "https://*.a.example/",
    "https://a.*.example/",
    "https://a.example/x y",
    "x",
    "",
  ]) {
    assert.throws(redirect(bad), /account\.oauth\.applications is wrong: 0\.redirect_uris\.0/, bad);
  }
});

test("a redirect with a blank is refused by that reason, whether the blank is in it or around it", () => {
  for (const uri of [
    " https://a.example/",
    "https://a.example/ ",
    "https://a.example/\n",
    "https://a.example/x y",
    " ",
  ]) {
    assert.throws(
      () => parse({ ...one, redirect_uris: [uri] }),
      /0\.redirect_uris\.0: a redirect must not contain spaces/,
      uri,
    );
  }
});

test("a wrong list stops the start with what is wrong", () => {
  assert.throws(() => parseApplications("["), /not JSON/);
  assert.throws(() => parse(one, one), /duplicate client_id/);
  assert.throws(() => parse({ ...one, client_id: "A B" }), /0\.client_id/);
  for (const id of ["console", "cli"])
    assert.throws(() => parse({ ...one, client_id: id }), /console and cli are built in/);
  assert.throws(() => parse({ ...one, secret: "x" }), /wrong/);
});

test("the console returns to its own address, the documents and GraphiQL only, without another port, wherever the deployment is", () => {
  const [own] = builtInApplications("http://localhost:3000");
  assert.ok(own);
  assert.deepEqual(own.redirectUris, [
    "http://localhost:3000/console/callback",
    "http://localhost:3000/docs/api",
    "http://localhost:3000/graphql/signed-in",
  ]);
  assert.equal(metadataOfApplication(own).application_type, "web");
});

test("the command line signs in by a code that its user types elsewhere, and has no address to return to", () => {
  const [, own] = builtInApplications("https://signalbox.example");
  assert.ok(own);
  const { grant_types, redirect_uris, response_types } = metadataOfApplication(own);
  assert.deepEqual(grant_types, ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]);
  assert.deepEqual([redirect_uris, response_types], [[], []]);
});

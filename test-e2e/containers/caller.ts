import assert from "node:assert/strict";
import { readFixture } from "@signalbox/testing";
import { photoForm } from "../journey/client.ts";

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

/** A caller of a deployed system, with a key. */
export interface Caller {
  api(path: string, init?: RequestInit): Promise<Answer>;
  /** Uploads a photograph and returns its id. */
  upload(): Promise<string>;
  isRendered(id: string): Promise<boolean>;
  query(text: string): Promise<unknown>;
}

/** Addresses may differ by service: a system without an edge has one for each. */
export function createCaller(urlOf: (service: "images" | "gateway" | "account") => string, key: string): Caller {
  async function call(url: string, init: RequestInit = {}): Promise<Answer> {
    const headers = { "x-api-key": key, ...(typeof init.body === "string" && { "content-type": "application/json" }) };
    const answer = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(30_000) });
    return { status: answer.status, json: (await answer.json().catch(() => ({}))) as Record<string, unknown> };
  }
  return {
    api: (path, init) => call(`${urlOf(path.startsWith("/images") ? "images" : "account")}${path}`, init),
    async upload() {
      const body = photoForm(await readFixture("photo.jpg"));
      const { status, json } = await call(`${urlOf("images")}/images`, { method: "POST", body });
      assert.equal(status, 201, JSON.stringify(json));
      return String(json.id);
    },
    isRendered: async (id) => (await call(`${urlOf("images")}/images/${id}`)).json.status === "ready",
    async query(text) {
      const body = JSON.stringify({ query: text });
      const { json } = await call(`${urlOf("gateway")}/graphql`, { method: "POST", body });
      return json.data;
    },
  };
}

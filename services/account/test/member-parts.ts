import assert from "node:assert/strict";
import { scopesOfRole } from "@signalbox/contracts";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { bearer } from "./oauth-fixture.ts";
import { createVisitor, passThrough, startSignIn, type Visitor } from "./oauth-visitor.ts";

export type Headers = Record<string, string>;
export const scope = ["openid", "offline_access", ...scopesOfRole("owner")].join(" ");

/** People of accounts of one instance, and what they do. */
export function peopleOf(account: Harness) {
  const send = (method: string, path: string, headers: Headers, body?: object) =>
    account.send(method, path, { headers, body });
  const invite = (headers: Headers, role: string) =>
    send("POST", "/api/v1/invitations/", headers, { account_id: "mine", role });
  return { send, invite, person, accept, joined };

  /** A person with an account of their own, in a browser that is signed in. */
  async function person() {
    const address = `${crypto.randomUUID()}@example.org`;
    const visitor = createVisitor(account);
    const { configuration, url, finish } = await startSignIn(account, { scope });
    const tokens = await finish(await passThrough(visitor, account, url, address));
    const headers: Headers = bearer(tokens.access_token);
    const id: string = (await send("GET", "/api/account/", headers)).body.id;
    /** A token that acts for an account, from the refresh token of the latest. */
    let refreshToken = tokens.refresh_token ?? "";
    const refresh = async (more: Headers = {}) => {
      const next = await openid.refreshTokenGrant(configuration, refreshToken, more);
      refreshToken = next.refresh_token ?? "";
      return next;
    };
    return { address, visitor, headers, id, refresh };
  }

  async function accept({ visitor }: { readonly visitor: Visitor }, url: string) {
    return visitor.submit(await visitor.open(new URL(url)), {}, "accept");
  }

  /** An account, and a person who has joined it. */
  async function joined(role: string) {
    const [owner, member] = [await person(), await person()];
    const { status, body } = await invite(owner.headers, role);
    assert.equal(status, 201, JSON.stringify(body));
    assert.match((await accept(member, body.url)).text, /The invitation is accepted/);
    const acting: Headers = bearer((await member.refresh({ account: owner.id })).access_token);
    const [row] = (await send("GET", "/api/account/members/", owner.headers)).body.items;
    return { owner, member, acting, row, invitation: body };
  }
}

export type People = ReturnType<typeof peopleOf>;

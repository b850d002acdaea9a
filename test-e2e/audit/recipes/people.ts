import type { Headers } from "../world.ts";
import { type Attempt, graph, type Recipe, type Recipes, rest } from "./attempt.ts";

const invitations = "/api/v1/invitations/";
const customer = { display_name: "Customer", key: { name: "first", scopes: ["account:read"] } };

/** An address that nobody was invited by. */
const invited = () => ({ address: `${crypto.randomUUID()}@example.org` });

/** A write to a new invitation. */
const invitation =
  (make: (administrator: { readonly headers: Headers }, id: string) => Attempt): Recipe =>
  async ({ administrator: headers, send }) =>
    make({ headers }, (await send(headers, invitations, { body: invited() })).json.id);

/** Recipes of the writes by which administrators bring people in. */
export const peopleRecipes: Recipes = {
  "POST /api/accounts/": async ({ administrator: headers }) => rest({ headers }, "POST", "/api/accounts/", customer),
  "Mutation.createAccount": async ({ administrator: headers }) =>
    graph({ headers }, "createAccount", "CreateAccountInput", { displayName: "Customer", key: customer.key }),
  "POST /api/v1/invitations/": async ({ administrator: headers }) => rest({ headers }, "POST", invitations, invited()),
  "POST /api/v1/invitations/{invitation_id}/resend": invitation((by, id) =>
    rest(by, "POST", `${invitations}${id}/resend`),
  ),
  "DELETE /api/v1/invitations/{invitation_id}": invitation((by, id) => rest(by, "DELETE", `${invitations}${id}`)),
  "Mutation.createInvitation": async ({ administrator: headers }) =>
    graph({ headers }, "createInvitation", "CreateInvitationInput", invited()),
  "Mutation.resendInvitation": invitation((by, id) => graph(by, "resendInvitation", "ResendInvitationInput", { id })),
  "Mutation.revokeInvitation": invitation((by, id) => graph(by, "revokeInvitation", "RevokeInvitationInput", { id })),
};

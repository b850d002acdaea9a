import { dataOf } from "../../answers.ts";
import { connect, findAccess } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { UsageError } from "../failures.ts";
import { withProfile } from "../profiles.ts";
import { refresh } from "../sign-in.ts";

/** An account that a person may act for, with their role in it. */
interface Choice {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

/** Lists the accounts of the signed-in person, or goes on with a token for one of them. */
export async function run(context: Context, { args: [wanted] }: Input<object>): Promise<void> {
  const { output } = context;
  const { client } = await connect(context);
  const { account_id: current, person_id: own } = await dataOf(client.GET("/api/account/credential"));
  if (own === null) throw new UsageError("Only a signed-in person can switch accounts. Run: signalbox login");
  const { items } = await dataOf(client.GET("/api/account/memberships", { params: { query: { limit: 100 } } }));
  const others = items.map(({ account_id: id, account_name: name, role }) => ({ id, name, role }));
  const choices: readonly Choice[] = [{ id: own, name: "own", role: "owner" }, ...others];
  const chosen = choices.find(({ id }) => id === (wanted === "own" ? own : (wanted ?? current)));
  if (!chosen) throw new UsageError(`You are not a member of ${wanted}. Run: signalbox switch`);
  if (wanted === undefined) {
    const rows = choices.map(({ id, name, role }) => [id === current ? "*" : "", id, role, name]);
    output.table(["", "Account", "Role", "Name"], rows);
  } else {
    await actFor(context, chosen.id);
    output.line(`You now act for ${chosen.id} as ${chosen.role}.`);
  }
  output.document({ account_id: chosen.id, accounts: choices });
}

/** The refresh token remembers the account, so nothing else is kept here. */
async function actFor(context: Context, account: string): Promise<void> {
  const { profile: name } = await findAccess(context);
  await context.profiles.change(async (file) => {
    const profile = file.profiles[name];
    if (profile?.credential.kind !== "sign-in") throw new UsageError(`The profile "${name}" has no sign-in.`);
    const credential = await refresh(profile.credential, context.nowMs, account);
    return [withProfile(file, name, { ...profile, credential }), null];
  });
}

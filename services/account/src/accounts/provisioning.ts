import { inTransaction, type Tx } from "@signalbox/storage";
import type { Shared } from "../shared.ts";
import type { Account } from "./account.ts";
import { accountCreated } from "./account-events.ts";
import type { Identity } from "./account-store.ts";
import { type FirstValues, firstAccount, type ProfileClaims } from "./first-account.ts";

interface ProvisioningDependencies
  extends Pick<Shared, "pool" | "accounts" | "verifiedAddresses" | "outbox" | "audit" | "clock"> {
  /** Called for each new account, because the supported locales are a live property. */
  readonly firstValues: () => FirstValues;
}

interface NewAccount {
  readonly claims: ProfileClaims;
  /** The login that the account belongs to. */
  readonly identityOf: (account: Account) => Identity;
  /** The id of the presented credential, for the audit. */
  readonly credential: string;
}

interface FirstUse extends Pick<NewAccount, "claims" | "credential"> {
  readonly identity: Identity;
}

export type Provisioning = ReturnType<typeof createProvisioning>;

/** Creates accounts at the first use of a login. */
export function createProvisioning(dependencies: ProvisioningDependencies) {
  const { pool, accounts, outbox, audit } = dependencies;

  return {
    create,

    /**
     * Returns the account of a login, creating it at the first use. Only then do the claims count: later the owner
     * decides.
     */
    async provision({ identity, claims, credential }: FirstUse): Promise<Account> {
      const known = await accounts.findByIdentity(identity);
      if (known) return known;
      try {
        return await inTransaction(pool, (tx) => create(tx, { claims, credential, identityOf: () => identity }));
      } catch (error) {
        const winner = error instanceof CreatedMeanwhile ? await accounts.findByIdentity(identity) : null;
        if (winner) return winner;
        throw error;
      }
    },
  };

  /** Creates the account of a login that has none. @throws CreatedMeanwhile when another transaction was first. */
  async function create(tx: Tx, { claims, identityOf, credential }: NewAccount): Promise<Account> {
    const account = await newAccount(tx, claims, dependencies);
    if (!(await accounts.insert(tx, account, identityOf(account)))) throw new CreatedMeanwhile();
    const by = { kind: "owner", accountId: account.id, credential, address: null, requestId: null } as const;
    await audit.record(tx, by, { action: "account.create" });
    await outbox.append(tx, [accountCreated(account)]);
    return account;
  }
}

/** An address that another account has verified is not taken over, whatever the issuer claims. */
async function newAccount(
  tx: Tx,
  claims: ProfileClaims,
  { firstValues, verifiedAddresses, clock }: ProvisioningDependencies,
): Promise<Account> {
  const account = firstAccount(claims, firstValues(), clock.now());
  const { id, contactAddress } = account;
  const isTaken = contactAddress !== null && (await verifiedAddresses.holderOf(tx, contactAddress, id)) !== null;
  return isTaken ? { ...account, contactAddress: null, contactAddressVerified: false } : account;
}

/** Thrown at two simultaneous first uses: the second one rolls back and takes the account of the first. */
class CreatedMeanwhile extends Error {
  override readonly name = "CreatedMeanwhile";
}

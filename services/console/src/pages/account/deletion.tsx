import { useQuery } from "@tanstack/react-query";
import { Answer } from "../../parts/answer.tsx";
import { FormAction } from "../../parts/form.tsx";
import { Pairs, Panel } from "../../parts/page.tsx";
import { api, useCredential, versioned } from "../../session/api.ts";
import { forgetSession } from "../../session/session.ts";
import { accountQuery } from "./account.ts";

/** The two ends of an account: disabled, which an administrator undoes on request, and deleted. */
export const Deletion = () => (
  <>
    <Panel title="Disable the account" actions={<Disable />}>
      <p>
        Nothing is lost, and nothing works: no key, no client, no delivery. You can still sign in, read the account and
        ask to have it back. Only an administrator of this deployment makes it active again.
      </p>
    </Panel>
    <Panel title="Delete the account" actions={<Delete />}>
      <p>
        Every credential stops working at once, yours included. An administrator can undo it for a time; then the
        personal data, keys, images, endpoints and sources are erased for good.
      </p>
      <Preview />
    </Panel>
  </>
);

/** Counts of a list up to which a number is exact. */
const countedMax = 100;

interface Counted {
  readonly items: readonly unknown[];
  readonly has_more: boolean;
}

const countText = ({ items, has_more }: Counted): string => (has_more ? `more than ${countedMax}` : `${items.length}`);

/** Reads a page of each list that goes with the account, as far as the scopes allow. */
async function readPreview(scopes: readonly string[]) {
  const limit = { limit: countedMax };
  const lists: ReadonlyArray<readonly [scope: string, name: string, read: () => PromiseLike<Counted>]> = [
    ["account:read", "API keys", () => api.apiKeys.list(limit)],
    ["account:read", "Service clients", () => api.serviceClients.list(limit)],
    ["account:read", "Passkeys", () => api.passkeys.list(limit)],
    ["images:read", "Images", () => api.images.list(limit)],
    ["webhooks:read", "Endpoints", () => api.webhookEndpoints.list(limit)],
    ["webhooks:read", "Sources", () => api.webhookSources.list(limit)],
  ];
  const shown = lists.filter(([scope]) => scopes.includes(scope));
  return Promise.all(shown.map(async ([, name, read]) => [name, countText(await read())] as const));
}

function Preview() {
  const { data: credential } = useCredential();
  const scopes = credential?.scopes ?? [];
  const preview = useQuery({ queryKey: ["deletion-preview", scopes], queryFn: () => readPreview(scopes) });
  return (
    <Answer query={preview} what="preview">
      {(counts) => (
        <>
          <h3>It would take along</h3>
          <Pairs items={counts} />
        </>
      )}
    </Answer>
  );
}

const Disable = () => (
  <FormAction
    label="Disable …"
    title="Disable the account"
    submitLabel="Disable the account"
    isDanger
    what="account"
    initial={{ reason: "" }}
    fields={{
      reason: {
        label: "Reason",
        hint: "Shown with the account, in refusals and in the audit. It may be empty.",
        rows: 3,
        maxLength: 500,
        isProse: true,
      },
    }}
    run={({ reason }) =>
      versioned(api.POST("/api/account/status", { body: { status: "disabled", reason: reason.trim() || null } }))
    }
  >
    <p>Deliveries stop, and every key and client is refused until an administrator makes the account active again.</p>
  </FormAction>
);

function Delete() {
  const account = useQuery(accountQuery);
  const name = account.data?.data.display_name;
  return (
    <FormAction
      label="Delete …"
      isDisabled={name === undefined}
      title="Delete the account"
      submitLabel="Delete the account"
      isDanger
      what="account"
      initial={{ name: "" }}
      fields={{ name: { label: `Type ${name} to go on`, required: true } }}
      isReady={(typed) => typed.name.trim() === name}
      run={() => versioned(api.DELETE("/api/account"))}
      onDone={() => forgetSession("The account is deleted. An administrator can undo that for a time.")}
    >
      <p>You are signed out, and nothing of this account works from then on. Export its data first.</p>
    </FormAction>
  );
}

import { Action } from "../../parts/dialog.tsx";
import { copied, Time } from "../../parts/inline.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import { api, useMay, versioned } from "../../session/api.ts";
import type { Source } from "../sources.ts";

/** The addresses that the sender may post to, with their ends. */
export function Addresses({ source: { id, addresses = [], ingest_path, ingest_url } }: { readonly source: Source }) {
  const mayWrite = useMay("webhooks:write");
  const path = { id };
  const base = ingest_url.slice(0, -ingest_path.length);
  return (
    <Panel
      title="Addresses"
      actions={
        mayWrite && (
          <>
            <Action
              label="Give it another address"
              what="address"
              confirm="The present address is taken for one more day, so that you can change it at the sender."
              run={() =>
                versioned(
                  api.POST("/api/v1/webhooks/sources/{id}/rotate-url", {
                    params: { path },
                    body: { overlap_seconds: 86_400 },
                  }),
                )
              }
            />
            {addresses.length > 1 && (
              <Action
                label="End the previous address"
                what="address"
                kind="danger"
                confirm="A post to it is answered 404 from now on."
                run={() =>
                  versioned(api.DELETE("/api/v1/webhooks/sources/{id}/addresses/previous", { params: { path } }))
                }
              />
            )}
          </>
        )
      }
    >
      <Table
        label="Addresses"
        rows={addresses}
        keyOf={({ id }) => id}
        columns={{
          Address: ({ ingest_path }) => copied(base + ingest_path),
          Created: ({ created_at }) => <Time at={created_at} />,
          Ends: ({ ends_at }) => (ends_at ? <Time at={ends_at} /> : "in use, without an end"),
        }}
      />
    </Panel>
  );
}

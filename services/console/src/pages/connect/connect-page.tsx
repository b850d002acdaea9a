import type { WebhookPreset } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Answer } from "../../parts/answer.tsx";
import { Curl, Filters, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { GuideLink } from "../links.tsx";
import styles from "./connect.module.css";

/** Every sender that has a guide. */
const presetsQuery = {
  queryKey: ["presets"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: () => readPresets(),
};

async function readPresets() {
  const presets: WebhookPreset[] = [];
  for await (const preset of api.webhookPresets.list({ limit: 100 })) presets.push(preset);
  return presets;
}

/** The first step: which sender. */
export function ConnectPage() {
  const [{ text = "" }] = useFilters();
  const presets = useQuery(presetsQuery);
  return (
    <Page title="Connect a sender">
      <p>
        Choose a sender. The next page creates its address, shows what to enter at the sender, and waits for the first
        webhook.
      </p>
      <Filters fields={{ text: "Sender name" }} />
      <Answer query={presets} what="senders">
        {(items) => <Senders items={items.filter((preset) => fits(preset, text))} />}
      </Answer>
      <Curl path="api/v1/webhooks/presets" query={{ limit: "100" }} />
    </Page>
  );
}

const fits = ({ name, title }: WebhookPreset, text: string): boolean =>
  `${name} ${title}`.toLowerCase().includes(text.toLowerCase());

const Senders = ({ items }: { readonly items: readonly WebhookPreset[] }) => (
  <ul className={styles.senders} aria-label="Senders">
    {items.map(({ name, title, scheme }) => (
      <li key={name}>
        <GuideLink id={name}>{title}</GuideLink>
        <span className={parts.quiet}>{scheme}</span>
      </li>
    ))}
    <li>
      <GuideLink id="other">Another sender</GuideLink>
      <span className={parts.quiet}>you choose how it signs</span>
    </li>
  </ul>
);

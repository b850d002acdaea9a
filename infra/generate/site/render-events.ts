import { catalogue, eventJsonSchema, eventType } from "@signalbox/contracts";
import { escaped } from "./render-markdown.ts";

const audiences = {
  account: "Seen by the account, also by webhook.",
  operator: "Seen by operators, also by webhook.",
  internal: "Seen by services only.",
} as const;

/** Writes the page of all events, each with its example and schema. */
export function eventsMarkdown(): string {
  const firstBySchema = new Map<string, string>();
  const events = catalogue.map((event) => {
    const type = eventType(event);
    const { examples: _, $id, title, description, ...schema } = eventJsonSchema(event);
    const text = JSON.stringify(schema, null, 1);
    const first = firstBySchema.get(text);
    if (first === undefined) firstBySchema.set(text, type);
    return [
      `## ${type}`,
      `${event.description} ${audiences[event.audience]} Topic \`${event.topic}\`; key: ${event.subject}.`,
      `\`\`\`json\n${JSON.stringify(event.example, null, 2)}\n\`\`\``,
      first === undefined
        ? `<details><summary>JSON Schema of ${type}</summary><pre tabindex="0"><code>${escaped(text)}</code></pre></details>`
        : `Its schema is that of [${first}](#${first.replaceAll(".", "")}).`,
    ].join("\n\n");
  });
  return [
    "# Event catalogue",
    "Every event with an example of its data and its schema. The envelope of a webhook is in the [API reference](reference/webhooks.md), topics and rights are in [the reference of events](reference/events.md), and `/asyncapi.yaml` has them for programs.",
    ...events,
  ].join("\n\n");
}

import { dataOf } from "../../answers.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import type { Input } from "../declare.ts";
import type { Style } from "../output.ts";

const styles: Readonly<Record<string, Style>> = {
  done: "green",
  failed: "red",
  refused: "red",
  waiting: "yellow",
  hole: "dim",
};

/** Prints the chain of what happened to an id, oldest first. */
export async function run(context: Context, { args: [id = ""] }: Input<object>): Promise<void> {
  const { output } = context;
  const { client } = await connect(context);
  const chain = await dataOf(client.GET("/api/v1/why/{id}", { params: { path: { id } } }));
  const steps = chain.items;
  output.table(
    ["TIME", "VERDICT", "SERVICE", "ID", "WHAT"],
    steps.map(({ at, verdict, service, id: thing, what, reason, by }) => [
      at ?? "now",
      verdict,
      service,
      thing ?? "",
      [what, reason && `(${reason})`, by && `by ${by}`].filter(Boolean).join(" "),
    ]),
    (row, column) => (column === 1 ? (styles[steps[row]?.verdict ?? ""] ?? null) : null),
  );
  output.document(chain);
}
